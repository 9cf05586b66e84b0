/* One picture of a network: the stage, what is known of the thing chosen, and where it was recorded time and events. */

import { button, element, seconds, table } from "../elements.js";
import { COLOURS, followScheme, ink } from "../scheme.js";
import { Curves } from "./curves.js";
import { Events } from "./events.js";
import { inspected } from "./inspector.js";
import { Run, unpacked } from "./run.js";
import { Stage } from "./stage.js";

const SPEEDS = [
  [1, "as it was"],
  [0.1, "10 times slower"],
  [0.01, "100 times slower"],
  [0.001, "1000 times slower"],
];
const SHORT_S = 6; // what is shorter than this,
const LONG_S = 60; // or longer than this,
const PLAYS_S = 10; // is first played in so many seconds
const STEP_MS = 500; // how often the picture changes for readers who want no motion
const TOLD_MS = 1000; // how often the time is told to those who listen
const SLOW_MS = 100; // a machine that takes longer for a picture plays slower, and leaves nothing out
/** Keys that go to the next event of a kind, with Shift to the one before. */
const KEYS = { l: "loss", w: "longest wait", q: "queue full" };
const still = matchMedia("(prefers-reduced-motion: reduce)");

/** Draw what the model has packed; return it. */
export async function render({ model, el, keys, signal }) {
  const about = await unpacked(model.get("packed"));
  const shown = new Network(
    el,
    about.runs.map((run) => new Run(run)),
    about.colours,
    keys,
    signal,
  );
  for (const [n, event] of about.opens) shown.events[n].go(shown.runs[n].events[event]);
  return shown;
}

export class Network {
  constructor(root, runs, colours, keys, signal) {
    this.root = root;
    this.runs = runs;
    this.time = 0;
    this.playing = false;
    this.length = Math.max(...runs.map((run) => run.length_ns));
    const length_s = this.length / 1e9;
    this.fitted = length_s / PLAYS_S;
    this.speed = length_s < SHORT_S || length_s > LONG_S ? this.fitted : 1;
    this.view = [0, this.length];
    this.chosen = new Map();
    this.lossTimes = new Map(runs.map((run) => [run, Float64Array.from(run.losses, (loss) => loss.time)]));
    this.flowNames = [...new Set(runs.flatMap((run) => run.kinds))];
    this.hidden = new Set();
    this.colours = new Map(this.flowNames.map((name) => [name, colours[name] ?? COLOURS.length - 1]));
    this.tops = new Map();
    // of a queue's bars in all runs
    for (const port of runs.flatMap((run) => run.ports))
      port.longest = Math.max(
        ...runs.flatMap((run) => run.ports.filter((it) => it.name === port.name).map((it) => it.limit || 0)),
      );
    this.build(keys, signal);
    this.go(0);
  }
  /** The keys of kinds of events that there are. */
  kindKeys() {
    return Object.entries(KEYS).filter(([, kind]) =>
      this.runs.some((run) => run.events.some((it) => it.kind === kind)),
    );
  }
  /** A run's name before what is said of it, where there are two. */
  nameOf(run) {
    return this.runs.length > 1 ? `${run.label}, ` : "";
  }
  /** Bring the network of a run into the window. */
  see(run) {
    this.stages[this.runs.indexOf(run)].element.scrollIntoView({ block: "nearest" });
  }
  colour(run, packet) {
    return ink(COLOURS[this.colours.get(run.kind(packet))]);
  }
  shows(run, packet) {
    return !this.hidden.size || !this.hidden.has(run.kind(packet));
  }
  eventsIn(run) {
    return this.events[this.runs.indexOf(run)];
  }
  eventsOf(run) {
    return this.eventsIn(run).open;
  }
  /** The highest value of a kind of curve in any run: both have one scale. */
  top(title, most) {
    const highest = Math.max(most || 0, this.tops.get(title) || 0);
    this.tops.set(title, highest);
    return highest;
  }

