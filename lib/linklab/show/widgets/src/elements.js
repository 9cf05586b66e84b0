/* Elements of a page, and numbers as text. */

/** Return an element with these attributes; one whose name begins with "on" is a listener. */
export function element(name, attributes = {}, ...inside) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key in made && key !== "list") made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...inside);
  return made;
}

/** Return a button; the label says what it does, and so does its tooltip. A screen reader says it in place of a sign, or of
    a text that it contains. */
export function button(text, label, onclick, title = label) {
  const named = !/[a-z]/i.test(text) || label.toLowerCase().includes(text.toLowerCase()) ? { ariaLabel: label } : {};
  return element("button", { type: "button", title, ...named, onclick }, text);
}

/** Return a table of texts or elements; `head` names the columns. */
export function table(head, rows) {
  return element(
    "table",
    {},
    element(
      "thead",
      {},
      element("tr", {}, ...head.map((it) => (it ? element("th", { scope: "col" }, it) : element("td")))),
    ),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((it) => element("td", {}, it))))),
  );
}

/** A curve's own stroke as a sign of a legend, in SVG. */
export const lineSign = ({ stroke, width, dash }) =>
  `<svg width="30" height="6" aria-hidden="true"><line x2="30" y1="3" y2="3" stroke="${stroke}" stroke-width="${width}" stroke-dasharray="${dash.join(" ")}"/></svg>`;

export const seconds = (ns, digits = 6) => `${(ns / 1e9).toFixed(digits)} s`;
export const milliseconds = (ns) => `${(ns / 1e6).toFixed(3)} ms`;
