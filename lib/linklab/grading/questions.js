const body = document.querySelector("tbody"), rows = [...body.rows], heads = [...document.querySelectorAll("thead th")];
heads.forEach((head, column) => head.firstChild.addEventListener("click", () => {
  const down = head.ariaSort === "ascending";
  heads.forEach(other => { other.ariaSort = "none"; });
  head.ariaSort = down ? "descending" : "ascending";
  const key = row => row.cells[column].textContent;
  rows.sort((one, other) => {
    const [a, b] = [key(one), key(other)];
    if (!a || !b) return !a - !b;
    const order = isNaN(a) || isNaN(b) ? a.localeCompare(b) : a - b;
    return down ? -order : order;
  });
  body.append(...rows);
}));
document.getElementById("filter").addEventListener("input", event => {
  const words = event.target.value.toLowerCase().split(/\s+/);
  for (const row of rows) row.hidden = !words.every(word => row.textContent.toLowerCase().includes(word));
  document.getElementById("count").textContent = `${rows.filter(row => !row.hidden).length} rows`;
});
