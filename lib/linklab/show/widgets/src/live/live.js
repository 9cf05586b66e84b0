/* The network that runs: its drawing, with what links carry and what waits in queues, and tables of what is chosen. */

import { drawn as svg } from "../axes.js";
import { button, element, table } from "../elements.js";
import { COLOURS, INK, followScheme, ink, pictureOf } from "../scheme.js";

const QUIET = "#bbbbbb", HALF = COLOURS[0], MOST = "#a66c00", FULL = COLOURS[1];  // by load: none, little, much, all
const STEP_MS = 150, SHOWN_MS = 3000, LANE = 5, THICK = 8, QUEUE_SHARE = 0.35;  // pixels beside the cable, share of it
const COUNTED = ["load", "packets sent", "queued", "lost"];

/** What anywidget calls for each view. */
export function render({ model, el, signal }) {
  const view = new Live(model, el, signal);
  return view.begin();
}

class Live {
  constructor(model, root, signal) {
    this.model = model; this.root = root; this.signal = signal;
    this.frames = model.get("frames"); this.at = this.frames.length - 1;
    this.chosen = "";
    this.picture = element("img", {});
    this.drawing = svg("svg", { "aria-hidden": "true" });
    this.marks = element("div", { className: "marks" });
    this.stage = element("div", { className: "stage" }, this.picture, this.drawing, this.marks);
    this.play = button("Play", "Play this cell's traffic again", () => this.replay());
    this.slider = element("input", { type: "range", min: 0, step: 1, ariaLabel: "Moment", oninput: () => this.go(Number(this.slider.value)) });
    this.moment = element("output", {});
    this.time = element("div", { className: "row time" }, this.play, this.slider, this.moment);
    this.numbers = element("div", { className: "scrolls", tabIndex: 0, role: "region", ariaLabel: "Links in numbers" });
    this.panel = element("section", { className: "panel", tabIndex: 0, ariaLabel: "What is chosen" });
    this.packets = element("section", { className: "packets", ariaLabel: "Recorded packets" });
    this.words = element("details", { ontoggle: () => this.showNumbers() }, element("summary", {}, "Links in numbers"), this.numbers);
    const scrolls = element("div", { className: "scrolls", tabIndex: 0, role: "region", ariaLabel: "The network" }, this.stage);
    root.append(element("div", { className: "sides" }, element("div", { className: "left" }, scrolls, this.time, this.words), this.panel), this.packets);
  }
  async begin() {
    const on = (name, what) => {
      this.model.on(`change:${name}`, what);
      this.signal.addEventListener("abort", () => this.model.off(`change:${name}`, what));
    };
    on("scene", () => this.rebuild());
    on("tables", () => this.showChosen());
    on("sockets", () => this.showChosen());
    on("record", () => this.showChosen());
    on("recorded", () => this.showPackets());
    on("frame", () => this.add(this.model.get("frame")));
    on("frames", () => this.take(this.model.get("frames")));
    new ResizeObserver(() => this.draw()).observe(this.stage);
    followScheme(this.root, () => this.rebuild(), this.signal);
    this.showPackets();
  }
  get scene() { return this.model.get("scene"); }
  get frame() { return this.frames[Math.min(this.at, this.frames.length - 1)]; }
  get isNow() { return this.at >= this.frames.length - 1; }

  // Moments

