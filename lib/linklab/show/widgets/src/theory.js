/* Theory to play with: sliders, and the lines that the kernel computes from them. */

import { Axes } from "./axes.js";
import { element } from "./elements.js";
import { COLOURS, DASHES, INK, followScheme, ink } from "./scheme.js";

export function render({ model, el, signal }) {
  const { title, x, y, sliders, measured } = model.get("about");
  const axes = new Axes(x, y, title, () => show()), legend = element("div", { className: "in-a-row" }), said = element("p", { role: "status" });
  const rows = sliders.map((one) => {
    const now = element("output", {});
    const slider = element("input", { type: "range", min: one.low, max: one.high, step: one.step, value: model.get("values")[one.name], oninput: () => {
      model.set("values", { ...model.get("values"), [one.name]: +slider.value });
      model.save_changes();
      name();
    } });
    const name = () => { now.textContent = slider.ariaValueText = `${+slider.value} ${one.unit}`; };
    name();
    return element("label", { className: "slider" }, element("span", {}, one.label), slider, now);
  });
  const show = () => {
    const { lines, words } = model.get("picture");
    axes.frame();
    axes.svg.setAttribute("aria-label", `${title}. ${words}`);
    const drawnLines = lines.map(([, points], n) => axes.line(points, COLOURS[n], DASHES[n]));
    axes.inside.replaceChildren(...drawnLines, ...measured.flatMap((points) => axes.dots(points)));
    const named = (name, colour, kind) => {
      const swatch = element("span", { className: kind });
      swatch.style.background = ink(colour);
      return element("span", { className: "in-a-row" }, swatch, name);
    };
    legend.replaceChildren(...lines.map(([name], n) => named(name, COLOURS[n], "key")), ...measured.map(() => named("your measurements", INK, "key dot")));
    said.textContent = words;
  };
  el.append(element("h2", {}, title), ...rows, legend, axes.svg, said);
  model.on("change:picture", show);
  signal.addEventListener("abort", () => model.off("change:picture", show));
  followScheme(el, show, signal);
}
