/* Packets of captures over time: a line for each place, and between the lines what was seen at both. */

import { element } from "../elements.js";
import { CHOSEN, EDGE, GROUND, INK, LOSS, ink } from "../scheme.js";
import { Run, lastUpTo, summed } from "./run.js";
import { Board } from "./stage.js";

const TOP = 48, APART = 96, STUB = 26, RIGHT = 14, MARGIN = 8, WIDEST = 0.25;  // pixels; the share of the width that names may take
const NAME = "bold 13px system-ui, sans-serif";
const SPARSE = 300;  // so many packets still have heads of arrows

/** Captures of one network: packets with where and when each was seen, in the order of time. */
export class Capture extends Run {
  constructor(about) {
    super({ ports: [], tcp: [], pings: [], notes: [], ...about });
    this.paths = Array.from({ length: this.packets }, () => []);
    this.places.forEach((place, number) => {
      const packets = summed(place.packet), times = summed(place.times);
      packets.forEach((packet, i) => this.paths[packet].push({ place: number, time: times[i], frame: place.frame[i], name: place.interface[i] }));
    });
    for (const path of this.paths) path.sort((one, two) => one.time - two.time);
    this.times = Float64Array.from(this.paths, (path) => path[0].time);
    this.longest = this.paths.reduce((most, path) => Math.max(most, path.at(-1).time - path[0].time), 0);
    this.signOf = new Map(this.signs);
    this.losses = this.signs.map(([packet]) => ({ packet, time: this.times[packet] }));
  }
  /** The numbers of the packets under way or seen within a time: the first, and the one behind the last. */
  within(from, to) { return [lastUpTo(this.times, from - this.longest - 1) + 1, lastUpTo(this.times, to) + 1]; }
  /** TCP's numbers in a packet in words; of another packet its protocol. */
  words(packet) {
    const tcp = this.segments[packet];
    if (!tcp) return this.flows[this.flowOf[packet]].name.split(" ")[0];
    const [sequence, acknowledgement, window, data, flags] = tcp;
    return `${flags}, sequence ${sequence}${acknowledgement === null ? "" : `, acknowledges ${acknowledgement}`}, window ${window}, ${data} bytes of data`;
  }
}

