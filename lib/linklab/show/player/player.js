/* The player of a recorded measurement. Its data is what columns.py writes: a text of JSON with columns of numbers. */
(() => {
"use strict";

// Okabe and Ito's palette ("Color Universal Design", 2008), as in Linklab's other figures, dark enough for lines.
const COLOURS = ["#0067ad", "#d55e00", "#007a59", "#a8477f", "#7a4b00", "#3b1152", "#4d4d4d"];
const DASHES = [[], [8, 3], [3, 2], [8, 3, 2, 3], [2, 2], [12, 4], []];
const LOSS = "#c00000";
const CHOSEN = "#a66c00";
const GROUND = "#ffffff", INK = "#1a1a1a", GRID = "#dddddd", EDGE = "#595959", UNDER_WAY = "#cccccc";
const LANE = 6, THICK = 8, BAR_SHARE = 0.42;  // pixels beside the cable, pixels, share of the cable
const CHART_HIGH = 118;                        // pixels: three of them fit below the network
const POINTS = 700;                            // of a curve on the screen
const SPEEDS = [[1, "as it was"], [0.1, "10 times slower"], [0.01, "100 times slower"], [0.001, "1000 times slower"]];

// ---- Colours: those above are for a light page; a dark one turns light into dark and keeps the hue

const dark = matchMedia("(prefers-color-scheme: dark)");
/** What CSS calls invert(1) hue-rotate(180deg), of the three bytes at a place (Filter Effects, section 9.6). */
function turn(bytes, at) {
  const [red, green, blue] = [0, 1, 2].map((part) => 255 - bytes[at + part]), both = 0.426 * red + 1.43 * green + 0.144 * blue;
  bytes[at] = both - red; bytes[at + 1] = both - green; bytes[at + 2] = both - blue;
}
const turnedInks = new Map([[LOSS, "#ff6666"]]);  // a red that is as light would be pink
/** A colour of the light page as the page has it now. */
function ink(colour) {
  if (!dark.matches) return colour;
  if (!turnedInks.has(colour)) {
    const bytes = Uint8ClampedArray.from([1, 3, 5], (at) => parseInt(colour.slice(at, at + 2), 16));
    turn(bytes, 0);
    turnedInks.set(colour, `#${[...bytes].map((it) => it.toString(16).padStart(2, "0")).join("")}`);
  }
  return turnedInks.get(colour);
}
/** A picture on white as one for a dark page. */
async function turnedPicture(source) {
  const image = element("img", { src: source });
  await image.decode();
  const canvas = element("canvas", { width: image.naturalWidth, height: image.naturalHeight }), pen = canvas.getContext("2d");
  pen.drawImage(image, 0, 0);
  const pixels = pen.getImageData(0, 0, canvas.width, canvas.height);
  for (let at = 0; at < pixels.data.length; at += 4) turn(pixels.data, at);
  pen.putImageData(pixels, 0, 0);
  return canvas.toDataURL();
}

// ---- Data

async function unpacked(base64) {
  const packed = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

/** Numbers of which only the steps were kept. */
function summed(steps) {
  const numbers = Float64Array.from(steps);
  for (let i = 1; i < numbers.length; i++) numbers[i] += numbers[i - 1];
  return numbers;
}

const hexDigit = (code) => code < 58 ? code - 48 : code - 87;
/** A byte of a text of hexadecimal digits. */
const hexByte = (text, at) => 16 * hexDigit(text.charCodeAt(2 * at)) + hexDigit(text.charCodeAt(2 * at + 1));

/** The place of the last number that is not above a limit; -1 where all are. The numbers rise. */
function lastUpTo(numbers, limit) {
  let low = 0, high = numbers.length;
  while (low < high) { const middle = (low + high) >> 1; if (numbers[middle] <= limit) low = middle + 1; else high = middle; }
  return low - 1;
}

class Run {
  constructor(about) {
    Object.assign(this, about);
    this.flowOf = new Uint16Array(this.packets);
    this.isBack = new Uint8Array(this.packets);
    this.lengthOf = new Uint32Array(this.packets);
    this.headOf = new Array(this.packets);
    this.flows.forEach((flow, number) => flow.ways.forEach((way, back) => this.readWay(way, number, back)));
    for (const port of this.ports) this.readPort(port);
    this.busy = this.ports.filter((port) => port.line && port.waits);
    for (const it of [...this.tcp, ...this.pings]) it.times = summed(it.times);
    this.losses = [];
    for (const port of this.ports) {
      for (let i = 0; i < port.hops; i++) {
        const note = port.note[i] && this.notes[port.note[i] - 1][0];
        if (note === "dropped" || note === "lost") this.losses.push({ port, i, time: this.endOf(port, i), packet: port.packet[i] });
      }
    }
    this.losses.sort((one, two) => one.time - two.time);
  }
  readWay(way, number, back) {
    const packets = summed(way.packets), most = Math.max(0, ...new Set(way.heads));
    packets.forEach((packet, i) => {
      this.flowOf[packet] = number; this.isBack[packet] = back; this.lengthOf[packet] = way.lengths[i];
      this.headOf[packet] = new Uint8Array(way.heads[i]);
    });
    for (let place = 0, at = 0; place < most; place++) {
      packets.forEach((packet, i) => { if (way.heads[i] > place) this.headOf[packet][place] = hexByte(way.bytes, at++); });
    }
  }
  readPort(port) {
    port.queued = summed(port.queued);
    port.left = port.queued.map((at, i) => port.stayed[i] < 0 ? Infinity : at + port.stayed[i]);
    port.packet = Int32Array.from(summed(port.packet));
    port.note = Uint16Array.from(port.note);
    // until when any of the packets up to here is in the queue: who looks back stops there
    port.until = Float64Array.from(port.left);
    for (let i = 1; i < port.hops; i++) if (port.until[i - 1] > port.until[i]) port.until[i] = port.until[i - 1];
    port.waits = false;
    for (let i = 0; i < port.hops && !port.waits; i++) port.waits = port.left[i] > port.queued[i];
    port.leaving = Float64Array.from(port.left).sort();
  }
  isDropped(port, i) { return port.note[i] > 0 && this.notes[port.note[i] - 1][0] === "dropped"; }
  /** When a loss is to be seen: where it was dropped, or at the end of the cable. */
  endOf(port, i) { return port.left[i]; }
  /** How many packets a queue holds at a time, those under way on netem's link among them. */
  held(port, time) { return lastUpTo(port.queued, time) - lastUpTo(port.leaving, time); }
  /** What is in a queue at a time, the oldest first: [place among the hops, whether it is under way on the cable]. */
  inside(port, time) {
    const found = [];
    for (let i = lastUpTo(port.queued, time); i >= 0 && port.until[i] > time; i--) {
      if (port.left[i] > time) found.push([i, !this.isDropped(port, i) && time >= port.left[i] - port.delay_ns]);
    }
    return found.reverse();
  }
  path(packet) {
    const found = [];
    for (const port of this.ports) for (let i = port.packet.indexOf(packet); i >= 0; i = port.packet.indexOf(packet, i + 1)) found.push({ port, i });
    // at one instant a packet passes several interfaces: where it waits, or is dropped, it stays
    const key = ({ port, i }) => [port.queued[i], port.left[i], Number(this.isDropped(port, i))];
    return found.sort((one, two) => { const [a, b] = [key(one), key(two)]; return a[0] - b[0] || a[1] - b[1] || a[2] - b[2]; });
  }
}

// ---- Headers in words

const byte2 = (head, at) => head[at] << 8 | head[at + 1];
const byte4 = (head, at) => byte2(head, at) * 65536 + byte2(head, at + 2);
const mac = (head, at) => [...head.subarray(at, at + 6)].map((it) => it.toString(16).padStart(2, "0")).join(":");
const ip = (head, at) => [...head.subarray(at, at + 4)].join(".");
const FLAGS = ["FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"];
const ECN = ["not ECN-capable", "ECT(1)", "ECT(0)", "CE: congestion experienced"];
const ICMP = { 0: "echo reply", 3: "destination unreachable", 8: "echo request", 11: "time exceeded" };

function headers(head, length) {
  const rows = [["Frame", `${length} bytes`]];
  if (head.length < 14) return rows;
  let at = 12, kind = byte2(head, at);
  rows.push(["Ethernet", `${mac(head, 6)} to ${mac(head, 0)}`]);
  while (kind === 0x8100) { rows.push(["VLAN", `${byte2(head, at + 2) & 0xfff}`]); at += 4; kind = byte2(head, at); }
  at += 2;
  if (kind !== 0x0800) { rows.push(["Type", kind === 0x0806 ? "ARP" : `0x${kind.toString(16)}`]); return rows; }
  if (head.length < at + 20) return rows;
  const size = (head[at] & 15) * 4, total = byte2(head, at + 2), data = at + size;
  rows.push(["IPv4", `${ip(head, at + 12)} to ${ip(head, at + 16)}, ${total} bytes, identification ${byte2(head, at + 4)}, TTL ${head[at + 8]}${head[at + 6] & 0x40 ? ", don't fragment" : ""}`]);
  rows.push(["DSCP, ECN", `${head[at + 1] >> 2}, ${ECN[head[at + 1] & 3]}`]);
  const protocol = head[at + 9], part = byte2(head, at + 6), offset = 8 * (part & 0x1fff);
  if (part & 0x3fff) rows.push(["Fragment", `from byte ${offset}${part & 0x2000 ? ", more follow" : ", the last"}`]);
  if (offset) rows.push(["Protocol", `${protocol}`]);
  else if (protocol === 6 && head.length >= data + 20) {
    const own = (head[data + 12] >> 4) * 4;
    rows.push(["TCP", `port ${byte2(head, data)} to ${byte2(head, data + 2)}, ${total - size - own} bytes of data`]);
    rows.push(["Sequence", `${byte4(head, data + 4)}`], ["Acknowledges", `${byte4(head, data + 8)}`]);
    rows.push(["Flags", FLAGS.filter((_, bit) => head[data + 13] >> bit & 1).join(" ") || "none"], ["Window", `${byte2(head, data + 14)} (before scaling)`]);
    const options = tcpOptions(head, data + 20, Math.min(data + own, head.length));
    if (options) rows.push(["Options", options]);
  } else if (protocol === 17 && head.length >= data + 8) {
    rows.push(["UDP", `port ${byte2(head, data)} to ${byte2(head, data + 2)}, ${byte2(head, data + 4) - 8} bytes of data`]);
  } else if (protocol === 1 && head.length >= data + 8) {
    rows.push(["ICMP", `${ICMP[head[data]] || `type ${head[data]}`}, identifier ${byte2(head, data + 4)}, number ${byte2(head, data + 6)}`]);
  } else rows.push(["Protocol", `${protocol}`]);
  return rows;
}

function tcpOptions(head, at, end) {
  const found = [];
  while (at < end && head[at] !== 0) {
    const kind = head[at], size = kind === 1 ? 1 : head[at + 1];
    if (!size) break;
    if (kind === 2) found.push(`MSS ${byte2(head, at + 2)}`);
    if (kind === 3) found.push(`window scale ${head[at + 2]}`);
    if (kind === 4) found.push("SACK permitted");
    if (kind === 5) for (let block = at + 2; block + 8 <= Math.min(at + size, end); block += 8) found.push(`SACK ${byte4(head, block)} to ${byte4(head, block + 4)}`);
    if (kind === 8) found.push(`timestamps ${byte4(head, at + 2)}, ${byte4(head, at + 6)}`);
    at += size;
  }
  return found.join("; ");
}

// ---- Elements

function element(name, attributes = {}, ...inside) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key in made && key !== "list") made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...inside);
  return made;
}
const button = (text, label, onclick) => element("button", { type: "button", title: label, ariaLabel: label, onclick }, text);
const seconds = (ns, digits = 6) => `${(ns / 1e9).toFixed(digits)} s`;
const milliseconds = (ns) => `${(ns / 1e6).toFixed(3)} ms`;
function table(head, rows) {
  return element("table", {}, element("thead", {}, element("tr", {}, ...head.map((it) => element("th", { scope: "col" }, it)))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((it) => element("td", {}, it))))));
}

