const said = document.getElementById("said");
let answered = new Date();
setInterval(async () => {
  try {
    const answer = await fetch(location.href, { headers: { "X-XSRFToken": document.body.dataset.xsrf } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!page.getElementById("rows")) throw new Error(answer.status);
    if (page.title !== document.title) return location.reload();
    for (const id of ["rows", "counts", "facts"]) document.getElementById(id).replaceWith(page.getElementById(id));
    sortRows();
    answered = new Date();
    said.textContent = "";
  } catch {
    said.textContent = `The hub has not answered since ${answered.toLocaleTimeString()}. Load this page anew.`;
  }
}, 2000);
