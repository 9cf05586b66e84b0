/* A prediction: a curve that is drawn, or numbers that are typed, and how sure the student is. */

import { Axes, drawn } from "./axes.js";
import { button, element } from "./elements.js";
import { COLOURS, followScheme, ink } from "./scheme.js";

const LINE = COLOURS[1];
const STEPS = 100;

/** Points on axes: click to add one, drag to move it, Delete to take it away; arrows move the one that has the focus. */
class Curve {
  constructor(about, points, changed) {
    this.points = points;
    this.changed = changed;
    this.axes = new Axes(about.x, about.y, about.title, () => this.show());
    this.svg = this.axes.svg;
    this.svg.setAttribute("role", "group");
    this.svg.addEventListener("pointerdown", (event) => this.press(event));
    this.svg.addEventListener("pointermove", (event) => {
      if (this.held !== undefined) this.move(this.held, ...this.axes.under(event));
    });
    for (const end of ["pointerup", "pointercancel"])
      this.svg.addEventListener(end, () => {
        this.held = undefined;
        this.changed(this.points);
      });
    this.element = element(
      "div",
      {},
      this.svg,
      element(
        "div",
        { className: "in-a-row" },
        button("Add a point", "Add a point at the right of the curve", () => this.add()),
        button("Begin anew", "Take all points away", () => {
          this.points = [];
          this.show();
          this.changed(this.points);
        }),
      ),
    );
  }
  rounded([x, y]) {
    const round = (value, axis) => {
      const step = (axis.high - axis.low) / (4 * STEPS);
      const digits = Math.max(0, -Math.floor(Math.log10(step)));
      return +value.toFixed(Math.min(6, digits));
    };
    return [round(x, this.axes.x), round(y, this.axes.y)];
  }
  press(event) {
    const held = event.target.dataset.point;
    this.svg.setPointerCapture(event.pointerId);
    this.held = held === undefined ? this.insert(this.axes.under(event)) : +held;
    this.svg.querySelector(`[data-point="${this.held}"]`)?.focus();
    event.preventDefault();
  }
  insert(point) {
    const [x, y] = this.rounded(point);
    const before = this.points.filter((it) => it[0] < x);
    const after = this.points.filter((it) => it[0] > x);
    this.points = [...before, [x, y], ...after];
    this.show();
    return before.length;
  }
  add() {
    const { x, y } = this.axes;
    const last = this.points.at(-1);
    const step = (x.high - x.low) / 5;
    if (last && last[0] >= x.high) return;
    const at = this.insert(last ? [Math.min(x.high, last[0] + step), last[1]] : [x.low, y.low + (y.high - y.low) / 2]);
    this.svg.querySelector(`[data-point="${at}"]`).focus();
    this.changed(this.points);
  }
  move(n, x, y) {
    const least = (this.axes.x.high - this.axes.x.low) / (2 * STEPS);
    const low = n ? this.points[n - 1][0] + least : this.axes.x.low;
    const high = n < this.points.length - 1 ? this.points[n + 1][0] - least : this.axes.x.high;
    const top = Math.min(this.axes.y.high, Math.max(this.axes.y.low, y));
    this.points[n] = this.rounded([Math.min(high, Math.max(low, x)), top]);
    this.show(n);
  }
  key(n, event) {
    const { x, y } = this.axes;
    const [right, up] = [(x.high - x.low) / STEPS, (y.high - y.low) / STEPS];
    const by = { ArrowLeft: [-right, 0], ArrowRight: [right, 0], ArrowUp: [0, up], ArrowDown: [0, -up] }[event.key];
    if (by) this.move(n, this.points[n][0] + by[0], this.points[n][1] + by[1]);
    else if (event.key === "Delete" || event.key === "Backspace") {
      this.points.splice(n, 1);
      this.show(Math.min(n, this.points.length - 1));
    } else return;
    event.preventDefault();
    event.stopPropagation();
    this.changed(this.points);
  }
  show(focused) {
    const { axes } = this;
    axes.frame();
    const dots = this.points.map(([x, y], n) => {
      const dot = drawn("circle", {
        cx: axes.left(x),
        cy: axes.top(y),
        r: 7,
        fill: ink(LINE),
        tabindex: 0,
        "data-point": n,
        role: "button",
        "aria-label": `point ${n + 1}: ${y} ${axes.y.label} at ${x} ${axes.x.label}; arrows move it, Delete takes it away`,
      });
      dot.addEventListener("keydown", (event) => this.key(n, event));
      return dot;
    });
    axes.inside.replaceChildren(...(this.points.length > 1 ? [axes.line(this.points, LINE)] : []), ...dots);
    if (focused >= 0) dots[focused]?.focus();
  }
}