  build(keys, signal) {
    const { root } = this;
    root.replaceChildren();
    root.tabIndex = -1;
    this.said = element("p", { className: "said", role: "status" });
    this.hint = element(
      "p",
      { className: "hint" },
      `Keys: space play, n next event, ${this.kindKeys()
        .map(([letter, kind]) => `${letter} next "${kind}", `)
        .join("")}e choice of events; more below.`,
    );
    this.swatches = [];
    this.stages = this.runs.map((run) => new Stage(run, this));
    this.inspectors = this.runs.map((run) =>
      element("section", { className: "known", ariaLabel: this.nameOf(run) + "what is known" }),
    );
    const recorded = this.length > 0;
    this.curves = recorded ? this.runs.map((run) => new Curves(run, this)) : [];
    this.events = recorded ? this.runs.map((run) => new Events(run, this)) : [];
    this.lists = recorded ? this.runs.map(() => element("div", {})) : [];
    const columns = this.runs.map((run, n) =>
      element(
        "section",
        { className: "run", ariaLabel: this.nameOf(run) + "network" },
        ...(this.runs.length > 1 ? [element("h2", {}, run.label)] : []),
        element(
          "div",
          { className: "parts" },
          element("div", { className: "top" }, this.stages[n].element),
          this.inspectors[n],
          ...(recorded
            ? [
                element(
                  "section",
                  { className: "tracks", ariaLabel: this.nameOf(run) + "curves" },
                  this.curves[n].element,
                ),
                element(
                  "div",
                  { className: "story" },
                  this.events[n].element,
                  element(
                    "details",
                    { ontoggle: () => this.list() },
                    element("summary", {}, element("h2", {}, "This moment in words")),
                    this.lists[n],
                  ),
                ),
              ]
            : []),
        ),
      ),
    );
    const grid = element("div", { className: "runs" }, ...columns);
    grid.style.setProperty("--runs", this.runs.length);
    root.append(
      this.bar(recorded),
      grid,
      element(
        "details",
        {},
        element(
          "summary",
          {},
          element(
            "h2",
            {},
            recorded ? "Keys, what is drawn, and the network in words" : "Keys, and the network in words",
          ),
        ),
        ...legend(recorded),
        ...this.runs.map((run) => element("p", { className: "words" }, run.words)),
      ),
    );
    keys.addEventListener("keydown", (event) => this.key(event), { signal });
    document.addEventListener("fullscreenchange", () => this.stages.forEach((stage) => stage.resize()), { signal });
    followScheme(root, () => this.recolour(), signal);
    for (const run of this.runs) this.inspect(run);
  }
  /** One row: play, speed, the slider, the clock, steps and flows of what was recorded; zoom and full screen. */
  bar(recorded) {
    const sizes = element(
      "span",
      { className: "sizes" },
      button("+", "Zoom in (+)", () => this.zoom(1.5)),
      button("\u2212", "Zoom out (-)", () => this.zoom(1 / 1.5)),
    );
    const whole = button("", "Fill the screen, or leave it again (f)", () => this.fill());
    whole.innerHTML =
      '<svg viewBox="0 0 16 16" width="13" height="13" aria-hidden="true"><path d="M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4" fill="none" stroke="currentColor" stroke-width="2"/></svg>';
    if (document.fullscreenEnabled) sizes.append(whole);
    return element(
      "div",
      { className: "bar" },
      element("div", { className: "in-a-row" }, ...(recorded ? this.timeRow() : []), sizes),
      ...(recorded ? [this.said, this.hint] : []),
    );
  }
  timeRow() {
    this.slider = element("input", {
      type: "range",
      min: 0,
      max: this.length,
      step: Math.max(1, Math.round(this.length / 1e6)),
      value: 0,
      ariaLabel: "Time",
      oninput: () => {
        this.pause();
        this.say("");
        this.go(+this.slider.value, true);
      },
    });
    this.clock = element("span", { className: "now", role: "timer" });
    this.playButton = button("\u25b6 Play", "Play or pause (space)", () => (this.playing ? this.pause() : this.play()));
    const speeds = [[this.fitted, `all in ${PLAYS_S} s`], ...SPEEDS];
    const speed = element(
      "select",
      {
        ariaLabel: "Speed",
        onchange: () => {
          this.speed = +speed.value;
        },
      },
      ...speeds.map(([value, text]) => element("option", { value, selected: value === this.speed }, text)),
    );
    const steps = [
      button("\u25c0", "Back to the event before (p)", () => this.step(-1)),
      button("Event \u25b6", "On to the next event (n)", () => this.step(1)),
    ];
    return [this.playButton, speed, this.slider, this.clock, ...steps, this.flows()];
  }
  /** The flows, folded, by protocol: boxes show those that are wanted. */
  flows() {
    const protocols = new Map();
    for (const name of this.flowNames)
      protocols.set(name.split(" ")[0], [...(protocols.get(name.split(" ")[0]) || []), name]);
    const box = (name) => {
      const input = element("input", {
        type: "checkbox",
        checked: true,
        onchange: () => {
          if (input.checked) this.hidden.delete(name);
          else this.hidden.add(name);
          this.remark();
        },
      });
      const swatch = element("span", { className: "swatch" });
      this.swatches.push([swatch, COLOURS[this.colours.get(name)]]);
      return element("label", {}, input, swatch, name);
    };
    return element(
      "details",
      { className: "flows" },
      element("summary", {}, `Flows (${this.flowNames.length})`),
      ...[...protocols].map(([protocol, names]) =>
        element("div", { className: "in-a-row", role: "group", ariaLabel: protocol }, ...names.map(box)),
      ),
    );
  }
  recolour() {
    for (const [swatch, colour] of this.swatches) swatch.style.background = ink(colour);
    for (const stage of this.stages) stage.look();
    for (const curves of this.curves) curves.recolour();
  }
  /** Show other flows or other events. */
  remark() {
    this.show();
    this.list();
    for (const curves of this.curves) curves.refresh();
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const { tagName, type } = event.target;
    const isField = tagName === "SELECT" || (tagName === "INPUT" && type !== "range");
    if (isField) return;
    const keys = { "+": () => this.zoom(1.5), "-": () => this.zoom(1 / 1.5), f: () => this.fill() };
    if (this.length) {
      const step = event.shiftKey ? 2e7 : 1e6;
      Object.assign(keys, {
        n: () => this.step(1),
        p: () => this.step(-1),
        e: () => this.events[0].filter.focus(),
        ".": () => this.hop(1),
        ",": () => this.hop(-1),
        0: () => {
          this.look(0, this.length);
          this.zoom(0);
        },
      });
      for (const [letter, kind] of Object.entries(KEYS))
        Object.assign(keys, { [letter]: () => this.step(1, kind), [letter.toUpperCase()]: () => this.step(-1, kind) });
      if (!["BUTTON", "SUMMARY"].includes(tagName)) keys[" "] = () => (this.playing ? this.pause() : this.play());
      Object.assign(keys, {
        ArrowRight: () => this.go(this.time + step),
        ArrowLeft: () => this.go(this.time - step),
        Home: () => this.begin(),
        End: () => this.go(this.length),
      });
    }
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }
  zoom(factor) {
    for (const stage of this.stages) stage.zoom(factor);
  }
  fill() {
    if (document.fullscreenElement) document.exitFullscreen();
    else this.root.requestFullscreen();
  }

