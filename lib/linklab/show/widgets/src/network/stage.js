/* The network: its drawing, and over it a canvas with queues and packets. All sizes are pixels of the drawing, which zoom
   with it. Zoom and pan are forty lines here: d3-zoom would bring four packages, and its own idea of the wheel. */

import { element } from "../elements.js";
import { CHOSEN, EDGE, GROUND, INK, LOSS, UNDER_WAY, ink } from "../scheme.js";
import { lastUpTo } from "./run.js";

const OFF = 10; // a queue's bar from its cable
const THICK = 13; // the bar across
const BAR_SHARE = 0.42; // of its cable, along
const LONG = 18; // length of a large packet
const SMALL = 4; // radius of a small packet
const WIDE = 11; // both across
const LARGEST = 1.8; // times the drawing's own size, where there is room
const CLOSEST = 10; // times that, by zooming
const HIGH = 0.75; // of the window's height
const TALLEST = 1.2; // of the window's height, where labels need it
const LEGIBLE = 0.8; // below this size labels are left out, and names alone are shown
const NEAR = 16; // so many pixels of the screen beside a thing a click still means it
const LOAD = 12; // width of a link that carries all it can
const FULL = 0.9; // shares of its rate from which a link is full or busy, as in svg.py
const BUSY = 0.5;
const DENSE = 2; // packets with less room than so many pixels of the screen are not drawn
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const GLOW_S = 0.25; // so long a cable that takes no time shows who has just passed it

/** Signs of what moves on the drawing, and what they mean; drawn as its methods draw them. */
const MOVING = [
  [
    '<rect class="flow" x="6" y="5" width="16" height="10"/><circle class="flow" cx="31" cy="10" r="4"/>',
    "packet of more than 200 bytes, and a smaller one, in its flow's colour",
  ],
  [
    '<rect class="frame" x="2" y="4" width="36" height="12"/><rect class="flow" x="22" y="4" width="16" height="12"/>',
    "queue of an interface, as long as its limit, and who waits in it",
  ],
  [
    '<rect class="grey" x="22" y="4" width="16" height="12"/><rect class="flow" x="12" y="4" width="10" height="12"/><rect class="frame" x="2" y="4" width="36" height="12"/>',
    "grey: those on the link already, whom the limit counts, too",
  ],
  [
    '<rect class="flow" x="2" y="4" width="36" height="12"/><rect class="frame red" x="2" y="4" width="36" height="12" stroke-width="2"/>',
    "red frame: the queue is full",
  ],
  ...[
    ["load", 5, "what a cable carries: the wider, the more of its rate"],
    ["busy", 8, "it carries more than half of its rate"],
    ["full", 12, "it carries nine tenths and more: busy, not broken"],
  ].map(([name, wide, text]) => [
    `<line class="load ${name}" x1="2" y1="10" x2="38" y2="10" stroke-width="${wide}"/>`,
    text,
  ]),
  ['<path class="red" d="M13 3l14 14m0 -14l-14 14" stroke-width="4"/>', "cross beside a cable: a packet is lost"],
  [
    '<path class="red" d="M2 10h11m14 0h11" stroke-width="3" stroke-dasharray="3 5"/><path class="red" d="M14 17l5 -14m2 14l5 -14" stroke-width="3"/>',
    "two strokes across a dotted cable: it is cut",
  ],
];

/** Both ends of a line of the drawing: x, y, x and y. */
const ends = (line) => ["x1", "y1", "x2", "y2"].map((it) => +line.getAttribute(it));