/** A number with its unit; `changed` hears of each change. */
function number(one, value, changed) {
  const input = element("input", {
    type: "number",
    step: "any",
    value: value ?? "",
    oninput: () => {
      input.ariaInvalid = `${input.validity.badInput}`;
      changed(input.value === "" ? null : +input.value);
    },
  });
  return element(
    "label",
    { className: "number" },
    element("span", {}, one.label),
    input,
    element("span", {}, one.unit),
  );
}

/** Press Ctrl-Enter, or Shift-Enter, in the notebook's cell that shows the form: JupyterLab runs it. */
function runCell(el, shiftKey) {
  const cell = el.closest(".jp-Cell");
  const mac = navigator.platform.startsWith("Mac");
  cell?.focus();
  cell?.dispatchEvent(
    new KeyboardEvent("keydown", {
      key: "Enter",
      code: "Enter",
      keyCode: 13,
      bubbles: true,
      cancelable: true,
      shiftKey,
      ctrlKey: !shiftKey && !mac,
      metaKey: !shiftKey && mac,
    }),
  );
}

export function render({ model, el, signal }) {
  const about = model.get("about");
  const what = about.x ? "curve" : "numbers";
  const how = about.x
    ? "Click to add a point, drag it to move it. The keyboard does it too: Add a point, arrows, Delete."
    : "Type your numbers.";
  const said = element("p", { role: "status" });
  const tell = () => {
    const given = about.x ? model.get("points").length > 1 : model.get("numbers").every((it) => it !== null);
    const taken = given && model.get("sure") !== null && !model.get("touched");
    said.hidden = taken;
    said.textContent = taken ? "" : `${how} Then press the button, or Enter: the cell is run and keeps them.`;
  };
  const say = (name, value) => {
    model.set(name, value);
    model.set("touched", true);
    model.save_changes();
    tell();
  };
  const curve = about.x
    ? new Curve(
        about,
        model.get("points").map((it) => [...it]),
        (points) =>
          say(
            "points",
            points.map((it) => [...it]),
          ),
      )
    : undefined;
  const fields = (about.fields ?? []).map((one, n) =>
    number(one, model.get("numbers")[n], (value) =>
      say(
        "numbers",
        model.get("numbers").map((it, at) => (at === n ? value : it)),
      ),
    ),
  );
  const sure = number(
    { label: "How sure are you?", unit: "% (0: a guess, 100: certain)" },
    model.get("sure"),
    (value) => say("sure", value),
  );
  let withShift = false;
  // The kernel hears of a number at its own pace: the cell is run once it has heard of all.
  const take = (shift) => {
    withShift = shift;
    model.set("asked", model.get("asked") + 1);
    model.save_changes();
  };
  const heard = () => {
    if (model.get("heard") === model.get("asked")) runCell(el, withShift);
  };
  model.on("change:heard", heard);
  signal.addEventListener("abort", () => model.off("change:heard", heard));
  const form = element(
    "form",
    {
      noValidate: true,
      onsubmit: (event) => {
        event.preventDefault();
        take(false);
      },
      onkeydown: (event) => {
        if (event.key === "Enter" && event.shiftKey) {
          event.preventDefault();
          take(true);
        }
      },
    },
    ...fields,
    sure,
    element("button", { title: "Run the cell, which keeps what stands here" }, `Take the ${what}`),
  );
  el.append(element("h2", {}, about.title), said, ...(curve ? [curve.element] : []), form);
  tell();
  followScheme(el, () => curve?.show(), signal);
}
