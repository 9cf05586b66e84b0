const rows = [...table.tBodies[0].rows];
document.getElementById("filter").addEventListener("input", event => {
  const words = event.target.value.toLowerCase().split(/\s+/);
  for (const row of rows) row.hidden = !words.every(word => row.textContent.toLowerCase().includes(word));
  document.getElementById("count").textContent = `${rows.filter(row => !row.hidden).length} rows`;
});
