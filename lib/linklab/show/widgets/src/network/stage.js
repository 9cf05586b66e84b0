/* The drawing of the network and what moves on it. */

import { element } from "../elements.js";
import { CHOSEN, EDGE, GROUND, INK, LOSS, UNDER_WAY, ink, pictureOf } from "../scheme.js";
import { lastUpTo } from "./run.js";

const LANE = 6, THICK = 8, BAR_SHARE = 0.42;  // pixels beside the cable, pixels, share of the cable
const NEAR = 14;  // so many pixels beside a packet a click still means it

/** The network's picture, and over it a canvas with packets that can be clicked. */
export class Stage {
  constructor(run, player) {
    this.run = run; this.player = player; this.drawn = [];
    this.picture = element("img", { alt: run.words });
    this.canvas = element("canvas", { role: "img", ariaLabel: `Packets on the network of ${run.label}; the list below says the same in words` });
    this.element = element("div", { className: "stage" }, this.picture, this.canvas);
    // never higher than leaves room for the curves
    this.element.style.maxWidth = `min(${run.size[0] * 96}px, max(420px, ${53 * run.size[0] / run.size[1]}vh))`;
    this.canvas.addEventListener("click", (event) => this.click(event));
    new ResizeObserver(() => this.resize()).observe(this.element);
  }
  resize() {
    this.fit();
    this.draw();
  }
  /** Give the canvas the size of its element, and a pen. */
  fit() {
    const { clientWidth, clientHeight } = this.element, ratio = window.devicePixelRatio || 1;
    this.canvas.width = clientWidth * ratio; this.canvas.height = clientHeight * ratio;
    this.pen = this.canvas.getContext("2d");
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.width = clientWidth; this.height = clientHeight;
  }
  /** Write words that can be read on lines, too. */
  write(words, x, y) {
    const { pen } = this;
    pen.textBaseline = "middle"; pen.lineWidth = 3; pen.strokeStyle = ink(GROUND); pen.fillStyle = ink(INK);
    pen.strokeText(words, x, y); pen.fillText(words, x, y);
  }
  click(event) {
    const box = this.canvas.getBoundingClientRect(), point = [event.clientX - box.left, event.clientY - box.top];
    let best = null, least = NEAR;
    for (const it of this.drawn) {
      const apart = this.apart(it, point);
      if (apart < least) { least = apart; best = it; }
    }
    if (best) this.player.choose(this.run, best.packet);
  }
  async recolour() {
    this.picture.src = await pictureOf(this.run.picture);
    this.draw();
  }
  lane(port) {
    const [x0, y0, x1, y1] = port.line;
    const from = [x0 * this.width, y0 * this.height], to = [x1 * this.width, y1 * this.height];
    const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
    const along = [(to[0] - from[0]) / length, (to[1] - from[1]) / length], beside = [-along[1], along[0]];
    return { length, along, beside, at: (far, off) => [from[0] + along[0] * far + beside[0] * off, from[1] + along[1] * far + beside[1] * off] };
  }
  draw() {
    const { pen, run, player } = this;
    if (!pen) { if (this.element.clientWidth) this.resize(); return; }
    pen.clearRect(0, 0, this.width, this.height);
    this.drawn = [];
    for (const port of run.busy) this.drawPort(port, player.time);
    const linger = Math.max(2e6, 0.4e9 * player.speed);
    for (let n = lastUpTo(player.lossTimes.get(run), player.time); n >= 0; n--) {
      const loss = run.losses[n], age = player.time - loss.time;
      if (age > linger) break;
      if (loss.port.line && player.shows(run, loss.packet)) this.drawLoss(loss, age / linger);
    }
  }
  drawPort(port, time) {
    const { pen, run, player } = this, lane = this.lane(port), room = Math.max(10, lane.length * BAR_SHARE);
    const waiting = [], moving = [];
    for (const [i, isUnderWay] of run.inside(port, time)) (isUnderWay ? moving : waiting).push(i);
    const limit = port.limit || Math.max(waiting.length, 50), step = room / limit;
    // the queue: its frame, then a slice for each packet, the oldest next to the cable
    const angle = Math.atan2(lane.along[1], lane.along[0]), start = lane.at(0, LANE + THICK / 2);
    pen.save();
    pen.translate(start[0], start[1]); pen.rotate(angle);
    if (waiting.length || moving.length) {
      pen.fillStyle = `${ink(GROUND)}d9`; pen.strokeStyle = ink(EDGE); pen.lineWidth = 1;
      pen.fillRect(0, -THICK / 2, room, THICK);
      // netem's limit counts those under way, too: they fill the bar in grey
      pen.fillStyle = ink(UNDER_WAY);
      pen.fillRect(room - Math.min(limit, waiting.length + moving.length) * step, -THICK / 2, Math.min(limit, moving.length) * step, THICK);
      pen.strokeRect(0, -THICK / 2, room, THICK);
    }
    waiting.forEach((i, place) => {
      const packet = port.packet[i];
      if (!player.shows(run, packet)) return;
      pen.fillStyle = packet === player.chosen.get(run) ? ink(CHOSEN) : player.colour(run, packet);
      pen.fillRect(room - (place + 1) * step, -THICK / 2 + 0.5, Math.max(step - (step > 3 ? 0.7 : 0), 0.6), THICK - 1);
    });
    pen.restore();
    waiting.forEach((i, place) => this.drawn.push({ port, i, at: lane.at(room - (place + 0.5) * step, LANE + THICK / 2), packet: port.packet[i] }));
    if (waiting.length) {
      const held = waiting.length + moving.length, [x, y] = lane.at(room / 2, LANE + THICK + 9);
      pen.font = "bold 11px system-ui, sans-serif"; pen.textAlign = "center";
      const whole = run.countOf(port, held), words = pen.measureText(whole).width < lane.length ? whole : held;  // on a phone
      this.write(words, x, y);
    }
    for (const i of moving) {
      const packet = port.packet[i];
      if (!player.shows(run, packet)) continue;
      const share = port.delay_ns ? 1 - (port.left[i] - time) / port.delay_ns : 1;
      const at = lane.at(room + (lane.length - room) * Math.max(0, Math.min(1, share)), LANE);
      this.drawPacket(packet, at, angle);
      this.drawn.push({ port, i, at, packet });
    }
  }
  drawPacket(packet, [x, y], angle) {
    const { pen, run, player } = this, isLarge = run.lengthOf[packet] > 200;
    pen.save();
    pen.translate(x, y); pen.rotate(angle);
    pen.fillStyle = player.colour(run, packet); pen.strokeStyle = ink(GROUND); pen.lineWidth = 1;
    pen.beginPath();
    if (isLarge) pen.rect(-5, -3.5, 10, 7); else pen.arc(0, 0, 2.6, 0, 7);
    pen.fill(); pen.stroke();
    if (packet === player.chosen.get(run)) { pen.strokeStyle = ink(CHOSEN); pen.lineWidth = 3; pen.beginPath(); pen.arc(0, 0, 9, 0, 7); pen.stroke(); }
    pen.restore();
  }
  drawLoss(loss, age) {
    const { pen, player, run } = this, lane = this.lane(loss.port);
    const isQueue = run.isDropped(loss.port, loss.i), far = isQueue ? 0 : lane.length;
    const at = lane.at(far, LANE + THICK + 8 + 26 * age);
    pen.save();
    pen.globalAlpha = 1 - 0.7 * age;
    pen.translate(at[0], at[1]);
    pen.strokeStyle = ink(LOSS); pen.lineWidth = 3;
    pen.beginPath(); pen.moveTo(-6, -6); pen.lineTo(6, 6); pen.moveTo(6, -6); pen.lineTo(-6, 6); pen.stroke();
    if (loss.packet === player.chosen.get(run)) { pen.strokeStyle = ink(CHOSEN); pen.beginPath(); pen.arc(0, 0, 11, 0, 7); pen.stroke(); }
    pen.restore();
    this.drawn.push({ port: loss.port, i: loss.i, at, packet: loss.packet });
  }
  apart({ at }, [x, y]) { return Math.hypot(at[0] - x, at[1] - y); }
}