// ---- The network and what moves on it

class Stage {
  constructor(run, player) {
    this.run = run; this.player = player; this.drawn = [];
    this.canvas = element("canvas", { role: "img", ariaLabel: `Packets on the network of ${run.label}; the list below says the same in words` });
    this.picture = element("img", { alt: run.words });
    this.element = element("div", { className: "stage" }, this.picture, this.canvas);
    // never higher than leaves room for the curves
    this.element.style.maxWidth = `min(${run.size[0] * 96}px, max(420px, ${50 * run.size[0] / run.size[1]}vh))`;
    this.canvas.addEventListener("click", (event) => this.click(event));
    new ResizeObserver(() => this.resize()).observe(this.element);
  }
  async recolour() {
    const light = `data:image/png;base64,${this.run.picture}`;
    if (dark.matches && !this.turned) this.turned = await turnedPicture(light);
    this.picture.src = dark.matches ? this.turned : light;
    this.draw();
  }
  resize() {
    const { clientWidth, clientHeight } = this.element, ratio = window.devicePixelRatio || 1;
    this.canvas.width = clientWidth * ratio; this.canvas.height = clientHeight * ratio;
    this.pen = this.canvas.getContext("2d");
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.width = clientWidth; this.height = clientHeight;
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
    if (!pen) return;
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
      const [x, y] = lane.at(room / 2, LANE + THICK + 9);
      pen.font = "bold 11px system-ui, sans-serif"; pen.textAlign = "center"; pen.textBaseline = "middle";
      pen.lineWidth = 3; pen.strokeStyle = ink(GROUND); pen.fillStyle = ink(INK);
      pen.strokeText(waiting.length, x, y); pen.fillText(waiting.length, x, y);
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
  click(event) {
    const box = this.canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    let best = null, least = 14;
    for (const it of this.drawn) {
      const apart = Math.hypot(it.at[0] - x, it.at[1] - y);
      if (apart < least) { least = apart; best = it; }
    }
    if (best) this.player.choose(this.run, best.packet);
  }
}

// ---- The curves

class Curves {
  constructor(run, player) {
    this.run = run; this.player = player;
    this.element = element("div", {});
    const queues = run.busy.filter((port) => Math.max(...this.sampled(port, 0, run.length_ns, 200)) > 1);
    // ports tell connections apart only where there are several of a kind
    const short = (it, all) => all.filter((other) => kindOf(other.name) === kindOf(it.name)).length > 1 ? it.name : kindOf(it.name);
    const tcp = run.tcp.map((it, n) => ({ ...it, ...this.styled(it, run.tcp.slice(0, n)) }));
    const pings = run.pings.map((it, n) => ({ ...it, ...this.styled(it, run.pings.slice(0, n)) }));
    const last = (times, values) => (time) => { const at = lastUpTo(times, time); return at < 0 ? null : values[at]; };
    this.parts = [
      { title: "Window and slow-start threshold (packets)", digits: 0, series: tcp.flatMap((it) => [
        { label: `cwnd, ${short(it, tcp)}`, colour: it.colour, dash: it.dash, value: last(it.times, it.cwnd) },
        { label: `ssthresh, ${short(it, tcp)}`, colour: it.colour, thin: true, value: (time) => last(it.times, it.ssthresh)(time) || null }]) },
      { title: "Queues (packets, those under way on the link included)", digits: 0, series: queues.map((port, n) => (
        { label: port.name, colour: n, dash: n, whole: (from, to) => this.sampled(port, from, to, POINTS), value: (time) => run.held(port, time) })) },
      { title: "Round-trip time (ms)", digits: 1, series: [
        ...tcp.map((it) => ({ label: `smoothed, ${short(it, tcp)}`, colour: it.colour, dash: it.dash, value: (time) => { const us = last(it.times, it.rtt)(time); return us === null ? null : us / 1000; } })),
        ...pings.map((it) => ({ label: it.name, colour: it.colour, dash: it.dash, value: (time) => { const us = last(it.times, it.rtt)(time); return us === null ? null : us / 1000; } }))] },
    ].filter((part) => part.series.length);
    new ResizeObserver(() => this.resize()).observe(this.element);
  }
  /** A curve has its flow's colour, and several of one flow have dashes of their own. */
  styled(it, before) {
    const name = kindOf(it.name).replace("ping", "ICMP"), turned = name.replace(/(\S+) to (\S+)/, "$2 to $1");
    const colour = Math.max(this.player.flowNames.indexOf(name), this.player.flowNames.indexOf(turned), 0);
    return { colour: Math.min(colour, COLOURS.length - 1), dash: colour + before.filter((other) => kindOf(other.name) === kindOf(it.name)).length };
  }
  /** The most that a queue held in each of so many equal parts of a time. */
  sampled(port, from, to, count) {
    const found = new Array(count), step = (to - from) / (count - 1);
    let entered = lastUpTo(port.queued, from - step), gone = lastUpTo(port.leaving, from - step);
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
    const [from, to] = this.player.view, step = (to - from) / (POINTS - 1);
    const times = Array.from({ length: POINTS }, (_, n) => from + n * step);
    return [times.map((ns) => ns / 1e9), ...part.series.map((it) => it.whole ? it.whole(from, to) : times.map(it.value))];
  }
  resize() {
    const width = this.element.clientWidth;
    if (!width || width === this.width) return;
    this.width = width;
    if (this.made) { for (const part of this.parts) part.plot.setSize({ width, height: CHART_HIGH }); this.mark(); return; }
    this.made = true;
    for (const part of this.parts) this.make(part, width);
    this.mark();
  }
  make(part, width) {
    const { player } = this, holder = element("div", { className: "chart", role: "img", ariaLabel: part.title });
    this.element.append(holder);
    const digits = (value) => value === null || value === undefined ? "-" : value.toFixed(part.digits);
    const options = {
      title: part.title, width, height: CHART_HIGH,
      cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false }, sync: undefined },
      legend: { live: false, markers: { width: 3 } },
      scales: { x: { time: false, range: () => player.view.map((ns) => ns / 1e9) }, y: { range: (_, __, most) => [0, Math.max(1, player.top(part.title, most)) * 1.05] } },
      axes: [{ size: 24, gap: 2, values: (_, ticks) => ticks.map((it) => `${+it.toFixed(6)} s`), stroke: ink(INK), grid: { stroke: ink(GRID), width: 1 } }, { size: 44, stroke: ink(INK), grid: { stroke: ink(GRID), width: 1 } }],
      series: [{}, ...part.series.map((it) => ({
        label: it.label, stroke: ink(COLOURS[it.colour % COLOURS.length]), width: it.thin ? 1 : 1.7, dash: it.thin ? [2, 3] : DASHES[it.dash % DASHES.length],
        points: { show: false }, value: (_, value) => digits(value) }))],
      hooks: {
        draw: [(plot) => this.drawLosses(plot)],
        setSelect: [(plot) => {
          if (plot.select.width > 5) player.look(plot.posToVal(plot.select.left, "x") * 1e9, plot.posToVal(plot.select.left + plot.select.width, "x") * 1e9);
          plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        }],
      },
    };
    part.plot = new uPlot(options, this.points(part), holder);
    part.cursor = element("div", { className: "cursor" });
    part.plot.over.append(part.cursor);
    part.plot.over.addEventListener("click", (event) => player.go(part.plot.posToVal(event.offsetX, "x") * 1e9));
    part.plot.over.addEventListener("dblclick", () => player.look(0, player.length));
  }
  drawLosses(plot) {
    const pen = plot.ctx, { left, top, width } = plot.bbox;
    pen.save(); pen.fillStyle = ink(LOSS);
    for (const loss of this.run.losses) {
      const x = plot.valToPos(loss.time / 1e9, "x", true);
      if (x >= left && x <= left + width) pen.fillRect(x - 0.5, top, 1.5, 7);
    }
    pen.restore();
  }
  /** Draws all anew: uPlot keeps the colours that it was given. */
  recolour() {
    if (!this.made) return;
    for (const part of this.parts) { part.plot.destroy(); part.plot = null; }
    this.element.replaceChildren();
    for (const part of this.parts) this.make(part, this.width);
    this.mark();
  }
  refresh() { for (const part of this.parts) if (part.plot) part.plot.setData(this.points(part)); this.mark(); }
  mark() {
    const [from, to] = this.player.view, share = (this.player.time - from) / (to - from);
    for (const part of this.parts) {
      if (!part.plot) continue;
      part.cursor.style.display = share < 0 || share > 1 ? "none" : "";
      part.cursor.style.left = `${share * 100}%`;
    }
  }
  values() {
    const { time } = this.player;
    return this.parts.flatMap((part) => part.series.map((it) => [it.label, part.title.replace(/.*\((\w+).*/, "$1"), it.value(time), part.digits]))
      .filter((row) => row[2] !== null).map(([label, unit, value, digits]) => [label, `${value.toFixed(digits)} ${unit}`]);
  }
}

