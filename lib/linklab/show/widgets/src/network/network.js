/* The player of a recorded measurement: time, the run's parts, and the keys. */

import { button, element, milliseconds, seconds, table } from "../elements.js";
import { COLOURS, followScheme, ink } from "../scheme.js";
import { Curves } from "./curves.js";
import { headers } from "./headers.js";
import { Stage } from "./stage.js";

const UNCHOSEN = "Click a packet, or step to one, to see its headers and what became of it.";
const GROUP_NS = 5e7;  // losses that are nearer together are one group: those of one overflow
const SPEEDS = [[1, "as it was"], [0.1, "10 times slower"], [0.01, "100 times slower"], [0.001, "1000 times slower"]];
const WHOLE_S = 60;  // the first speed is the slowest that plays the whole run within this

export class Player {
  constructor(root, runs, keys, signal) {
    this.root = root; this.runs = runs;
    this.time = 0; this.playing = false;
    this.length = Math.max(...runs.map((run) => run.length_ns));
    this.speed = SPEEDS.findLast(([speed]) => this.length / 1e9 / speed <= WHOLE_S)?.[0] ?? 1;
    this.view = [0, this.length];
    this.chosen = new Map();
    this.lossTimes = new Map(runs.map((run) => [run, Float64Array.from(run.losses, (loss) => loss.time)]));
    this.flowNames = [...new Set(runs.flatMap((run) => run.kinds))];
    this.hidden = new Set();
    this.colours = new Map(this.flowNames.map((name) => [name, COLOURS[this.colourOf(name)]]));
    this.tops = new Map();
    this.build(keys, signal);
    this.go(0);
  }
  /** The buttons that go to moments. */
  steps(isLossless) {
    const steps = [
      button("|\u25c0 Start", "Back to the beginning, and to the first packet (Home)", () => this.begin()),
      button("\u25c0 Event", "Back to the event before (,)", () => this.event(-1)),
      button("Event \u25b6", "On to the next event (.)", () => this.event(1)),
      button("\u25c0 Loss", "Back to the loss before (p)", () => this.loss(-1)),
      button("Loss \u25b6", "On to the next loss (n)", () => this.loss(1)),
      button("\u25c0 Group", "Back to the group of losses before (P)", () => this.group(-1)),
      button("Group \u25b6", "On to the next group of losses (N)", () => this.group(1)),
    ];
    steps.slice(3).forEach((it) => { it.disabled = isLossless; });
    return steps;
  }
  /** What to try first. */
  guide(isLossless) { return ["Press Play (or Space): packets move, and the queue beside the cable fills.", ...(isLossless ? [] : ["Press Loss \u25b6 (or n): time stops where a queue drops a packet, and the panel says why."]), "Click a packet: its headers, and how long it waited at each interface."]; }
  /** The place of a flow's colour. */
  colourOf(name) { return Math.min(this.flowNames.indexOf(name), COLOURS.length - 1); }
  colour(run, packet) { return ink(this.colours.get(run.kind(packet))); }
  shows(run, packet) { return !this.hidden.size || !this.hidden.has(run.kind(packet)); }
  /** The highest value of a kind of curve in any run: both have one scale. */
  top(title, most) {
    const highest = Math.max(most || 0, this.tops.get(title) || 0);
    this.tops.set(title, highest);
    return highest;
  }