  play() {
    if (this.time >= this.length) this.go(0);
    this.say("");
    this.playing = true;
    this.playButton.textContent = "|| Pause";
    let before = performance.now();
    const frame = (now) => {
      if (!this.playing) return;
      if (!still.matches || now - before >= STEP_MS) {
        this.go(this.time + Math.min(now - before, still.matches ? 2 * STEP_MS : SLOW_MS) * 1e6 * this.speed, true);
        before = now;
      }
      if (this.time >= this.length) this.pause();
      else requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }
  pause() {
    if (!this.playing) return;
    this.playing = false;
    this.playButton.textContent = "\u25b6 Play";
    this.list();
  }
  go(time, quietly = false) {
    this.time = Math.max(0, Math.min(this.length, time));
    const [from, to] = this.view;
    if (this.time < from || this.time > to) this.look(this.time - (to - from) / 2, this.time + (to - from) / 2);
    this.release();
    this.show();
    if (!quietly) {
      this.say("");
      this.list();
    }
  }
  /** Let go of a packet that an event chose, before it is there and after it is gone. */
  release() {
    for (const [run, { during }] of this.chosen)
      if (during && (this.time < during[0] || this.time > during[1])) {
        this.chosen.delete(run);
        this.inspect(run);
      }
  }
  show() {
    for (const stage of this.stages) stage.draw();
    if (!this.length) return;
    this.slider.value = this.time;
    this.clock.textContent = seconds(this.time);
    if (!this.playing || !(performance.now() - this.toldAt < TOLD_MS)) {
      this.slider.ariaValueText = seconds(this.time);
      this.toldAt = performance.now();
    }
    for (const curves of this.curves) curves.mark();
  }
  /** Show the tracks from one time to another. */
  look(from, to) {
    const width = Math.max(1e5, Math.min(this.length, to - from));
    const start = Math.max(0, Math.min(this.length - width, from));
    this.view = [start, start + width];
    for (const curves of this.curves) curves.refresh();
  }
  /** Say what is shown. Interfaces that it names have their names on the network, however small that is. */
  say(text) {
    this.said.textContent = text;
    this.hint.hidden = this.said.offsetHeight > 30; // a second line takes its place, and moves nothing
    for (const stage of this.stages) stage.name(new Set(text.match(/[\w-]+/g)));
  }

  /** Back to the beginning, and choose the first packet that is shown. */
  begin() {
    this.go(0);
    for (const run of this.runs)
      for (let packet = 0; packet < run.packets; packet++)
        if (this.shows(run, packet)) {
          this.choose(run, { packet });
          break;
        }
  }
  /** To the next event of the tables, or to the one before; of one kind, if that is given. */
  step(way, kind = "") {
    this.pause();
    const next = (to) =>
      this.events
        .map((it) => [it.next(to, this.time, kind), it])
        .filter(([event]) => event)
        .sort(([one], [two]) => to * (one.time - two.time))[0];
    const found = next(way);
    const [other] = found || next(-way) || [];
    if (found) {
      found[1].go(found[0]);
      return;
    }
    const letter = this.kindKeys().find((it) => it[1] === kind)?.[0];
    const key = letter ? (way > 0 ? letter.toUpperCase() : letter) : way > 0 ? "p" : "n";
    this.say(
      `There is no ${kind || "event"} ${way > 0 ? "after" : "before"} this.${other ? ` The one ${way > 0 ? "before" : "after"} is at ${seconds(other.time)} (${key}).` : ""}`,
    );
  }
  /** To the next or the previous moment at which a shown packet is queued, leaves or is dropped; choose that packet. */
  hop(way) {
    this.pause();
    let best = null;
    for (const run of this.runs)
      for (const port of run.ports)
        for (const [times, what] of [
          [port.queued, "comes to"],
          [port.left, "leaves"],
        ])
          times.forEach((time, i) => {
            const isFarther = best && way * (time - best.time) >= 0;
            if (
              way * (time - this.time) > 0 &&
              time !== Infinity &&
              !isFarther &&
              port.line &&
              port.waits &&
              this.shows(run, port.packet[i])
            )
              best = { run, port, i, time, what };
          });
    if (!best) {
      this.say(`There is no packet ${way > 0 ? "after" : "before"} this.`);
      return;
    }
    const { run, port, i, time, what } = best;
    const packet = port.packet[i];
    this.go(time);
    this.choose(run, { packet });
    this.say(
      `${this.nameOf(run)}Packet ${packet}, ${run.kind(packet)}: ${run.isDropped(port, i) ? "is dropped at" : what} ${port.label}.`,
    );
  }

  /** Choose a packet, a cable or a node of a run: `{ packet }`, `{ cable }` or `{ node }`. */
  choose(run, thing) {
    this.chosen.set(run, thing);
    this.inspect(run);
    this.show();
  }
  inspect(run) {
    this.inspectors[this.runs.indexOf(run)].replaceChildren(...inspected(run, this, this.chosen.get(run) || {}));
    this.level();
  }
  /** Make what is known of two runs side by side equally high, so that what stands below keeps its place. */
  level() {
    const [one, two] = this.inspectors;
    const set = (high) => this.inspectors.forEach((it) => (it.style.minHeight = high));
    set("");
    if (two && one.offsetTop === two.offsetTop) set(`${Math.max(one.offsetHeight, two.offsetHeight)}px`);
  }
  /** Write anew what depends on the moment. */
  list() {
    if (this.playing) return;
    this.runs.forEach((run, n) => {
      if (this.chosen.get(run)?.packet === undefined) this.inspect(run);
      this.events[n]?.list();
      if (!this.lists[n]?.parentElement.open) return;
      const rows = run.busy
        .map((port) => [port, run.inside(port, this.time)])
        .filter(([, inside]) => inside.length)
        .map(([port, inside]) => {
          const waiting = inside.filter(([, isUnderWay]) => !isUnderWay).length;
          return [
            port.label,
            `to ${port.to}`,
            run.countOf(port, inside.length),
            `${waiting}`,
            `${inside.length - waiting}`,
            this.shares(run, port, inside),
          ];
        });
      this.lists[n].replaceChildren(
        table(["What", "now"], this.curves[n].values()),
        table(["Queue of", "", "packets", "that wait", "on the link", "of each flow"], rows),
      );
    });
  }
  /** How many packets of each flow are in a queue, in words. */
  shares(run, port, inside) {
    const counts = new Map();
    for (const [i] of inside) {
      const name = run.kind(port.packet[i]);
      counts.set(name, (counts.get(name) || 0) + 1);
    }
    return [...counts].map(([name, count]) => `${name}: ${count}`).join(", ");
  }
}

/** A key and what it does. */
const key = (name, what) => element("li", {}, element("kbd", {}, name), ` ${what}`);

function legend(recorded) {
  const stage = [
    key("Tab, \u2190 \u2191 \u2192 \u2193, Enter", "to the network, on to a node or a link there, and choose it"),
    key("+ -", "zoom the network; drag to move it; Ctrl and the wheel, or a pinch"),
    key("f", "full screen"),
  ];
  if (!recorded) return [element("ul", {}, ...stage)];
  return [
    element(
      "ul",
      {},
      key("Space", "play or pause"),
      key("p n", "the event before, the next event of the table"),
      ...Object.entries(KEYS).map(([letter, kind]) =>
        key(`${letter.toUpperCase()} ${letter}`, `the "${kind}" before, the next one`),
      ),
      key("e", "the choice of events"),
      key(", .", "the moment before, the next moment of a packet of the flows shown"),
      key("\u2190 \u2192", "a millisecond back or on, with Shift 20"),
      key("Home End", "the beginning and its first packet, the end"),
      key("0", "the whole time, the whole network"),
      ...stage,
    ),
    element(
      "p",
      {},
      "A bar beside a cable is the queue of the interface at its beginning. A line along a cable, on the side of the packets that go there, is what it carries around this moment. One without a rate is at most half as wide, beside the busiest. Point at a link, or go there by Tab, for its numbers: packets in the queue, those on the link among them, of its limit, and what it sends. Drag across a track to zoom, click to go there, double-click for all.",
    ),
    element(
      "p",
      {},
      "Linux's netem holds a packet for the link's delay and for its turn in one queue, and its limit counts both. Here a packet waits first, and then travels for the link's delay: it leaves the link at the instant at which it did. A link that is not shaped takes no time: it glows where a packet has just passed. A thin dashed link was not recorded: nothing is known of what it carried. A packet on a dotted line is a switch's question to its controller: it is drawn halfway there and halfway back in the time until the answer, of which alone the recording knows.",
    ),
  ];
}
