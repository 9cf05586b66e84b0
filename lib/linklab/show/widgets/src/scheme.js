/* Colours: those of ../../tokens.css, by their names there, and those of flows, which are chosen for a light page: a dark
   one turns light into dark and keeps the hue. */

// The first six are those of Linklab's other figures (LINES of show/chart.py), where a flow has the same one.
export const COLOURS = [
  "#0067ad",
  "#d55e00",
  "#004d3b",
  "#cc79a7",
  "#7a4b00",
  "#3b1152",
  "#5c6b00",
  "#6a51c7",
  "#a34a3a",
  "#00727a",
  "#4d4d4d",
];
export const DASHES = [[], [8, 3], [3, 2], [8, 3, 2, 3], [2, 2], [12, 4], [6, 2], [4, 4], [10, 2, 2, 2], [1, 3], []];
export const LOSS = "--linklab-loss";
export const CHOSEN = "--linklab-chosen";
export const GROUND = "--linklab-ground";
export const INK = "--linklab-ink";
export const GRID = "--linklab-line";
export const EDGE = "--linklab-quiet";
export const FAINT = "--linklab-edge";
export const UNDER_WAY = "#cccccc";

const preferred = matchMedia("(prefers-color-scheme: dark)");

/** Return whether the page is dark: JupyterLab and VS Code say so on their body, our site on its root; other pages do as
    the system does. */
export function isDark() {
  const { jpThemeLight, vscodeThemeKind } = document.body.dataset;
  if (jpThemeLight) return jpThemeLight === "false";
  const { theme } = document.documentElement.dataset;
  if (theme === "dark" || theme === "light") return theme === "dark";
  if (vscodeThemeKind) return vscodeThemeKind.endsWith("dark") || vscodeThemeKind === "vscode-high-contrast";
  return preferred.matches;
}

/** Mark an element as dark or light now and whenever the page changes, and call back after each change. */
export function followScheme(element, changed, signal) {
  let last;
  const look = () => {
    if (last === isDark()) return;
    last = isDark();
    element.dataset.scheme = last ? "dark" : "light";
    changed();
  };
  const observer = new MutationObserver(look);
  observer.observe(document.body, {
    attributes: true,
    attributeFilter: ["data-jp-theme-light", "data-vscode-theme-kind"],
  });
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  signal?.addEventListener("abort", () => observer.disconnect());
  preferred.addEventListener("change", look, { signal });
  look();
}

/** What CSS makes of a colour by invert(1) hue-rotate(180deg) (Filter Effects, section 9.6). */
function turned(colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => 255 - parseInt(colour.slice(at, at + 2), 16));
  const both = 0.426 * red + 1.43 * green + 0.144 * blue;
  return `#${[...Uint8ClampedArray.of(both - red, both - green, both - blue)].map((it) => it.toString(16).padStart(2, "0")).join("")}`;
}

const inks = new Map(); // on a light page and on a dark one

/** Return a colour as the page has it now. */
export function ink(colour) {
  if (!inks.has(colour))
    inks.set(
      colour,
      colour[0] === "#"
        ? [colour, turned(colour)]
        : getComputedStyle(document.documentElement).getPropertyValue(colour).match(/#\w+/g),
    );
  return inks.get(colour)[+isDark()];
}