  build(keys, signal) {
    const { root } = this;
    root.replaceChildren();
    this.slider = element("input", { type: "range", min: 0, max: this.length, step: Math.max(1, Math.round(this.length / 1e6)), value: 0, ariaLabel: "Time",
      oninput: () => { this.pause(); this.go(+this.slider.value, true); } });
    this.clock = element("output", { className: "now" });
    this.playButton = button("\u25b6 Play", "Play or pause (space)", () => this.playing ? this.pause() : this.play());
    const speed = element("select", { ariaLabel: "Speed", onchange: () => { this.speed = +speed.value; } },
      ...SPEEDS.map(([value, text]) => element("option", { value, selected: value === this.speed }, text)));
    const lossless = !this.runs.some((run) => run.losses.length);
    const steps = this.steps(lossless);
    steps.push(button("Whole time", "Show the curves from beginning to end (0)", () => this.look(0, this.length)));
    if (document.fullscreenEnabled) steps.push(button("Full screen", "Fill the screen, or leave it again (f)", () => this.fill()));
    this.swatches = [];
    const flows = element("div", { className: "row flows", role: "group", ariaLabel: "Flows to show" }, ...this.flowNames.map((name) => {
      const box = element("input", { type: "checkbox", checked: true, onchange: () => { if (box.checked) this.hidden.delete(name); else this.hidden.add(name); this.show(); } });
      const swatch = element("span", { className: "swatch" });
      this.swatches.push([swatch, this.colours.get(name)]);
      return element("label", {}, box, swatch, name);
    }));
    const guide = element("details", {}, element("summary", {}, "How to read this"), element("ol", {}, ...this.guide(lossless).map((words) => element("li", {}, words))));
    this.said = element("p", { className: "said", role: "status" });
    const bar = element("div", { className: "bar" }, element("div", { className: "row" }, this.playButton, speed, this.slider, this.clock), element("div", { className: "row" }, ...steps), element("div", { className: "row" }, flows, guide), this.said);
    this.stages = this.runs.map((run) => new Stage(run, this));
    this.curves = this.runs.map((run) => new Curves(run, this));
    this.panels = this.runs.map((run) => element("section", { className: "panel", tabIndex: -1, ariaLabel: `Packet of ${run.label}` }, element("p", {}, UNCHOSEN)));
    this.lists = this.runs.map(() => element("div", {}));
    const columns = this.runs.map((run, n) => element("section", { ariaLabel: run.label },
      ...(this.runs.length > 1 ? [element("h2", {}, run.label)] : []),
      this.stages[n].element,
      element("div", { className: this.curves[n].parts.length ? "below" : "" }, this.curves[n].element, this.panels[n]),
      element("details", { ontoggle: () => this.list() }, element("summary", {}, "This moment in words"), this.lists[n])));
    const grid = element("div", { className: "runs" }, ...columns);
    grid.style.setProperty("--runs", this.runs.length);
    root.append(bar, grid, element("details", {}, element("summary", {}, "Keys, and what is drawn"), ...this.legend()));
    keys.addEventListener("keydown", (event) => this.key(event), { signal });
    followScheme(root, () => this.recolour(), signal);
  }
  recolour() {
    for (const [swatch, colour] of this.swatches) swatch.style.background = ink(colour);
    for (const it of [...this.stages, ...this.curves]) it.recolour();
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const { tagName, type } = event.target, isChoice = tagName === "SELECT" || (tagName === "INPUT" && type !== "range");
    const isButton = tagName === "BUTTON" || tagName === "SUMMARY" || isChoice;
    const keys = { n: () => this.loss(1), p: () => this.loss(-1), N: () => this.group(1), P: () => this.group(-1), f: () => this.fill(), ".": () => this.event(1), ",": () => this.event(-1), 0: () => this.look(0, this.length), "+": () => this.zoom(0.5), "-": () => this.zoom(2) };
    const step = event.shiftKey ? 2e7 : 1e6;
    if (!isButton) keys[" "] = () => this.playing ? this.pause() : this.play();
    if (type !== "range") Object.assign(keys, { ArrowRight: () => this.go(this.time + step), ArrowLeft: () => this.go(this.time - step), Home: () => this.begin(), End: () => this.go(this.length) });
    if (!keys[event.key] || (isChoice && tagName === "SELECT")) return;
    event.preventDefault();
    keys[event.key]();
  }

