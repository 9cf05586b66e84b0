const table = document.querySelector("table"), heads = [...table.tHead.rows[0].cells];
function sortRows() {
  const column = heads.findIndex(head => head.ariaSort !== "none"), body = table.tBodies[0];
  if (column < 0) return;
  const down = heads[column].ariaSort === "descending";
  const key = row => row.cells[column].dataset.key ?? row.cells[column].textContent.trim();
  body.append(...[...body.rows].sort((one, other) => {
    const [a, b] = [key(one), key(other)];
    if (!a || !b) return !a - !b;
    const order = isNaN(a) || isNaN(b) ? a.localeCompare(b) : a - b;
    return down ? -order : order;
  }));
}
for (const head of heads) {
  head.firstElementChild.addEventListener("click", () => {
    const order = head.ariaSort === "ascending" ? "descending" : "ascending";
    for (const other of heads) other.ariaSort = "none";
    head.ariaSort = order;
    sortRows();
  });
}