  /** Add the newest moment of a measurement that runs. */
  add(frame) {
    if (frame.cell !== this.frames.at(-1).cell || this.frames.length === 1) {
      this.frames = [{ ...frame, at_s: 0, loads: {}, sockets: {} }];
      this.at = 0;
    }
    this.frames = [...this.frames, frame];
    this.follow();
  }
  /** Take all moments of a cell that has ended. */
  take(frames) {
    if (frames.at(-1).cell !== this.frames.at(-1).cell) this.at = 0;
    this.at = Math.min(this.at, frames.length - 1);
    this.frames = frames;
    this.follow();
  }
  replay() {
    this.at = 0;
    this.follow();
  }
  /** Go on to the newest moment, slowly enough to be seen: a second of the lab's time may be over in a moment. */
  follow() {
    clearTimeout(this.timer);
    const left = this.frames.length - 1 - this.at;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) this.at += left;
    this.draw();
    if (!this.isNow) this.timer = setTimeout(() => { this.at += Math.max(1, Math.ceil(left * STEP_MS / SHOWN_MS)); this.follow(); }, STEP_MS);
  }
  go(at) {
    clearTimeout(this.timer);
    this.at = at;
    this.draw();
  }

  // The drawing

  async rebuild() {
    const { picture, size, words, nodes, links } = this.scene;
    this.picture.alt = words;
    this.picture.src = await pictureOf(picture);
    this.stage.style.maxWidth = `${size[0] * 96}px`;
    this.stage.style.aspectRatio = `${size[0]} / ${size[1]}`;
    const place = (kind, name, label, style) => {
      const mark = element("button", { type: "button", className: `mark ${kind}`, ariaLabel: label, title: label, onclick: () => this.choose(name) });
      mark.dataset.name = name;
      Object.assign(mark.style, style);
      return mark;
    };
    const percent = (share) => `${100 * share}%`;
    this.marks.replaceChildren(
      ...nodes.map(({ name, title, box: [left, top, right, bottom] }) => place("node", name, title,
        { left: percent(left), top: percent(top), width: percent(right - left), height: percent(bottom - top) })),
      ...links.map(({ name, ends }) => {
        const [x0, y0, x1, y1] = ends[0].line, [wide, high] = [(x1 - x0) * size[0], (y1 - y0) * size[1]];
        const length = 0.5 * Math.hypot(wide, high) / size[0];
        return place("link", name, `Link ${name}`, { left: percent((x0 + x1) / 2 - length / 2), top: percent((y0 + y1) / 2), width: percent(length),
          height: "26px", marginTop: "-13px", transform: `rotate(${Math.atan2(high, wide)}rad)` });
      }));
    if (!this.chosen || !this.model.get("tables")[this.chosen]) this.chosen = nodes[0].name;
    this.choose(this.chosen);
    this.draw();
  }
  draw() {
    const { clientWidth: width, clientHeight: height } = this.stage;
    if (!width) return;
    this.drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const parts = [];
    for (const end of this.scene.links.flatMap((it) => it.ends)) {
      const load = this.frame.loads[end.interface];
      if (load) parts.push(...this.direction(end, load, width, height));
    }
    this.drawing.replaceChildren(...parts);
    this.slider.max = this.frames.length - 1; this.slider.value = this.at;
    this.time.classList.toggle("empty", this.frames.length < 2);
    this.play.disabled = this.slider.disabled = this.frames.length < 2;
    const said = this.frames.length < 2 ? "No traffic yet: run a cell that sends packets." : `${this.frame.at_s.toFixed(1)} s of ${this.frames.at(-1).at_s.toFixed(1)} s: ${this.frame.title || this.frames.at(-1).title}`;
    this.moment.textContent = said;
    this.slider.setAttribute("aria-valuetext", said);
    this.showNumbers();
    if (this.socketRows) this.showSockets();
  }
  /** Return what one direction of a link carried, and what waits in its queue. */
  direction(end, [rate_mbps, waiting, dropped, packets], width, height) {
    const [x0, y0, x1, y1] = end.line.map((share, at) => share * (at % 2 ? height : width));
    const length = Math.hypot(x1 - x0, y1 - y0), along = [(x1 - x0) / length, (y1 - y0) / length], beside = [-along[1], along[0]];
    const at = (far, off) => [x0 + along[0] * far + beside[0] * off, y0 + along[1] * far + beside[1] * off];
    const room = QUEUE_SHARE * length, [from, to] = [at(waiting ? room : 0, LANE), at(length, LANE)], share = end.rate_mbps ? rate_mbps / end.rate_mbps : 0;
    const parts = [];
    if (packets) {
      const colour = share > 0.9 ? FULL : share > 0.5 ? MOST : HALF;
      parts.push(svg("line", { x1: from[0], y1: from[1], x2: to[0], y2: to[1], stroke: ink(colour), "stroke-width": 2 + 4 * Math.min(1, share), class: "load" }));
      const speed = Math.max(0.4, 2.5 - 2 * share);
      parts.at(-1).style.animationDuration = `${speed}s`;
    }
    if (waiting) {
      // the packet that leaves next is at the cable's end of the bar
      const full = Math.min(1, waiting / (end.limit || Math.max(waiting, 50))), [inner, outer] = [LANE - THICK / 2, LANE + THICK / 2];
      const box = (begin) => [at(begin, inner), at(room, inner), at(room, outer), at(begin, outer)].map((it) => it.join(",")).join(" ");
      parts.push(svg("polygon", { points: box(0), fill: ink("#ffffff"), stroke: ink("#595959") }), svg("polygon", { points: box(room * (1 - full)), fill: ink(full > 0.9 ? FULL : HALF) }));
    }
    const sent = share > 0.005 ? `${round(rate_mbps)} Mbit/s` : packets ? `${packets} packet${packets === 1 ? "" : "s"}` : "";
    const queue = [waiting ? `${waiting} queued` : "", dropped ? `${dropped} lost` : ""].filter(Boolean).join(", ");
    const [x, y] = [end.spot[0] * width, end.spot[1] * height];
    const arrow = Math.abs(along[0]) > Math.abs(along[1]) ? (along[0] > 0 ? "\u2192" : "\u2190") : along[1] > 0 ? "\u2193" : "\u2191";
    const lines = [sent && `${arrow} ${sent}`, queue].filter(Boolean), wide = 6.2 * Math.max(...lines.map((it) => it.length)) + 6;
    if (lines.length) parts.push(svg("rect", { x: x - wide / 2, y: y - 6.5 * lines.length, width: wide, height: 13 * lines.length, rx: 3, fill: ink("#ffffff"), "fill-opacity": 0.85 }));
    lines.forEach((words, line) => {
      parts.push(svg("text", { x, y: y + 4 + 13 * (line - (lines.length - 1) / 2), "text-anchor": "middle", fill: ink(INK) }));
      parts.at(-1).textContent = words;
    });
    return parts;
  }
  showNumbers() {
    this.showMoment();
    if (!this.words.open) return;
    const counted = this.scene.links.flatMap((it) => it.ends).filter((end) => end.rate_mbps || end.limit);
    this.numbers.replaceChildren(table(["direction", ...COUNTED], counted.map((end) => [end.title, ...this.loadOf(end)])),
      element("p", {}, "Links with a rate, a delay or a queue are counted. Packets that travel along a link with a delay count as queued."));
  }
  showMoment() {
    const link = this.scene.links.find((it) => it.name === this.chosen);
    if (!link || !this.moments) return;
    const loads = link.ends.map((end) => this.loadOf(end)), at = this.frames.length > 1 ? `At ${this.frame.at_s.toFixed(1)} s` : "No traffic yet";
    this.moments.replaceChildren(table([at, ...link.ends.map((end) => end.title)], COUNTED.map((name, row) => [name, ...loads.map((it) => it[row])])));
  }
  loadOf(end) {
    const [rate_mbps, waiting, dropped, packets] = this.frame.loads[end.interface] || [0, 0, 0, 0];
    return [`${round(rate_mbps)}${end.rate_mbps ? ` of ${end.rate_mbps}` : ""} Mbit/s`, `${packets}`, `${waiting}${end.limit ? ` of ${end.limit}` : ""}`, `${dropped}`];
  }

  // What is chosen

  choose(name) {
    this.chosen = name;
    for (const mark of this.marks.children) mark.setAttribute("aria-pressed", `${mark.dataset.name === name}`);
    this.showChosen();
  }
  showChosen() {
    const { nodes, sockets } = this.scene, name = this.chosen, tables = this.model.get("tables")[name];
    if (!tables) return;
    const node = nodes.find((it) => it.name === name);
    const title = element("h2", { ariaLive: "polite" }, node ? node.title : `Link ${name}`);
    const shown = tables.map((it) => section(it.title, it.command, table(it.head, it.rows), it.rows.length));
    this.socketRows = null;
    if (node && tables.length > 1) {
      this.socketRows = element("div");
      shown.push(section(sockets.title, sockets.command, this.socketRows, 1));
      this.showSockets();
    }
    this.moments = node ? null : element("div");
    this.panel.replaceChildren(title, ...(node ? [] : [this.recordButton(name), this.moments]), ...shown);
    this.showNumbers();
  }
  showSockets() {
    const rows = (this.isNow ? this.model.get("sockets") : this.frame.sockets)[this.chosen] || [];
    const last = this.frames.length > 1 && this.isNow ? this.frame.sockets[this.chosen] || [] : rows;
    const shown = rows.length ? rows : last;
    this.socketRows.replaceChildren(shown.length ? table(this.scene.sockets.head, shown) : element("p", {}, "none"));
  }
  recordButton(name) {
    const isOn = this.model.get("record") === name;
    const toggle = button(isOn ? "The next measurement records this link" : "Record this link", "Record this link's packets during the next measurement (measure.run)", () => {
      this.model.set("record", isOn ? "" : name);
      this.model.save_changes();
      this.showChosen();
      this.panel.querySelector("button").focus();
    });
    toggle.setAttribute("aria-pressed", `${isOn}`);
    return toggle;
  }
  showPackets() {
    const { link, words, head, rows } = this.model.get("recorded");
    if (!link) return;
    const list = element("div", { className: "list", tabIndex: 0, role: "region", ariaLabel: "List of packets" }, table(head, rows));
    this.packets.replaceChildren(element("h2", {}, "Recorded packets"), element("p", {}, words), list);
  }
}

const round = (rate) => (rate >= 10 ? rate.toFixed(1) : rate.toFixed(2));

function section(title, command, inside, rows) {
  return element("div", {}, element("h3", {}, `${title} `, command ? element("code", {}, command) : ""), rows ? inside : element("p", {}, "none"));
}