  play() {
    if (this.time >= this.length) this.go(0);
    this.playing = true; this.playButton.textContent = "|| Pause";
    let before = performance.now();
    const frame = (now) => {
      if (!this.playing) return;
      this.go(this.time + (now - before) * 1e6 * this.speed, true);
      before = now;
      if (this.time >= this.length) this.pause(); else requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }
  pause() {
    if (!this.playing) return;
    this.playing = false; this.playButton.textContent = "\u25b6 Play";
    this.list();
  }
  go(time, quietly = false) {
    this.time = Math.max(0, Math.min(this.length, time));
    const [from, to] = this.view;
    if (this.time < from || this.time > to) this.look(this.time - (to - from) / 2, this.time + (to - from) / 2);
    this.show();
    if (!quietly) { this.say(""); this.list(); }
  }
  /** Back to the beginning, and choose the first packet that is shown. */
  begin() {
    this.go(0);
    for (const run of this.runs) for (let packet = 0; packet < run.packets; packet++) if (this.shows(run, packet)) { this.choose(run, packet); break; }
  }
  show() {
    this.slider.value = this.time;
    this.slider.ariaValueText = seconds(this.time);
    this.clock.value = seconds(this.time);
    for (const stage of this.stages) stage.draw();
    for (const curves of this.curves) curves.mark();
  }
  look(from, to) {
    const width = Math.max(1e5, Math.min(this.length, to - from)), start = Math.max(0, Math.min(this.length - width, from));
    this.view = [start, start + width];
    for (const curves of this.curves) curves.refresh();
  }
  zoom(factor) { const width = (this.view[1] - this.view[0]) * factor; this.look(this.time - width / 2, this.time + width / 2); }
  say(text) { this.said.textContent = text; }

  /** To the next or the previous moment at which a packet that is shown is queued, leaves or is dropped; choose that packet. */
  event(way) {
    this.pause();
    let best = null;
    for (const run of this.runs) for (const port of run.busy) for (const [times, what] of [[port.queued, "comes to"], [port.left, "leaves"]]) times.forEach((time, i) => {
      const isFarther = best && way * (time - best.time) >= 0;
      if (way * (time - this.time) > 0 && time !== Infinity && !isFarther && this.shows(run, port.packet[i])) best = { run, port, i, time, what };
    });
    if (!best) { this.say(way > 0 ? "There is no later event." : "There is no earlier event."); return; }
    const { run, port, i, time, what } = best, packet = port.packet[i];
    this.go(time);
    this.choose(run, packet);
    this.say(`Packet ${packet + 1}${this.runs.length > 1 ? ` of ${run.label}` : ""}, ${run.kind(packet)}: ${run.isDropped(port, i) ? "is dropped at" : what} ${port.label}.`);
  }
  loss(way) {
    this.pause();
    let best = null, owner = null;
    for (const run of this.runs) {
      const open = run.losses.filter((loss) => this.shows(run, loss.packet));
      // several may be lost at one moment: the one after or before the chosen one comes next
      const here = open.findIndex((loss) => loss.time === this.time && loss.packet === this.chosen.get(run));
      const found = way > 0 ? (here >= 0 ? open[here + 1] : open.find((loss) => loss.time >= this.time))
        : (here >= 0 ? open[here - 1] : open.findLast((loss) => loss.time < this.time));
      if (found && (!best || (way > 0 ? found.time < best.time : found.time > best.time))) { best = found; owner = run; }
    }
    if (!best) { this.say(`No packet of these flows is lost ${way > 0 ? "after" : "before"} this.`); return; }
    this.go(best.time);
    this.choose(owner, best.packet);
    const number = owner.losses.indexOf(best) + 1;
    this.say(this.lossWords(owner, best, number));
  }
  lossWords(run, { port, i, time }, number) { return `Loss ${number} of ${run.losses.length}${this.runs.length > 1 ? ` of ${run.label}` : ""}, at ${seconds(time)}: ${run.notes[port.note[i] - 1][1]}`; }
  /** To the first loss of the next or the previous group. */
  group(way) {
    const times = [];
    for (const loss of this.runs.flatMap((run) => run.losses.filter((it) => this.shows(run, it.packet))).sort((one, two) => one.time - two.time)) {
      if (!times.length || loss.time - times.at(-1).last > GROUP_NS) times.push({ first: loss.time, last: loss.time });
      else times.at(-1).last = loss.time;
    }
    const to = way > 0 ? times.find((it) => it.first > this.time) : times.findLast((it) => it.first < this.time);
    if (!to) { this.say(`There is no ${way > 0 ? "later" : "earlier"} group of losses.`); return; }
    this.chosen.clear();
    for (const panel of this.panels) panel.replaceChildren(element("p", {}, UNCHOSEN));
    this.go(to.first - 1);
    this.loss(1);
  }
  legend() { return legend(); }
  fill() { if (document.fullscreenElement) document.exitFullscreen(); else this.root.requestFullscreen(); }

  choose(run, packet) {
    this.chosen.set(run, packet);
    const path = run.path(packet), flow = run.flows[run.flowOf[packet]];
    const notes = path.filter(({ port, i }) => port.note[i]).map(({ port, i }) => run.notes[port.note[i] - 1]);
    const rows = path.map(({ port, i }) => {
      const note = port.note[i] ? run.notes[port.note[i] - 1] : null, left = port.left[i], isDropped = run.isDropped(port, i);
      const ends = left === Infinity ? "still there at the end" : isDropped ? "dropped" : left === port.queued[i] ? "at once" : milliseconds(left - port.queued[i]);
      return [port.label, port.to, seconds(port.queued[i]), ends, note && !isDropped ? note[0] : "", button("go", `Go to ${seconds(port.queued[i])}, when ${port.label} queued it`, () => this.go(port.queued[i]))];
    });
    const panel = this.panels[this.runs.indexOf(run)];
    panel.replaceChildren(
      element("p", {}, element("strong", {}, `Packet ${packet + 1} of ${run.packets}`), ` \u2013 ${flow.name}, ${run.isBack[packet] ? "back" : "there"}`),
      ...notes.map(([kind, words]) => element("p", { className: "why" }, `${kind === "marked" ? "Why was it marked?" : kind === "refused" ? "What became of it?" : "Why was it dropped?"} ${words}`)),
      table(["Interface", "to", "queued at", "left after", "", ""], rows),
      element("details", { open: true }, element("summary", {}, "Headers, at its first interface"), table(["Header", ""], headers(run.headOf[packet], run.lengthOf[packet]))));
    this.show();
  }

  /** How many packets of each flow are in a queue, in words. */
  shares(run, port, inside) {
    const counts = new Map();
    for (const [i] of inside) { const name = run.kind(port.packet[i]); counts.set(name, (counts.get(name) || 0) + 1); }
    return [...counts].map(([name, count]) => `${name}: ${count}`).join(", ");
  }
  list() {
    if (this.playing) return;
    this.runs.forEach((run, n) => {
      const list = this.lists[n];
      if (!list.parentElement || !list.parentElement.open) return;
      const queues = run.busy.map((port) => {
        const inside = run.inside(port, this.time), waiting = inside.filter(([, isUnderWay]) => !isUnderWay).length;
        return { port, inside, row: [port.label, `to ${port.to}`, run.countOf(port, inside.length), `${waiting}`, `${inside.length - waiting}`, this.shares(run, port, inside)] };
      }).filter(({ inside }) => inside.length);
      const packets = queues.flatMap(({ port, inside }) => inside.map(([i, isUnderWay]) => ({ port, i, isUnderWay }))).filter(({ port, i }) => this.shows(run, port.packet[i]));
      list.replaceChildren(
        element("p", {}, `At ${seconds(this.time)}: ${packets.length} packets of the flows shown are in queues and on links.`),
        table(["What", "now"], this.curves[n].values()),
        table(["Queue of", "", "packets", "that wait", "on the link", "of each flow"], queues.map(({ row }) => row)),
        element("ul", {}, ...packets.slice(0, 40).map(({ port, i, isUnderWay }) => element("li", {}, button(`packet ${port.packet[i] + 1}`, `Choose packet ${port.packet[i] + 1}`, () => this.choose(run, port.packet[i])), ` ${isUnderWay ? "is on the link from" : "waits at"} ${port.label}, ${run.kind(port.packet[i])}, ${run.lengthOf[port.packet[i]]} bytes`))),
        ...(packets.length > 40 ? [element("p", {}, `and ${packets.length - 40} more; show fewer flows to see them`)] : []));
    });
  }
}

/** A key and what it does. */
const key = (name, what) => element("li", {}, element("kbd", {}, name), ` ${what}`);

function legend() {
  return [
    element("ul", {}, key("Space", "play or pause"), key("\u2190 \u2192", "a millisecond back or on, with Shift 20 (on the slider: a step of it)"), key(", .", "the event before, the next event, of the flows shown"), key("p n", "the loss before, the next loss"), key("P N", "the group of losses before, the next group"), key("f", "full screen"), key("+ -", "zoom the curves"), key("0", "the whole time"), key("Home End", "the beginning and its first packet, the end")),
    element("p", {}, "A rectangle is a packet of more than 200 bytes, a dot a smaller one; its colour is its flow's. A bar beside a cable is the queue of the interface at its beginning, as long as its limit: who waits in colour, and in grey those that are on the link already. The number counts both, as the limit does: 50 of 100. A red cross is a loss, and so is a red stroke above the curves. Drag across a curve to zoom, click to go there, double-click for all."),
    element("p", {}, "Linux's netem holds a packet for the link's delay and for its turn in one queue, and its limit counts both. Here a packet waits first, and then travels for the link's delay: it leaves the link at the instant at which it did. Links that are not shaped take no time, so nothing is to be seen on them."),
  ];
}
