/* Colours. They are chosen for a light page; a dark one turns light into dark and keeps the hue. */

// Okabe and Ito's palette ("Color Universal Design", 2008), as in Linklab's other figures, dark enough for lines.
export const COLOURS = ["#0067ad", "#d55e00", "#007a59", "#a8477f", "#7a4b00", "#3b1152", "#4d4d4d"];
export const DASHES = [[], [8, 3], [3, 2], [8, 3, 2, 3], [2, 2], [12, 4], []];
export const LOSS = "#c00000", CHOSEN = "#a66c00";
export const GROUND = "#ffffff", INK = "#1a1a1a", GRID = "#dddddd", EDGE = "#595959", UNDER_WAY = "#cccccc";

const preferred = matchMedia("(prefers-color-scheme: dark)");

/** Return whether the page is dark: JupyterLab and VS Code say so on their body; other pages do as the system does. */
export function isDark() {
  const { jpThemeLight, vscodeThemeKind } = document.body.dataset;
  if (jpThemeLight) return jpThemeLight === "false";
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
  observer.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-vscode-theme-kind"] });
  signal?.addEventListener("abort", () => observer.disconnect());
  preferred.addEventListener("change", look, { signal });
  look();
}

/** What CSS calls invert(1) hue-rotate(180deg), of the three bytes at a place (Filter Effects, section 9.6). */
function turn(bytes, at) {
  const [red, green, blue] = [0, 1, 2].map((part) => 255 - bytes[at + part]), both = 0.426 * red + 1.43 * green + 0.144 * blue;
  bytes[at] = both - red; bytes[at + 1] = both - green; bytes[at + 2] = both - blue;
}

const turnedInks = new Map([[LOSS, "#ff6666"]]);  // a red that is as light would be pink

/** Return a colour of the light page as the page has it now. */
export function ink(colour) {
  if (!isDark()) return colour;
  if (!turnedInks.has(colour)) {
    const bytes = Uint8ClampedArray.from([1, 3, 5], (at) => parseInt(colour.slice(at, at + 2), 16));
    turn(bytes, 0);
    turnedInks.set(colour, `#${[...bytes].map((it) => it.toString(16).padStart(2, "0")).join("")}`);
  }
  return turnedInks.get(colour);
}

/** Return the address of a picture on white (PNG in base64) as the page has it now: turned where the page is dark. */
export async function pictureOf(base64) {
  const source = `data:image/png;base64,${base64}`;
  if (!isDark()) return source;
  const image = Object.assign(new Image(), { src: source });
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: image.naturalWidth, height: image.naturalHeight }), pen = canvas.getContext("2d");
  pen.drawImage(image, 0, 0);
  const pixels = pen.getImageData(0, 0, canvas.width, canvas.height);
  for (let at = 0; at < pixels.data.length; at += 4) turn(pixels.data, at);
  pen.putImageData(pixels, 0, 0);
  return canvas.toDataURL();
}