// ---- All together

class Player {
  constructor(root, about, runs) {
    this.root = root; this.runs = runs; this.difference = about.difference;
    this.time = 0; this.speed = 0.01; this.playing = false;
    this.length = Math.max(...runs.map((run) => run.length_ns));
    this.view = [0, this.length];
    this.chosen = new Map();
    this.lossTimes = new Map(runs.map((run) => [run, Float64Array.from(run.losses, (loss) => loss.time)]));
    this.flowNames = [...new Set(runs.flatMap((run) => run.flows.map((flow) => kindOf(flow.name))))];
    this.hidden = new Set();
    this.colours = new Map(runs.map((run) => [run, run.flows.map((flow) => COLOURS[Math.min(this.flowNames.indexOf(kindOf(flow.name)), COLOURS.length - 1)])]));
    this.names = new Map(runs.map((run) => [run, run.flows.map((flow) => kindOf(flow.name))]));
    this.tops = new Map();
    this.build();
    this.go(0);
  }
  colour(run, packet) { return ink(this.colours.get(run)[run.flowOf[packet]]); }
  shows(run, packet) { return !this.hidden.size || !this.hidden.has(this.names.get(run)[run.flowOf[packet]]); }
  /** The highest value of a kind of curve in any run: both have one scale. */
  top(title, most) {
    const highest = Math.max(most || 0, this.tops.get(title) || 0);
    this.tops.set(title, highest);
    return highest;
  }