export class Stage {
  constructor(run, shown) {
    this.run = run;
    this.shown = shown;
    this.drawn = [];
    this.zoomed = 1;
    this.named = new Set();
    [this.width, this.height] = run.size;
    this.middle = [this.width / 2, this.height / 2];
    this.holder = element("div", { className: "view", innerHTML: run.svg });
    this.svg = this.holder.firstElementChild;
    this.svg.setAttribute("role", "group");
    this.svg.setAttribute("aria-label", run.words.split("\n")[0]);
    // where the drawing is small, names are written larger
    for (const name of this.svg.querySelectorAll(".node text, .linklab-net > text")) name.removeAttribute("textLength");
    // a label's ground goes with the label
    const texts = [...this.svg.querySelectorAll(".label text")].map((it) =>
      ["x", "y"].map((name) => +it.getAttribute(name)),
    );
    for (const it of this.svg.querySelectorAll("polygon")) {
      const [a, b, c] = it.points;
      const isBox = a.x === b.x || a.y === b.y; // a band along a slanted cable is none
      if (isBox && texts.some(([x, y]) => (x - a.x) * (x - c.x) < 0 && (y - a.y) * (y - c.y) < 0))
        it.classList.add("label");
    }
    this.cables = run.cables.map((_, n) => this.svg.querySelector(`g[data-cable="${n}"]`));
    const said = (n) =>
      [...new Set(run.cables[n].rows.map(([, ...row]) => row.filter(Boolean).join(", ")))].join("; back ");
    this.cables.forEach((it, n) =>
      this.touchable(it, `Link ${run.linkName(n)}: ${said(n)}${it.querySelector(".unseen") ? ", not recorded" : ""}`, {
        cable: n,
      }),
    );
    this.loads = new Map([...this.svg.querySelectorAll("[data-load]")].map((it) => [it.dataset.load, it]));
    this.asks = new Map(
      [...this.svg.querySelectorAll("[data-asks]")].map((it) => [it.dataset.asks, ends(it.firstChild)]),
    );
    this.nodes = [...this.svg.querySelectorAll("[data-node]")];
    for (const it of this.nodes) {
      const { node } = it.dataset;
      const { kind, interfaces } = run.nodes[node];
      const has = interfaces.filter(([, addresses]) => addresses !== "no address");
      this.touchable(it, [node, kind, ...has.map(([name, addresses]) => `${name} ${addresses}`)].join(", "), { node });
    }
    // nodes and links have it in their names
    for (const it of this.svg.querySelectorAll(".label, .legend")) it.ariaHidden = "true";
    this.things = [...this.nodes, ...this.cables];
    this.stop(this.nodes.find((it) => run.nodes[it.dataset.node].kind === "router") || this.things[0]);
    this.canvas = element("canvas", { ariaHidden: "true" });
    this.holder.append(this.canvas);
    this.element = element("div", { className: "stage" }, this.holder, this.signs());
    this.holder.addEventListener("click", (event) => this.click(event));
    this.holder.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.metaKey) return; // the page scrolls; a pinch comes as a wheel with Ctrl
        event.preventDefault();
        this.zoom(Math.exp(-event.deltaY / 200), this.place(event));
      },
      { passive: false },
    );
    this.holder.addEventListener("pointerdown", (event) => {
      this.from = [event.clientX, event.clientY];
      this.moved = false;
    });
    this.holder.addEventListener("pointermove", (event) => this.pan(event));
    const point = (cable) => {
      if (this.pointed !== cable) {
        this.pointed = cable;
        this.draw();
      }
    };
    this.holder.addEventListener("pointermove", (event) => {
      if (!event.buttons) point(this.cableAt(event));
    });
    this.holder.addEventListener("pointerleave", () => point(undefined));
    this.holder.addEventListener("focusin", ({ target }) => point(target.dataset.cable && +target.dataset.cable));
    this.holder.addEventListener("focusout", () => point(undefined));
    new ResizeObserver(() => this.resize()).observe(this.element);
  }
  /** What the signs mean: those of the drawing, and those of what moves on it. */
  signs() {
    const drawn = [...this.svg.querySelectorAll(".legend > g")]
      .filter((it) => !it.querySelector("[data-load]"))
      .map((it) => [
        [...it.children]
          .slice(0, -1)
          .map((sign) => sign.outerHTML)
          .join(""),
        it.lastChild.textContent,
      ]);
    const both = ({ target }) => {
      for (const it of this.shown.stages) it.element.lastChild.open = target.open;
    }; // so that two runs stay level
    return element(
      "details",
      { className: "signs", open: !this.run.ports.length, ontoggle: both },
      element("summary", {}, "What the signs mean"),
      ...[...drawn, ...(this.run.ports.length ? MOVING : [])].map(([sign, text]) =>
        element("div", {
          innerHTML: `<svg class="linklab-net" viewBox="0 -2 40 24" width="40" height="24" aria-hidden="true">${sign}</svg><span>${text}</span>`,
        }),
      ),
    );
  }
  touchable(part, label, what) {
    for (const [name, value] of [
      ["role", "button"],
      ["aria-label", label],
    ])
      part.setAttribute(name, value);
    part.addEventListener("focus", () => this.stop(part));
    part.addEventListener("keydown", (event) => {
      const way = ARROWS[event.key];
      const next = way && this.beside(part, way);
      if (event.key === "Enter") this.shown.choose(this.run, what);
      if (!way) return;
      event.preventDefault();
      event.stopPropagation();
      next?.focus();
    });
  }
  /** Tab comes to one thing of the network, that which had the focus last; arrows go on from there. */
  stop(part) {
    for (const it of this.things) it.setAttribute("tabindex", it === part ? 0 : -1);
  }
  /** The nearest node or link in a direction. */
  beside(part, [right, down]) {
    const middle = (it) => {
      const box = it.getBoundingClientRect();
      return [box.left + box.width / 2, box.top + box.height / 2];
    };
    const [x, y] = middle(part);
    return this.things
      .map((it) => {
        const [to_x, to_y] = middle(it);
        const ahead = (to_x - x) * right + (to_y - y) * down;
        const aside = Math.abs((to_x - x) * down) + Math.abs((to_y - y) * right);
        return [ahead > 1 && ahead >= aside ? ahead + 2 * aside : Infinity, it];
      })
      .filter(([far]) => far < Infinity)
      .sort(([one], [two]) => one - two)[0]?.[1];
  }
  /** Write the names of these interfaces where labels are left out. */
  name(names) {
    this.named = names;
    this.draw();
  }

  resize() {
    const wide = this.element.clientWidth;
    if (!wide) return;
    const most = document.fullscreenElement ? 2 * LARGEST : LARGEST;
    // what is legible as wide as the page may be a little higher than the window
    const least =
      LEGIBLE * this.height <= Math.min(TALLEST * window.innerHeight, (this.height * wide) / this.width)
        ? LEGIBLE * this.height
        : 0;
    const high = Math.min(this.height * Math.min(most, wide / this.width), Math.max(least, HIGH * window.innerHeight));
    const ratio = window.devicePixelRatio || 1;
    this.holder.style.height = `${high}px`;
    this.canvas.width = wide * ratio;
    this.canvas.height = high * ratio;
    this.ratio = ratio;
    this.whole = Math.min(wide / this.width, high / this.height);
    this.pen = this.canvas.getContext("2d");
    this.boxes = this.nodes.map((it) => it.querySelector(".shape").getBBox());
    this.look();
    this.shown.level();
  }
  /** Show the drawing as it is zoomed, and what moves on it. */
  look() {
    if (!this.pen) return;
    const { clientWidth: wide, clientHeight: high } = this.holder;
    if (!wide) {
      this.draw();
      return;
    } // JupyterLab hides it for a moment while it changes its theme
    this.scale = this.whole * this.zoomed;
    this.middle = [
      [wide, this.width],
      [high, this.height],
    ].map(([seen, all], axis) => {
      const half = seen / this.scale / 2;
      return 2 * half >= all ? all / 2 : Math.min(all - half, Math.max(half, this.middle[axis]));
    });
    this.corner = [this.middle[0] - wide / this.scale / 2, this.middle[1] - high / this.scale / 2];
    this.svg.setAttribute("viewBox", [...this.corner, wide / this.scale, high / this.scale].join(" "));
    this.holder.style.setProperty("--scale", this.scale);
    this.holder.style.setProperty("--larger", Math.max(1, 11 / 15.3 / this.scale));
    this.holder.classList.toggle("from-afar", this.scale < LEGIBLE);
    this.holder.classList.toggle("zoomed", this.zoomed > 1);
    this.draw();
  }
  zoom(factor, at = this.middle) {
    const before = this.zoomed;
    this.zoomed = Math.min(CLOSEST, Math.max(1, before * factor));
    this.middle = at.map((it, axis) => it + ((this.middle[axis] - it) * before) / this.zoomed);
    this.look();
  }
  pan(event) {
    if (!event.buttons || this.zoomed === 1 || !this.from) return;
    const [x, y] = this.from;
    this.moved ||= Math.hypot(event.clientX - x, event.clientY - y) > 4;
    if (!this.moved) return;
    this.middle = [
      this.middle[0] - (event.clientX - x) / this.scale,
      this.middle[1] - (event.clientY - y) / this.scale,
    ];
    this.from = [event.clientX, event.clientY];
    this.look();
  }
  /** The place of the drawing below the pointer. */
  place(event) {
    const box = this.holder.getBoundingClientRect();
    return [
      this.corner[0] + (event.clientX - box.left) / this.scale,
      this.corner[1] + (event.clientY - box.top) / this.scale,
    ];
  }
  click(event) {
    if (this.moved) return;
    const [x, y] = this.place(event);
    const { run, shown } = this;
    const packet = this.nearest(this.drawn, ({ at }) => Math.hypot(at[0] - x, at[1] - y));
    if (packet) {
      shown.choose(run, { packet: packet.packet });
      return;
    }
    const near = this.nearest(this.nodes, (it) => {
      const box = it.getBBox();
      return Math.hypot(box.x + box.width / 2 - x, box.y + box.height / 2 - y);
    });
    const { node } = (event.target.closest("[data-node]") || near)?.dataset || {};
    if (node) {
      shown.choose(run, { node });
      return;
    }
    const cable = this.cableAt(event);
    if (cable !== undefined) shown.choose(run, { cable });
  }
  nearest(things, apart) {
    return things
      .map((it) => [apart(it), it])
      .filter(([far]) => far < NEAR / this.scale)
      .sort((one, two) => one[0] - two[0])[0]?.[1];
  }
  /** The place of the cable that is meant by the pointer. */
  cableAt(event) {
    const { cable, port, node } = event.target.closest("[data-node], [data-cable], [data-port]")?.dataset || {};
    const { run } = this;
    if (cable || port || node) return cable ? +cable : port && run.cableOf(port);
    const [x, y] = this.place(event);
    return this.nearest(
      run.cables.map((_, n) => n),
      (n) => this.fromCable(n, x, y),
    );
  }
  fromCable(n, x, y) {
    const [x1, y1, x2, y2] = ends(this.cables[n].querySelector("line"));
    const share = Math.max(
      0,
      Math.min(1, ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / ((x2 - x1) ** 2 + (y2 - y1) ** 2 || 1)),
    );
    return Math.hypot(x - x1 - share * (x2 - x1), y - y1 - share * (y2 - y1));
  }

  lane(port) {
    const [x0, y0, x1, y1] = port.line;
    const length = Math.hypot(x1 - x0, y1 - y0) || 1;
    const along = [(x1 - x0) / length, (y1 - y0) / length];
    const beside = [-along[1], along[0]];
    return {
      length,
      angle: Math.atan2(along[1], along[0]),
      at: (far, off) => [x0 + along[0] * far + beside[0] * off, y0 + along[1] * far + beside[1] * off],
    };
  }
  draw() {
    const { pen, run, shown } = this;
    if (!pen) return;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    const size = this.ratio * this.scale;
    pen.setTransform(size, 0, 0, size, -this.corner[0] * size, -this.corner[1] * size);
    this.unit = Math.max(1, 0.75 / this.scale); // on a phone packets are no smaller than can be seen
    this.drawn = [];
    this.numbers = [];
    const down = run.cutAt(shown.time);
    const chosen = shown.chosen.get(run) || {};
    const mark = (it, isChosen) => {
      if (it.ariaPressed !== `${isChosen}`) {
        it.ariaPressed = isChosen;
        it.classList.toggle("chosen", isChosen);
      }
    };
    this.cables.forEach((it, n) => {
      it.classList.toggle("cut", down.has(n));
      mark(it, chosen.cable === n);
    });
    for (const it of this.nodes) mark(it, chosen.node === it.dataset.node);
    for (const port of run.ports)
      if (port.line) {
        this.drawLoad(port, shown.time);
        if (port.waits) this.drawPort(port, shown.time);
        else this.drawPassing(port, shown.time);
      }
    for (const it of run.questions)
      if (it.from <= shown.time && shown.time <= it.time && shown.shows(run, it.packet))
        this.drawQuestion(it, (shown.time - it.from) / (it.time - it.from));
    this.cables.forEach((it, n) => {
      if (down.has(n)) this.gap(it.querySelector("line"));
    });
    const isNamed = (port) => this.scale < LEGIBLE && this.named.has(port.name);
    for (const port of run.ports)
      if (port.line && isNamed(port) && !this.numbers.some(([it]) => it === port))
        this.numbers.push([port, "", this.lane(port)]);
    for (const [port, words, lane] of this.numbers)
      this.write(
        [isNamed(port) && port.name, port.waits && run.countOf(port, run.held(port, shown.time)), words]
          .filter(Boolean)
          .join(", "),
        lane,
      );
    const linger = Math.max(2e6, 0.4e9 * shown.speed);
    const crossed = new Set(); // the last loss at each interface: of a burst the crosses would cover each other
    for (let n = lastUpTo(shown.lossTimes.get(run), shown.time); n >= 0; n--) {
      const loss = run.losses[n];
      const age = shown.time - loss.time;
      if (age > linger) break;
      if (!loss.port.line || crossed.has(loss.port) || !shown.shows(run, loss.packet)) continue;
      crossed.add(loss.port);
      this.drawLoss(loss, age / linger);
    }
  }
  /** A gap in a cut cable, between two strokes: no cross, which is a loss. */
  gap(line) {
    const { pen, unit } = this;
    const [x1, y1, x2, y2] = ends(line);
    const arm = 10 * unit;
    pen.save();
    pen.translate((x1 + x2) / 2, (y1 + y2) / 2);
    pen.rotate(Math.atan2(y2 - y1, x2 - x1));
    pen.fillStyle = ink(GROUND);
    pen.fillRect(-6 * unit, -arm, 12 * unit, 2 * arm);
    pen.strokeStyle = ink(LOSS);
    pen.lineWidth = 3.5 * unit;
    pen.beginPath();
    for (const at of [-6 * unit, 6 * unit]) {
      pen.moveTo(at - 0.35 * arm, arm);
      pen.lineTo(at + 0.35 * arm, -arm);
    }
    pen.stroke();
    pen.restore();
  }
  /** What a link carries around a time, as the width and the colour of a line on the side on which its packets go. */
  drawLoad(port, time) {
    const line = this.loads.get(port.name);
    const cable = this.run.cableOf(port.name);
    const mbps = this.run.cutAt(time).has(cable) ? 0 : this.run.mbps(port, time);
    const share = port.rate_mbps ? Math.min(1, mbps / port.rate_mbps) : Math.min(BUSY, mbps / (2 * this.run.most_mbps));
    const wide = share && Math.max(1.5, LOAD * share).toFixed(1);
    const words = `${mbps.toFixed(1)} Mbit/s`;
    const lane = this.lane(port);
    if ([this.pointed, this.shown.chosen.get(this.run)?.cable].includes(cable)) this.numbers.push([port, words, lane]);
    if (!line || line.getAttribute("stroke-width") === `${wide}`) return;
    const [[x1, y1], [x2, y2]] = [lane.at(0, wide / 2), lane.at(lane.length, wide / 2)];
    for (const [name, value] of Object.entries({ x1, y1, x2, y2, "stroke-width": wide }))
      line.setAttribute(name, value);
    line.classList.toggle("full", share >= FULL);
    line.classList.toggle("busy", share > BUSY && share < FULL);
  }
  /** A cable that takes no time: it glows in the colour of the flow that has just passed. */
  drawPassing(port, time) {
    const i = lastUpTo(port.queued, time);
    const age = (time - port.queued[i]) / Math.max(2e6, GLOW_S * 1e9 * this.shown.speed);
    if (i < 0 || age > 1 || !this.shown.shows(this.run, port.packet[i])) return;
    const { pen } = this;
    const lane = this.lane(port);
    pen.save();
    pen.globalAlpha = 0.8 * (1 - age);
    pen.strokeStyle = this.colour(port.packet[i]);
    pen.lineWidth = 5 * this.unit;
    pen.lineCap = "round";
    pen.beginPath();
    pen.moveTo(...lane.at(0, 5));
    pen.lineTo(...lane.at(lane.length, 5));
    pen.stroke();
    pen.restore();
    this.drawn.push({ at: lane.at(lane.length / 2, 5), packet: port.packet[i] });
  }
  colour(packet) {
    return packet === this.shown.chosen.get(this.run)?.packet ? ink(CHOSEN) : this.shown.colour(this.run, packet);
  }
  drawPort(port, time) {
    const { pen, run, shown, unit } = this;
    const lane = this.lane(port);
    const room = lane.length * BAR_SHARE;
    const thick = THICK * unit;
    const waiting = [];
    const moving = [];
    for (const [i, isUnderWay] of run.inside(port, time)) (isUnderWay ? moving : waiting).push(i);
    if (!waiting.length && !moving.length) return;
    const limit = port.limit || Math.max(waiting.length + moving.length, 50);
    const step = room / Math.max(limit, port.longest);
    const frame = port.limit ? limit * step : room;
    const gone = Math.min(limit, moving.length);
    const isFull = waiting.length + moving.length >= limit;
    // the queue: its frame, then a slice for each packet, the oldest next to the cable
    pen.save();
    pen.translate(...lane.at(0, OFF * unit));
    pen.rotate(lane.angle);
    pen.fillStyle = ink(GROUND);
    pen.fillRect(room - frame, -thick / 2, frame, thick);
    // netem's limit counts those under way, too: they fill the bar in grey, before those that wait
    pen.fillStyle = ink(UNDER_WAY);
    pen.fillRect(room - gone * step, -thick / 2, gone * step, thick);
    waiting.forEach((i, place) => {
      if (!shown.shows(run, port.packet[i])) return;
      pen.fillStyle = this.colour(port.packet[i]);
      pen.fillRect(room - (gone + place + 1) * step, -thick / 2, Math.max(step - (step > 3 ? 0.8 : 0), 0.5), thick);
    });
    if (isFull && port.limit && !this.numbers.some(([it]) => it === port)) this.numbers.push([port, "", lane]);
    pen.strokeStyle = ink(isFull ? LOSS : EDGE);
    pen.lineWidth = isFull ? 2 : 1;
    pen.strokeRect(room - frame, -thick / 2, frame, thick);
    pen.restore();
    waiting.forEach((i, place) => {
      this.drawn.push({ at: lane.at(room - (gone + place + 0.5) * step, OFF * unit), packet: port.packet[i] });
      this.ring(this.drawn.at(-1));
    });
    // packets that are close together become slices, so that a full link is a thick line
    if (((lane.length - room) / moving.length) * this.scale < DENSE) return;
    const long = Math.max(1.5, Math.min(LONG * unit, (0.85 * (lane.length - room)) / moving.length));
    for (const i of moving) {
      const packet = port.packet[i];
      if (!shown.shows(run, packet)) continue;
      const share = port.delay_ns ? 1 - (port.left[i] - time) / port.delay_ns : 1;
      const at = lane.at(room + (lane.length - room) * Math.max(0, Math.min(1, share)), OFF * unit);
      this.drawPacket(packet, at, lane.angle, long);
      this.drawn.push({ at, packet });
    }
  }
  /** A packet about which a switch asks its controller: it goes there in half the time that the answer takes, and back. */
  drawQuestion({ where, packet }, share) {
    const lane = this.lane({ line: this.asks.get(where) });
    const at = lane.at(lane.length * (1 - Math.abs(1 - 2 * share)), 0);
    this.drawPacket(packet, at, lane.angle, LONG * this.unit);
    this.drawn.push({ at, packet });
  }
  /** Write the numbers of a direction beside it. */
  write(words, lane) {
    const { pen } = this;
    const high = Math.max(11, 11 / this.scale);
    pen.font = `bold ${high}px system-ui, sans-serif`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    const { width } = pen.measureText(words);
    const aside = (Math.abs(Math.sin(lane.angle)) * width) / 2;
    const isShort = lane.length - width < 30 * this.unit; // the cable: at its end a cross may be
    const off = (OFF + THICK * (isShort ? 2.5 : 0.5)) * this.unit + 0.6 * high + aside;
    const covered = ([x, y]) =>
      this.boxes.filter(
        (it) =>
          Math.abs(x - it.x - it.width / 2) < (width + it.width) / 2 &&
          Math.abs(y - it.y - it.height / 2) < (1.2 * high + it.height) / 2,
      ).length;
    const places = [
      [0, 1],
      [-0.3, 1],
      [0.3, 1],
      [0, -1],
      [-0.3, -1],
      [0.3, -1],
    ].map(([shift, side]) => lane.at(lane.length / 2 + shift * width, side * off));
    // where it covers the fewest nodes
    const [x, y] = places.reduce((best, it) => (covered(it) < covered(best) ? it : best));
    pen.fillStyle = ink(GROUND);
    pen.fillRect(x - width / 2 - 3, y - 0.6 * high, width + 6, 1.2 * high);
    pen.fillStyle = ink(INK);
    pen.fillText(words, x, y);
  }
  drawPacket(packet, [x, y], angle, long) {
    const { pen, run, unit } = this;
    pen.save();
    pen.translate(x, y);
    pen.rotate(angle);
    pen.fillStyle = this.colour(packet);
    pen.strokeStyle = ink(GROUND);
    pen.lineWidth = 1;
    pen.beginPath();
    if (run.lengthOf[packet] > 200) pen.rect(-long / 2, (-WIDE * unit) / 2, long, WIDE * unit);
    else pen.arc(0, 0, Math.min(SMALL * unit, long), 0, 7);
    pen.fill();
    if (long > 4) pen.stroke();
    pen.restore();
    this.ring({ at: [x, y], packet });
  }
  /** A ring around the packet that is chosen. */
  ring({ at, packet }) {
    const { pen } = this;
    if (packet !== this.shown.chosen.get(this.run)?.packet) return;
    pen.strokeStyle = ink(CHOSEN);
    pen.lineWidth = 3;
    pen.beginPath();
    pen.arc(...at, 15 * this.unit, 0, 7);
    pen.stroke();
  }
  drawLoss(loss, age) {
    const { pen, run, unit } = this;
    const lane = this.lane(loss.port);
    const arm = 8 * unit;
    const at = lane.at(run.isDropped(loss.port, loss.i) ? 0 : lane.length, (OFF + THICK + 26 * age) * unit);
    pen.save();
    pen.globalAlpha = 1 - 0.7 * age;
    pen.translate(...at);
    pen.strokeStyle = ink(LOSS);
    pen.lineWidth = 4 * unit;
    pen.beginPath();
    pen.moveTo(-arm, -arm);
    pen.lineTo(arm, arm);
    pen.moveTo(arm, -arm);
    pen.lineTo(-arm, arm);
    pen.stroke();
    pen.restore();
    this.ring({ at, packet: loss.packet });
    this.drawn.push({ at, packet: loss.packet });
  }
}
