/* Theory to play with: sliders, and the lines that the kernel computes from them. */

import { Axes, LINE } from "./axes.js";
import { element, lineSign } from "./elements.js";
import { COLOURS, DASHES, INK, followScheme, ink } from "./scheme.js";

export function render({ model, el, signal }) {
  const { title, x, y, sliders, measured } = model.get("about");
  const axes = new Axes(x, y, title, () => show());
  const legend = element("div", { className: "in-a-row" });
  const said = element("p", { role: "status" });
  const rows = sliders.map((one) => {
    const now = element("output", {});
    const slider = element("input", {
      type: "range",
      min: one.low,
      max: one.high,
      step: one.step,
      value: model.get("values")[one.name],
      oninput: () => {
        model.set("values", { ...model.get("values"), [one.name]: +slider.value });
        model.save_changes();
        name();
      },
    });
    const name = () => {
      now.textContent = slider.ariaValueText = `${+slider.value} ${one.unit}`;
    };
    name();
    return element("label", { className: "slider" }, element("span", {}, one.label), slider, now);
  });
  const show = () => {
    const { lines, words } = model.get("picture");
    axes.frame();
    axes.svg.setAttribute("aria-label", `${title}. ${words}`);
    const drawnLines = lines.map(([, points], n) => axes.line(points, COLOURS[n], DASHES[n]));
    axes.inside.replaceChildren(...drawnLines, ...measured.flatMap((points) => axes.dots(points)));
    const named = (name, innerHTML) => element("span", { className: "in-a-row", innerHTML }, name);
    const dot = `<svg width="8" height="8" aria-hidden="true"><circle cx="4" cy="4" r="3" fill="${ink(INK)}"/></svg>`;
    legend.replaceChildren(
      ...lines.map(([name], n) => named(name, lineSign({ stroke: ink(COLOURS[n]), width: LINE, dash: DASHES[n] }))),
      ...measured.map(() => named("your measurements", dot)),
    );
    said.textContent = words;
  };
  el.append(element("h2", {}, title), ...rows, legend, axes.svg, said);
  model.on("change:picture", show);
  signal.addEventListener("abort", () => model.off("change:picture", show));
  followScheme(el, show, signal);
}
