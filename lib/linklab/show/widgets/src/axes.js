/* A pair of axes in SVG: numbers to places and back, ticks, lines and texts. */

import { element } from "./elements.js";
import { INK, EDGE, GRID, ink } from "./scheme.js";

const NAMESPACE = element("div", { innerHTML: "<svg></svg>" }).firstChild.namespaceURI;
export const LINE = 2.2; // a curve's width
const WIDTH = 640;
const HEIGHT = 300;
const LEFT = 56;
const RIGHT = 24;
const TOP = 12;
const BOTTOM = 44;

/** Return an element of SVG with these attributes. */
export function drawn(name, attributes = {}, ...inside) {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
}

/** Return round numbers between two: about `count` of them. */
export function ticks(low, high, count) {
  const rough = (high - low) / count;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((it) => it * size).find((it) => it >= rough);
  const found = [];
  for (let at = Math.ceil(low / step); at * step <= high * (1 + 1e-9); at++) found.push(+(at * step).toPrecision(12));
  return found;
}

/** How far along an axis a number lies, from 0 to 1. */
function share(axis, value) {
  if (!axis.log) return (value - axis.low) / (axis.high - axis.low);
  return Math.log(Math.max(value, axis.low) / axis.low) / Math.log(axis.high / axis.low);
}

/** The numbers that stand at an axis: of a logarithmic one the powers of ten. */
function marks(axis, count) {
  if (!axis.log) return ticks(axis.low, axis.high, count);
  const powers = [];
  for (let power = Math.ceil(Math.log10(axis.low)); 10 ** power <= axis.high; power++) powers.push(+`1e${power}`);
  return powers;
}

/** Axes with labels `x` and `y` from `low` to `high` each; what is drawn on them goes into `inside`. In a page that is
    narrower they are narrower, with texts of the same size: `resized` draws all anew. */
export class Axes {
  constructor(x, y, label, resized) {
    this.x = x;
    this.y = y;
    this.width = WIDTH;
    this.behind = drawn("g");
    this.inside = drawn("g");
    this.svg = drawn(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "axes", role: "img", "aria-label": label },
      this.behind,
      this.inside,
    );
    new ResizeObserver(() => {
      const width = Math.min(WIDTH, this.svg.clientWidth);
      if (!width || width === this.width) return;
      this.width = width;
      this.svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
      resized();
    }).observe(this.svg);
  }
  /** The place of a number on an axis, in the drawing's units. */
  left(value) {
    return LEFT + share(this.x, value) * (this.width - LEFT - RIGHT);
  }
  top(value) {
    return HEIGHT - BOTTOM - share(this.y, value) * (HEIGHT - TOP - BOTTOM);
  }
  /** The numbers under the pointer, within the axes. */
  under(event) {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    const within = (axis, share) => axis.low + Math.min(1, Math.max(0, share)) * (axis.high - axis.low);
    return [
      within(this.x, (at.x - LEFT) / (this.width - LEFT - RIGHT)),
      within(this.y, (HEIGHT - BOTTOM - at.y) / (HEIGHT - TOP - BOTTOM)),
    ];
  }
  /** Draw the axes in the page's colours. */
  frame() {
    const text = (value, attributes) => drawn("text", { fill: ink(INK), "font-size": 12, ...attributes }, value);
    const bottom = HEIGHT - BOTTOM;
    const parts = [];
    for (const value of marks(this.x, Math.ceil(this.width / 80))) {
      const at = this.left(value);
      parts.push(
        drawn("line", { x1: at, x2: at, y1: TOP, y2: bottom, stroke: ink(GRID) }),
        text(`${value}`, { x: at, y: bottom + 16, "text-anchor": "middle" }),
      );
    }
    for (const value of marks(this.y, 5)) {
      const at = this.top(value);
      parts.push(
        drawn("line", { x1: LEFT, x2: this.width - RIGHT, y1: at, y2: at, stroke: ink(GRID) }),
        text(`${value}`, { x: LEFT - 6, y: at + 4, "text-anchor": "end" }),
      );
    }
    parts.push(
      drawn("path", { d: `M${LEFT} ${TOP}V${bottom}H${this.width - RIGHT}`, fill: "none", stroke: ink(EDGE) }),
      text(this.x.label, { x: (LEFT + this.width - RIGHT) / 2, y: HEIGHT - 8, "text-anchor": "middle" }),
      text(this.y.label, {
        x: 14,
        y: (TOP + bottom) / 2,
        "text-anchor": "middle",
        transform: `rotate(-90 14 ${(TOP + bottom) / 2})`,
      }),
    );
    this.behind.replaceChildren(...parts);
  }
  /** Return a line through points, for `inside`. */
  line(points, colour, dashes = []) {
    const d = points
      .map(([x, y], n) => `${n ? "L" : "M"}${this.left(x).toFixed(1)} ${this.top(y).toFixed(1)}`)
      .join("");
    return drawn("path", {
      d,
      fill: "none",
      stroke: ink(colour),
      "stroke-width": LINE,
      "stroke-dasharray": dashes.join(" "),
    });
  }
  /** Return dots at points, for `inside`. */
  dots(points) {
    return points.map(([x, y]) =>
      drawn("circle", { cx: this.left(x), cy: this.top(y), r: 3, fill: ink(INK), "pointer-events": "none" }),
    );
  }
}