  build() {
    const { root } = this;
    root.replaceChildren();
    this.slider = element("input", { type: "range", min: 0, max: this.length, step: Math.max(1, Math.round(this.length / 1e6)), value: 0, ariaLabel: "Time",
      oninput: () => { this.pause(); this.go(+this.slider.value, true); } });
    this.clock = element("output", { className: "now" });
    this.playButton = button("\u25b6 Play", "Play or pause (space)", () => this.playing ? this.pause() : this.play());
    const speed = element("select", { ariaLabel: "Speed", onchange: () => { this.speed = +speed.value; } },
      ...SPEEDS.map(([value, text]) => element("option", { value, selected: value === this.speed }, text)));
    const lossless = !this.runs.some((run) => run.losses.length);
    const steps = [
      button("|\u25c0 Start", "Back to the beginning (Home)", () => this.go(0)),
      button("\u25c0 Event", "Back to the event before (,)", () => this.event(-1)),
      button("Event \u25b6", "On to the next event (.)", () => this.event(1)),
      button("\u25c0 Loss", "Back to the loss before (p)", () => this.loss(-1)),
      button("Loss \u25b6", "On to the next loss (n)", () => this.loss(1)),
    ];
    steps.slice(3).forEach((it) => { it.disabled = lossless; });
    if (this.runs.length === 2) {
      const parts = button("First packet that differs", "Go to the first packet that differs (d)", () => this.differ());
      parts.disabled = !this.difference;
      steps.push(parts);
    }
    steps.push(button("Whole time", "Show the curves from beginning to end (0)", () => this.look(0, this.length)));
    this.swatches = [];
    const flows = element("div", { className: "row flows", role: "group", ariaLabel: "Flows to show" }, ...this.flowNames.map((name, n) => {
      const box = element("input", { type: "checkbox", checked: true, onchange: () => { if (box.checked) this.hidden.delete(name); else this.hidden.add(name); this.show(); } });
      const swatch = element("span", { className: "swatch" });
      this.swatches.push([swatch, COLOURS[Math.min(n, COLOURS.length - 1)]]);
      return element("label", {}, box, swatch, name);
    }));
    this.said = element("p", { className: "said", role: "status" });
    const bar = element("div", { className: "bar" }, element("div", { className: "row" }, this.playButton, speed, this.slider, this.clock), element("div", { className: "row" }, ...steps), flows, this.said);
    this.stages = this.runs.map((run) => new Stage(run, this));
    this.curves = this.runs.map((run) => new Curves(run, this));
    this.panels = this.runs.map((run) => element("section", { className: "panel", tabIndex: -1, ariaLabel: `Packet of ${run.label}` }, element("p", {}, "Click a packet, or step to a loss, to see its headers and what became of it.")));
    this.lists = this.runs.map(() => element("div", {}));
    const columns = this.runs.map((run, n) => element("section", { ariaLabel: run.label },
      ...(this.runs.length > 1 ? [element("h2", {}, run.label)] : []),
      this.stages[n].element,
      element("div", { className: "below" }, this.curves[n].element, this.panels[n]),
      element("details", { ontoggle: () => this.list() }, element("summary", {}, "This moment in words"), this.lists[n])));
    const grid = element("div", { className: "runs" }, ...columns);
    grid.style.setProperty("--runs", this.runs.length);
    root.append(bar, grid, element("details", {}, element("summary", {}, "Keys, and what is drawn"), ...legend()));
    document.addEventListener("keydown", (event) => this.key(event));
    dark.addEventListener("change", () => this.recolour());
    this.recolour();
  }
  recolour() {
    for (const [swatch, colour] of this.swatches) swatch.style.background = ink(colour);
    for (const it of [...this.stages, ...this.curves]) it.recolour();
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const { tagName, type } = event.target, isChoice = tagName === "SELECT" || (tagName === "INPUT" && type !== "range");
    const isButton = tagName === "BUTTON" || tagName === "SUMMARY" || isChoice;
    const keys = { n: () => this.loss(1), p: () => this.loss(-1), ".": () => this.event(1), ",": () => this.event(-1), d: () => this.differ(), 0: () => this.look(0, this.length), "+": () => this.zoom(0.5), "-": () => this.zoom(2) };
    if (!isButton) keys[" "] = () => this.playing ? this.pause() : this.play();
    if (!isButton && type !== "range") Object.assign(keys, { ArrowRight: () => this.go(this.time + 1e6), ArrowLeft: () => this.go(this.time - 1e6), Home: () => this.go(0), End: () => this.go(this.length) });
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

  /** To the next or the previous moment at which a packet that is shown is queued, leaves or is dropped. */
  event(way) {
    this.pause();
    let best = way > 0 ? Infinity : -Infinity;
    for (const run of this.runs) for (const port of run.busy) for (const times of [port.queued, port.leaving]) {
      const at = lastUpTo(times, this.time);
      let next = at;
      if (way > 0) next = at + 1; else while (next >= 0 && times[next] >= this.time) next--;
      if (next < 0 || next >= times.length || times[next] === Infinity) continue;
      best = way > 0 ? Math.min(best, times[next]) : Math.max(best, times[next]);
    }
    if (Number.isFinite(best)) this.go(best); else this.say(way > 0 ? "There is no later event." : "There is no earlier event.");
  }
  loss(way) {
    this.pause();
    let best = null, owner = null;
    for (const run of this.runs) {
      const open = run.losses.filter((loss) => this.shows(run, loss.packet));
      // several may be lost at one moment: the one after or before the chosen one comes next
      const here = open.findIndex((loss) => loss.time === this.time && loss.packet === this.chosen.get(run));
      const found = way > 0 ? (here >= 0 ? open[here + 1] : open.find((loss) => loss.time > this.time || (loss.time === this.time && !this.chosen.has(run))))
        : (here >= 0 ? open[here - 1] : open.findLast((loss) => loss.time < this.time));
      if (found && (!best || (way > 0 ? found.time < best.time : found.time > best.time))) { best = found; owner = run; }
    }
    if (!best) { this.say(way > 0 ? "No packet of these flows is lost after this." : "No packet of these flows is lost before this."); return; }
    this.go(best.time);
    this.choose(owner, best.packet);
    const number = owner.losses.indexOf(best) + 1;
    this.say(`Loss ${number} of ${owner.losses.length}${this.runs.length > 1 ? ` of ${owner.label}` : ""}, at ${seconds(best.time)}: ${owner.notes[best.port.note[best.i] - 1][1]}`);
  }
  differ() {
    if (!this.difference) { this.say("No packet differs."); return; }
    this.pause();
    const { packets, at_ns: time, words } = this.difference;
    this.go(time);
    this.runs.forEach((run, n) => { if (packets[n] !== null) this.choose(run, packets[n]); });
    this.say(`The first packet that differs: ${words}.`);
  }

  choose(run, packet) {
    this.chosen.set(run, packet);
    const path = run.path(packet), flow = run.flows[run.flowOf[packet]];
    const notes = path.filter(({ port, i }) => port.note[i]).map(({ port, i }) => run.notes[port.note[i] - 1]);
    const rows = path.map(({ port, i }) => {
      const note = port.note[i] ? run.notes[port.note[i] - 1] : null, left = port.left[i], isDropped = run.isDropped(port, i);
      const ends = left === Infinity ? "still there at the end" : isDropped ? "dropped" : left === port.queued[i] ? "at once" : milliseconds(left - port.queued[i]);
      return [port.name, port.to, seconds(port.queued[i]), ends, note && !isDropped ? note[0] : "", button("go", `Go to ${seconds(port.queued[i])}, when ${port.name} queued it`, () => this.go(port.queued[i]))];
    });
    const panel = this.panels[this.runs.indexOf(run)];
    panel.replaceChildren(
      element("p", {}, element("strong", {}, `Packet ${packet + 1} of ${run.packets}`), ` \u2013 ${flow.name}, ${run.isBack[packet] ? "back" : "there"}`),
      ...notes.map(([kind, words]) => element("p", { className: "why" }, `${kind === "marked" ? "Why was it marked?" : kind === "refused" ? "What became of it?" : "Why was it dropped?"} ${words}`)),
      table(["Interface", "to", "queued at", "left after", "", ""], rows),
      element("details", { open: true }, element("summary", {}, "Headers, at its first interface"), table(["Header", ""], headers(run.headOf[packet], run.lengthOf[packet]))));
    this.show();
  }

  list() {
    if (this.playing) return;
    this.runs.forEach((run, n) => {
      const list = this.lists[n];
      if (!list.parentElement || !list.parentElement.open) return;
      const queues = run.busy.map((port) => {
        const inside = run.inside(port, this.time), waiting = inside.filter(([, isUnderWay]) => !isUnderWay).length;
        return [port.name, `to ${port.to}`, `${waiting} waiting`, `${inside.length - waiting} under way`, port.limit ? `limit ${port.limit}` : "no limit", inside];
      }).filter((row) => row[5].length);
      const packets = queues.flatMap((row) => row[5].map(([i, isUnderWay]) => ({ port: run.ports.find((it) => it.name === row[0]), i, isUnderWay }))).filter(({ port, i }) => this.shows(run, port.packet[i]));
      list.replaceChildren(
        element("p", {}, `At ${seconds(this.time)}: ${packets.length} packets of the flows shown are in queues and on links.`),
        table(["What", "now"], this.curves[n].values()),
        table(["Interface", "", "", "", ""], queues.map((row) => row.slice(0, 5))),
        element("ul", {}, ...packets.slice(0, 40).map(({ port, i, isUnderWay }) => element("li", {}, button(`packet ${port.packet[i] + 1}`, `Choose packet ${port.packet[i] + 1}`, () => this.choose(run, port.packet[i])), ` ${isUnderWay ? "on the way from" : "waits at"} ${port.name}, ${this.names.get(run)[run.flowOf[port.packet[i]]]}, ${run.lengthOf[port.packet[i]]} bytes`))),
        ...(packets.length > 40 ? [element("p", {}, `and ${packets.length - 40} more; show fewer flows to see them`)] : []));
    });
  }
}

/** A flow's name without ports, by which runs and colours know it: "TCP h1 to h4". */
function kindOf(name) { return name.replace(/:\d+/g, ""); }

function legend() {
  const key = (name, what) => element("li", {}, element("kbd", {}, name), ` ${what}`);
  return [
    element("ul", {}, key("Space", "play or pause"), key("\u2190 \u2192", "a millisecond back or on (on the slider: a step of it)"), key(", .", "the event before, the next event"), key("p n", "the loss before, the next loss"), key("d", "the first packet that differs"), key("+ -", "zoom the curves"), key("0", "the whole time"), key("Home End", "the beginning, the end")),
    element("p", {}, "A rectangle is a packet of more than 200 bytes, a dot a smaller one; its colour is its flow's. A bar beside a cable is the queue of the interface at its beginning, as long as its limit: who waits in colour, and in grey those that are on the link already and count as well. A red cross is a loss, and so is a red stroke above the curves. Drag across a curve to zoom, click to go there, double-click for all."),
    element("p", {}, "Linux's netem holds a packet for the link's delay and for its turn in one queue, and its limit counts both. Here a packet waits first, and then travels for the link's delay: it leaves the link at the instant at which it did. Links that are not shaped take no time, so nothing is to be seen on them."),
  ];
}

window.linklabReplay = (async () => {
  const root = document.getElementById("player"), begun = performance.now();
  try {
    const recorded = await unpacked(root.dataset.replay);
    const player = new Player(root, recorded, recorded.runs.map((about) => new Run(about)));
    root.dataset.ready = `${Math.round(performance.now() - begun)}`;
    return player;
  } catch (wrong) {
    root.textContent = `This replay cannot be shown: ${wrong.message}. It needs a browser of 2023 or later.`;
    throw wrong;
  }
})();
})();