export class Ladder extends Board {
  constructor(run, player) {
    super(run, player, `Packets between ${run.places.map((it) => it.name).join(", ")} over time`);
    this.still = element("canvas", {}); this.stillPen = this.still.getContext("2d");
    this.element.style.height = `${TOP + APART * (run.places.length - 1) + TOP}px`;
  }
  recolour() { this.stillOf = ""; this.draw(); }
  fit() {
    super.fit();
    this.stillOf = "";
    this.pen.font = NAME;
    this.left = 2 * MARGIN + Math.min(WIDEST * this.width, Math.max(...this.run.places.map((it) => this.pen.measureText(it.name).width)));
  }
  x(time) { const [from, to] = this.player.view; return this.left + (time - from) / (to - from) * (this.width - this.left - RIGHT); }
  y(place) { return TOP + APART * place; }
  /** The ends of a packet's line. One that a single place has seen is a stub on the sides where other places may be. */
  line(packet) {
    const { run } = this, path = run.paths[packet], back = run.isBack[packet];
    if (path.some((it) => it.place !== path[0].place)) return path.map((it) => [this.x(it.time), this.y(it.place)]);
    const [{ place, time }] = path, alone = run.places.length === 1, x = this.x(time), y = this.y(place);
    const up = [x, y - (alone || place > 0 ? STUB : 0)], down = [x, y + (alone || place < run.places.length - 1 ? STUB : 0)];
    const [begin, end] = back ? [down, up] : [up, down];
    return [[begin[0] - (begin[1] === y ? 0 : 4), begin[1]], [end[0] + (end[1] === y ? 0 : 4), end[1]]];
  }
  draw() {
    const { pen, run, player } = this;
    if (!this.width) { if (this.element.clientWidth) this.resize(); return; }  // it may be hidden
    const chosen = player.chosen.get(run), of = JSON.stringify([player.view, [...player.hidden], chosen]);
    if (of !== this.stillOf) { this.stillOf = of; this.packets(chosen); this.keep(); }
    pen.clearRect(0, 0, this.width, this.height);
    pen.drawImage(this.still, 0, 0, this.width, this.height);
    if (this.drawn.length <= SPARSE) for (const { packet, line } of this.drawn) this.moving(packet, line);
    this.cursor();
  }
  /** Keep what is drawn: only the cursor and the dots change as time goes on. */
  keep() {
    this.still.width = this.canvas.width; this.still.height = this.canvas.height;
    this.stillPen.drawImage(this.canvas, 0, 0);
  }
  packets(chosen) {
    const { pen, run, player } = this;
    pen.clearRect(0, 0, this.width, this.height);
    pen.textBaseline = "middle";
    const [first, behind] = run.within(...player.view), shown = [];
    for (let packet = first; packet < behind; packet++) if (player.shows(run, packet)) shown.push(packet);
    const byColour = new Map(), sparse = shown.length <= SPARSE;
    this.drawn = shown.map((packet) => {
      const line = this.line(packet), colour = player.colour(run, packet);
      if (!byColour.has(colour)) byColour.set(colour, []);
      byColour.get(colour).push(line);
      return { packet, line };
    });
    pen.lineWidth = sparse ? 1.6 : 1; pen.globalAlpha = sparse ? 1 : 0.6;
    for (const [colour, lines] of byColour) this.strokes(lines, colour, sparse);
    pen.globalAlpha = 1;
    for (const { packet, line } of this.drawn) {
      if (packet === chosen) { pen.lineWidth = 4; this.strokes([line], ink(CHOSEN), true); }
      if (run.signOf.has(packet)) this.sign(line, run.signOf.get(packet)[0]);
    }
    this.axes();
    if (sparse) this.numbers();
  }
  strokes(lines, colour, hasHeads) {
    const { pen } = this;
    pen.strokeStyle = pen.fillStyle = colour;
    pen.beginPath();
    for (const [[x, y], ...rest] of lines) { pen.moveTo(x, y); for (const point of rest) pen.lineTo(...point); }
    pen.stroke();
    if (!hasHeads) return;
    pen.beginPath();
    for (const line of lines) {
      const [[x0, y0], [x, y]] = line.slice(-2), angle = Math.atan2(y - y0, x - x0);
      pen.moveTo(x, y);
      for (const side of [-0.4, 0.4]) pen.lineTo(x - 9 * Math.cos(angle + side), y - 9 * Math.sin(angle + side));
      pen.closePath();
    }
    pen.fill();
  }
  /** A ring at a packet that tells of a loss, a cross where another place did not see it. */
  sign(line, kind) {
    const { pen } = this, [x, y] = kind === "unseen" ? line.at(-1) : line[0];
    pen.strokeStyle = ink(LOSS); pen.lineWidth = 2;
    pen.beginPath();
    if (kind === "unseen") { pen.moveTo(x - 5, y - 5); pen.lineTo(x + 5, y + 5); pen.moveTo(x + 5, y - 5); pen.lineTo(x - 5, y + 5); } else pen.arc(x, y, 5, 0, 7);
    pen.stroke();
  }
  /** A dot where a packet is at this moment. */
  moving(packet, line) {
    const { pen, run, player } = this, path = run.paths[packet], at = path.findIndex((it) => it.time > player.time);
    if (at < 1 || line.length !== path.length) return;
    const share = (player.time - path[at - 1].time) / (path[at].time - path[at - 1].time), [[x0, y0], [x1, y1]] = [line[at - 1], line[at]];
    pen.fillStyle = player.colour(run, packet); pen.strokeStyle = ink(GROUND); pen.lineWidth = 1;
    pen.beginPath(); pen.arc(x0 + (x1 - x0) * share, y0 + (y1 - y0) * share, 5, 0, 7); pen.fill(); pen.stroke();
  }
  axes() {
    const { pen, run } = this;
    pen.clearRect(0, 0, this.left - MARGIN, this.height);
    run.places.forEach((place, n) => {
      pen.strokeStyle = ink(EDGE); pen.lineWidth = 2;
      pen.beginPath(); pen.moveTo(this.left, this.y(n)); pen.lineTo(this.width - RIGHT, this.y(n)); pen.stroke();
      pen.font = NAME; pen.fillStyle = ink(INK);
      pen.fillText(place.name, MARGIN, this.y(n), this.left - 2 * MARGIN);
    });
  }
  cursor() {
    const { pen } = this, x = this.x(this.player.time);
    if (x < this.left - 1 || x > this.width - RIGHT + 1) return;
    pen.strokeStyle = getComputedStyle(this.element).getPropertyValue("--cursor"); pen.lineWidth = 2;
    pen.beginPath(); pen.moveTo(x, 4); pen.lineTo(x, this.height - 4); pen.stroke();
  }
  /** The numbers of packets, where there is room. */
  numbers() {
    const right = new Map();
    this.pen.font = "11px system-ui, sans-serif"; this.pen.textAlign = "center";
    for (const { packet, line } of this.drawn) {
      const [x, y] = line[0], isAbove = !this.run.isBack[packet], row = `${y} ${isAbove}`, words = `${packet + 1}`, half = 4 * words.length + 2;
      if (x - half < (right.get(row) ?? this.left - 6) || x > this.width) continue;
      right.set(row, x + half);
      this.write(words, x, y + (isAbove ? -9 : 10));
    }
    this.pen.textAlign = "left";
  }
  apart({ line }, [x, y]) {
    let least = Infinity;
    for (let n = 1; n < line.length; n++) {
      const [[x0, y0], [x1, y1]] = [line[n - 1], line[n]], long = Math.hypot(x1 - x0, y1 - y0) || 1;
      const share = Math.max(0, Math.min(1, ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / long ** 2));
      least = Math.min(least, Math.hypot(x0 + share * (x1 - x0) - x, y0 + share * (y1 - y0) - y));
    }
    return least;
  }
}
