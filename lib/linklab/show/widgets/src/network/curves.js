/* Tracks: curves on one axis of time, with a mark for each event. */

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { element, lineSign, seconds } from "../elements.js";
import { COLOURS, DASHES, FAINT, GRID, INK, LOSS, ink } from "../scheme.js";
import { kindOf, lastUpTo, valueAt } from "./run.js";

const CHART_HIGH = 118; // pixels
const NEAR = 4; // pixels from an event's stroke, where a click is meant for it
const POINTS = 700; // of a curve on the screen

export class Curves {
  constructor(run, shown) {
    this.run = run;
    this.shown = shown;
    this.element = element("div", {});
    this.parts = this.charts().filter((part) => part.series.length);
    new ResizeObserver(() => this.resize()).observe(this.element);
  }
  /** The charts, each with its series. */
  charts() {
    const { run } = this;
    const queues = run.busy.filter((port) => Math.max(...this.sampled(port, 0, run.length_ns, 200)) > 1);
    // no flow's colour: a link has its dashes, and its two directions are dark and light
    const links = [...new Set(queues.map((port) => run.cableOf(port.name)))];
    const tone = (port) => (run.cables[run.cableOf(port.name)].ends[0] === port.name ? INK : FAINT);
    // ports tell connections apart only where there are several of a kind
    const short = (it, all) =>
      all.filter((other) => kindOf(other.name) === kindOf(it.name)).length > 1 ? it.name : kindOf(it.name);
    const tcp = run.tcp.map((it, n) => ({ ...it, ...this.styled(it, run.tcp.slice(0, n)) }));
    const pings = run.pings.map((it, n) => ({ ...it, ...this.styled(it, run.pings.slice(0, n)) }));
    const ms = (it) => {
      const us = valueAt(it.times, it.rtt);
      return (time) => (us(time) === null ? null : us(time) / 1000);
    };
    const half = () => Math.max(1e7, (this.shown.view[1] - this.shown.view[0]) / 100);
    return [
      {
        title: "Window and slow-start threshold (packets)",
        digits: 0,
        series: tcp.flatMap((it) => [
          { label: `cwnd, ${short(it, tcp)}`, colour: it.colour, dash: it.dash, value: valueAt(it.times, it.cwnd) },
          {
            label: `ssthresh, ${short(it, tcp)}`,
            colour: it.colour,
            thin: true,
            value: (time) => valueAt(it.times, it.ssthresh)(time) || null,
          },
        ]),
      },
      {
        title: "Queues (packets, those on the link included)",
        digits: 0,
        series: queues.map((port) => ({
          label: port.label,
          tone: tone(port),
          dash: links.indexOf(run.cableOf(port.name)),
          whole: (from, to) => this.sampled(port, from, to, POINTS),
          value: (time) => run.held(port, time),
        })),
      },
      {
        title: "Round-trip time (ms)",
        digits: 1,
        series: [
          ...tcp.map((it) => ({
            label: `smoothed, ${short(it, tcp)}`,
            colour: it.colour,
            dash: it.dash,
            value: ms(it),
          })),
          ...pings.map((it) => ({ label: it.name, colour: it.colour, dash: it.dash, value: ms(it) })),
        ],
      },
      {
        title: "Rate of what arrives (Mbit/s)",
        digits: 2,
        series: run.arrivals().map(({ name, ...arrived }) => ({
          label: name,
          colour: this.shown.colours.get(name),
          dash: this.shown.colours.get(name),
          value: (time) => run.rate(arrived, time, half()),
        })),
      },
      {
        title: "What the trace lets onto the link, and what it took (Mbit/s of IP packets)",
        digits: 2,
        series: run.varying.flatMap((link, n) => {
          const port = run.ports.find((it) => it.name === link.port);
          const value = (bits) => (time) => run.rate(bits, time, half(), link.begin_ns, link.end_ns);
          return [
            { label: `capacity, ${port?.label ?? link.port}`, tone: FAINT, dash: n, area: true, value: value(link) },
            ...(port ? [{ label: `taken, ${port.label}`, tone: INK, dash: n, value: value(run.onLink(port)) }] : []),
          ];
        }),
      },
    ];
  }
  /** A curve has its flow's colour, and several of one flow have dashes of their own. */
  styled(it, before) {
    const name = kindOf(it.name).replace("ping", "ICMP");
    const turned = name.replace(/(\S+) to (\S+)/, "$2 to $1");
    const colour = this.shown.colours.get(name) ?? this.shown.colours.get(turned) ?? 0;
    return { colour, dash: colour + before.filter((other) => kindOf(other.name) === kindOf(it.name)).length };
  }
  /** The most that a queue held in each of so many equal parts of a time. */
  sampled(port, from, to, count) {
    const found = new Array(count);
    const step = (to - from) / (count - 1);
    let entered = lastUpTo(port.queued, from - step);
    let gone = lastUpTo(port.leaving, from - step);
    for (let n = 0; n < count; n++) {
      const end = from + n * step;
      let most = entered - gone;
      while (entered + 1 < port.hops && port.queued[entered + 1] <= end) {
        const next = port.queued[entered + 1];
        while (gone + 1 < port.hops && port.leaving[gone + 1] < next) gone++;
        entered++;
        if (entered - gone > most) most = entered - gone;
      }
      while (gone + 1 < port.hops && port.leaving[gone + 1] <= end) gone++;
      found[n] = most;
    }
    return found;
  }
  points(part) {
    const [from, to] = this.shown.view;
    const step = (to - from) / (POINTS - 1);
    const times = Array.from({ length: POINTS }, (_, n) => from + n * step);
    return [
      times.map((ns) => ns / 1e9),
      ...part.series.map((it) => (it.whole ? it.whole(from, to) : times.map(it.value))),
    ];
  }
  resize() {
    const width = this.element.clientWidth;
    if (!width || width === this.width) return;
    this.width = width;
    if (this.made) {
      for (const part of this.parts) part.plot.setSize({ width, height: CHART_HIGH });
      this.mark();
      return;
    }
    this.made = true;
    for (const part of this.parts) this.make(part, width);
    this.mark();
  }
  make(part, width) {
    const { shown } = this;
    const holder = element("div", {
      className: "chart",
      role: "img",
      ariaLabel: `${part.title}: ${part.series.map((it) => it.label).join("; ")}`,
    });
    this.element.append(holder);
    const digits = (value) => (value === null || value === undefined ? "-" : value.toFixed(part.digits));
    const strokes = part.series.map((it) => ({
      stroke: ink(it.tone || COLOURS[it.colour % COLOURS.length]),
      width: it.thin ? 1 : 1.7,
      dash: it.thin ? [2, 3] : DASHES[it.dash % DASHES.length],
    }));
    const options = {
      title: part.title,
      width,
      height: CHART_HIGH,
      cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false }, sync: undefined },
      legend: { live: false, markers: { width: 0 } },
      scales: {
        x: { time: false, range: () => shown.view.map((ns) => ns / 1e9) },
        y: { range: (_, __, most) => [0, Math.max(part.digits > 1 ? 0.01 : 1, shown.top(part.title, most)) * 1.1] },
      },
      axes: [
        {
          size: 24,
          gap: 2,
          values: (_, ticks) => ticks.map((it) => `${+it.toFixed(6)} s`),
          stroke: ink(INK),
          grid: { stroke: ink(GRID), width: 1 },
        },
        { size: 44, stroke: ink(INK), grid: { stroke: ink(GRID), width: 1 } },
      ],
      series: [
        {},
        ...part.series.map((it, n) => ({
          label: it.label,
          ...strokes[n],
          dash: strokes[n].dash.map((long) => long * uPlot.pxRatio), // it scales widths alone
          fill: it.area ? `${strokes[n].stroke}44` : undefined,
          points: { show: false },
          value: (_, value) => digits(value),
        })),
      ],
      hooks: {
        draw: [(plot) => this.drawEvents(plot)],
        setCursor: [
          ({ root, cursor, posToVal }) => {
            // the values below the pointer
            const at = posToVal(cursor.left, "x") * 1e9;
            const values = part.series.map((it) => `${it.label}: ${digits(it.value(at))}`);
            root.querySelector(".u-title").textContent = [
              part.title,
              ...(cursor.left < 0 ? [] : [seconds(at, 3), ...values]),
            ].join("; ");
          },
        ],
        setSelect: [
          (plot) => {
            if (plot.select.width > 5)
              shown.look(
                plot.posToVal(plot.select.left, "x") * 1e9,
                plot.posToVal(plot.select.left + plot.select.width, "x") * 1e9,
              );
            plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
          },
        ],
      },
    };
    part.plot = new uPlot(options, this.points(part), holder);
    holder.querySelectorAll(".u-marker").forEach((it, n) => {
      it.innerHTML = lineSign(strokes[n]);
    });
    part.plot.root.ariaHidden = "true"; // its legend is a table of headings without rows, and the holder names them
    part.cursor = element("div", { className: "cursor" });
    part.plot.over.append(part.cursor);
    part.plot.over.addEventListener("click", ({ offsetX }) => {
      const near = this.near(part.plot, offsetX);
      if (near) {
        shown.pause();
        shown.eventsIn(this.run).go(near);
      } else shown.go(part.plot.posToVal(offsetX, "x") * 1e9);
    });
    part.plot.over.addEventListener("dblclick", () => shown.look(0, shown.length));
  }
  /** The event whose stroke is nearest to a place, of equally near ones a loss; none where all are far. */
  near(plot, x) {
    const found = this.shown
      .eventsOf(this.run)
      .map((event) => [
        Math.round(Math.abs(plot.valToPos(event.time / 1e9, "x") - x)),
        Number(event.kind !== "loss"),
        event,
      ]);
    return found.filter(([far]) => far <= NEAR).sort((one, two) => one[0] - two[0] || one[1] - two[1])[0]?.[2];
  }
  /** A stroke for each event that the table's filters let through, and the times of cuts as areas. */
  drawEvents(plot) {
    const pen = plot.ctx;
    const { left, top, width, height } = plot.bbox;
    const at = (ns) => Math.max(left, Math.min(left + width, plot.valToPos(ns / 1e9, "x", true)));
    pen.save();
    pen.fillStyle = `${ink(LOSS)}22`;
    for (const [from, to] of this.run.cuts) pen.fillRect(at(from), top, at(to) - at(from), height);
    for (const event of this.shown.eventsOf(this.run)) {
      const x = plot.valToPos(event.time / 1e9, "x", true);
      pen.fillStyle = ink(event.kind === "loss" ? LOSS : INK);
      if (x >= left && x <= left + width) pen.fillRect(x - 0.5, top, 1.5, 7);
    }
    pen.restore();
  }
  /** Draws all anew: uPlot keeps the colours that it was given. */
  recolour() {
    if (!this.made) return;
    for (const part of this.parts) {
      part.plot.destroy();
      part.plot = null;
    }
    this.element.replaceChildren();
    for (const part of this.parts) this.make(part, this.width);
    this.mark();
  }
  refresh() {
    for (const part of this.parts) if (part.plot) part.plot.setData(this.points(part));
    this.mark();
  }
  mark() {
    const [from, to] = this.shown.view;
    const share = (this.shown.time - from) / (to - from);
    for (const part of this.parts) {
      if (!part.plot) continue;
      part.cursor.style.display = share < 0 || share > 1 ? "none" : "";
      part.cursor.style.left = `${share * 100}%`;
    }
  }
  values() {
    const { time } = this.shown;
    return this.parts
      .flatMap((part) =>
        part.series.map((it) => [it.label, part.title.replace(/.*\(([\w/]+).*/, "$1"), it.value(time), part.digits]),
      )
      .filter((row) => row[2] !== null)
      .map(([label, unit, value, digits]) => [label, `${value.toFixed(digits)} ${unit}`]);
  }
}
