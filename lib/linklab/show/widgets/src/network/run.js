/* A network, and what happened in it where it was recorded: what columns.py packs is unpacked here. */

import { seconds } from "../elements.js";

export async function unpacked(base64) {
  const packed = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

/** Numbers of which only the steps were kept. */
export function summed(steps) {
  const numbers = Float64Array.from(steps);
  for (let i = 1; i < numbers.length; i++) numbers[i] += numbers[i - 1];
  return numbers;
}

const SPANS = 4; // at most so many times of a full queue are said
const ETHERNET_BYTES = 14; // of a frame are its header

const hexDigit = (code) => (code < 58 ? code - 48 : code - 87);
/** A byte of a text of hexadecimal digits. */
const hexByte = (text, at) => 16 * hexDigit(text.charCodeAt(2 * at)) + hexDigit(text.charCodeAt(2 * at + 1));

/** The place of the last number that is not above a limit; -1 where all are. The numbers rise. */
export function lastUpTo(numbers, limit) {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The value that holds at a time, of values at rising times; null before the first. */
export const valueAt = (times, values) => (time) => {
  const at = lastUpTo(times, time);
  return at < 0 ? null : values[at];
};

export class Run {
  constructor(about) {
    Object.assign(
      this,
      {
        label: "",
        packets: 0,
        length_ns: 0,
        flows: [],
        ports: [],
        tcp: [],
        pings: [],
        varying: [],
        notes: [],
        events: [],
      },
      about,
    );
    this.events = this.events.map(([time, kind, where, what, why, packet]) => ({
      time,
      kind,
      where,
      what,
      why,
      packet,
    }));
    const healed = (cut) =>
      this.events.find((it) => it.kind === "healed" && it.where === cut.where && it.time >= cut.time)?.time ??
      this.length_ns;
    this.cuts = this.events.filter((it) => it.kind === "cut").map((it) => [it.time, healed(it), it.where]);
    for (const it of this.cables) it.between = [it.nodes.join("-"), it.nodes.toReversed().join("-")];
    this.kinds = this.flows.map((flow) => kindOf(flow.name));
    this.flowOf = new Uint16Array(this.packets);
    this.isBack = new Uint8Array(this.packets);
    this.lengthOf = new Uint32Array(this.packets);
    this.headOf = new Array(this.packets);
    this.flows.forEach((flow, number) => flow.ways.forEach((way, back) => this.readWay(way, number, back)));
    for (const port of this.ports) this.readPort(port);
    // of a link without a rate the load is a share of what the busiest carries
    this.most_mbps = Math.max(...this.ports.map((port) => ((port.sent.bits.at(-1) || 0) / this.length_ns) * 1000));
    this.busy = this.ports.filter((port) => port.line && port.waits);
    for (const it of [...this.tcp, ...this.pings]) it.times = summed(it.times);
    for (const it of this.varying) {
      it.times = summed(it.instants_ms).map((ms) => it.begin_ns + 1e6 * ms);
      it.bits = it.times.map((_, n) => 8 * it.bytes * (n + 1));
    }
    for (const it of this.events) if (it.kind === "queue full") it.what += this.fullness(it);
    this.questions = this.events
      .filter((it) => it.kind === "rule")
      .map((it) => ({ ...it, from: this.came(this.path(it.packet), it.where, it.time) }));
    this.losses = [];
    for (const port of this.ports) {
      for (let i = 0; i < port.hops; i++)
        if (this.isLost(port, i)) this.losses.push({ port, i, time: port.left[i], packet: port.packet[i] });
    }
    this.losses.sort((one, two) => one.time - two.time);
  }
  readWay(way, number, back) {
    const packets = summed(way.packets);
    const most = Math.max(0, ...new Set(way.heads));
    packets.forEach((packet, i) => {
      this.flowOf[packet] = number;
      this.isBack[packet] = back;
      this.lengthOf[packet] = way.lengths[i];
      this.headOf[packet] = new Uint8Array(way.heads[i]);
    });
    for (let place = 0, at = 0; place < most; place++) {
      packets.forEach((packet, i) => {
        if (way.heads[i] > place) this.headOf[packet][place] = hexByte(way.bytes, at++);
      });
    }
  }
  readPort(port) {
    port.queued = summed(port.queued);
    port.left = port.queued.map((at, i) => (port.stayed[i] < 0 ? Infinity : at + port.stayed[i]));
    port.packet = Int32Array.from(summed(port.packet));
    port.note = Uint16Array.from(port.note);
    // until when any of the packets up to here is in the queue: who looks back stops there
    port.until = Float64Array.from(port.left);
    for (let i = 1; i < port.hops; i++) if (port.until[i - 1] > port.until[i]) port.until[i] = port.until[i - 1];
    port.waits = false;
    for (let i = 0; i < port.hops && !port.waits; i++) port.waits = port.left[i] > port.queued[i];
    port.leaving = Float64Array.from(port.left).sort();
    const sent = [...port.left.keys()]
      .filter((i) => port.left[i] !== Infinity && !this.isDropped(port, i))
      .sort((one, two) => port.left[one] - port.left[two]);
    let bits = 0;
    port.sent = {
      times: sent.map((i) => port.left[i]),
      bits: sent.map((i) => (bits += 8 * this.lengthOf[port.packet[i]])),
    };
  }
  /** The name of a packet's flow, by which runs and colours know it. */
  kind(packet) {
    return this.kinds[this.flowOf[packet]];
  }
  noteOf(port, i) {
    return port.note[i] > 0 ? this.notes[port.note[i] - 1][0] : "";
  }
  isDropped(port, i) {
    return this.noteOf(port, i) === "dropped";
  }
  /** Whether its way ended here: in the queue, on the cable, or at the node behind it. */
  isLost(port, i) {
    return ["dropped", "lost"].includes(this.noteOf(port, i));
  }
  /** How many packets a queue holds at a time, those on netem's link among them. */
  held(port, time) {
    return lastUpTo(port.queued, time) - lastUpTo(port.leaving, time);
  }
  /** When a queue with a limit was full, from when to when: meanwhile it may have been so many packets short of it. */
  full(port, short) {
    const spans = [];
    const times = Float64Array.of(...port.queued, ...port.leaving).sort();
    let span = null;
    let isFull = false;
    let entered = 0;
    let gone = 0;
    for (const time of times) {
      if (time === Infinity) break;
      while (port.queued[entered] <= time) entered++;
      while (port.leaving[gone] <= time) gone++;
      const wasFull = isFull;
      const missing = port.limit - entered + gone;
      isFull = missing <= 0;
      if (isFull && !span) spans.push((span = [time, 0]));
      if (isFull) span[1] = this.length_ns;
      else if (wasFull) span[1] = time;
      if (missing > short) span = null;
    }
    return spans;
  }
  /** What to add to an event of a full queue: from when to when it was so, until the next such event. */
  fullness({ time, where }) {
    const port = this.ports.find((it) => it.name === where);
    if (!port?.limit) return "";
    const short = Math.max(1, Math.floor(port.limit / 10));
    port.spans ??= this.full(port, short);
    const next =
      this.events.find((it) => it.kind === "queue full" && it.where === where && it.time > time)?.time ?? Infinity;
    const spans = port.spans.filter(([from, to]) => to > time && from < next);
    const more = spans.length - SPANS;
    const words = spans
      .slice(0, SPANS)
      .map(([from, to]) => `from ${seconds(from)} to ${seconds(to)}`)
      .join(", and ");
    return (
      words &&
      ` It is full, or up to ${short} short of it, ${words}${more > 0 ? `, and ${more} times more until ${seconds(spans.at(-1)[1])}` : ""}.`
    );
  }
  /** From when to when the packet of an event is there; the event's own time is within. */
  during({ time, packet }) {
    const path = this.path(packet);
    return [
      Math.min(time, ...path.map(({ port, i }) => port.queued[i])),
      Math.max(time, ...path.map(({ port, i }) => port.left[i])),
    ];
  }
  /** The rate in Mbit/s around a time of what has bits in all at rising times; nothing before and after a recording. */
  rate({ times, bits }, time, half, from = 0, to = this.length_ns) {
    const begin = Math.max(from, time - half);
    const end = Math.min(to, time + half);
    const until = valueAt(times, bits);
    return end > begin ? ((until(end) - until(begin)) / (end - begin)) * 1000 : null;
  }
  /** The rate in Mbit/s at which a port sends around a time. */
  mbps(port, time) {
    return this.rate(port.sent, time, Math.min(5e7, this.length_ns / 20));
  }
  /** The IP packets that a port let onto its link: when, and all their bits until then. */
  onLink({ sent, delay_ns }) {
    return {
      times: sent.times.map((at) => at - delay_ns),
      bits: sent.bits.map((bits, n) => bits - 8 * ETHERNET_BYTES * (n + 1)),
    };
  }
  /** How many packets a queue holds, as the drawing and the words say it: those on the link count against the limit. */
  countOf(port, held) {
    return port.limit ? `${held} of ${port.limit}` : `${held}`;
  }
  /** What is in a queue at a time, the oldest first: [place among the hops, whether it is under way on the cable]. */
  inside(port, time) {
    const found = [];
    for (let i = lastUpTo(port.queued, time); i >= 0 && port.until[i] > time; i--) {
      if (port.left[i] > time) found.push([i, !this.isDropped(port, i) && time >= port.left[i] - port.delay_ns]);
    }
    return found.reverse();
  }
  /** Of each flow with a hundred kilobit and more: when its packets left their last interface, if none lost or kept them,
      and all its bits until then. */
  arrivals() {
    const last = new Float64Array(this.packets).fill(-1);
    const stayed = new Set();
    const found = new Map();
    for (const port of this.ports)
      port.packet.forEach((packet, i) => {
        if (port.left[i] === Infinity || this.isLost(port, i)) stayed.add(packet);
        else if (port.left[i] > last[packet]) last[packet] = port.left[i];
      });
    const order = [...last.keys()]
      .filter((packet) => last[packet] >= 0 && !stayed.has(packet) && !this.isBack[packet])
      .sort((one, two) => last[one] - last[two]);
    for (const packet of order) {
      const name = this.kind(packet);
      const it = found.get(name) || { name, times: [], bits: [] };
      it.times.push(last[packet]);
      it.bits.push((it.bits.at(-1) || 0) + 8 * this.lengthOf[packet]);
      found.set(name, it);
    }
    return [...found.values()].filter((it) => it.bits.at(-1) >= 1e5);
  }
  /** The places of the cables that are cut at a time. */
  cutAt(time) {
    const cut = this.cuts.filter(([from, to]) => from <= time && time < to).map((it) => it[2]);
    return new Set(
      this.cables.flatMap(({ nodes, between }, n) =>
        [...nodes, ...between].some((it) => cut.includes(it)) ? [n] : [],
      ),
    );
  }
  /** The place of the cable that has this name as an event has it, or an end at this interface. */
  cableOf(name) {
    const found = this.cables.findIndex(({ ends, between }) => [...ends, ...between].includes(name));
    return found < 0 ? undefined : found;
  }
  /** Whether an event's place is a node, one of its interfaces, or a cable of it. */
  isAt(where, node) {
    return (
      where === node ||
      this.ports.some((port) => port.name === where && port.node === node) ||
      this.cables.some(({ nodes, between }) => nodes.includes(node) && between.includes(where))
    );
  }
  /** The thing of the picture that an event's place is: a node, or the cable of an interface. */
  thingAt(where) {
    return this.nodes[where] ? { node: where } : { cable: this.cableOf(where) };
  }
  linkName(n) {
    const { name, ends } = this.cables[n];
    return `${name}${name ? ", " : ""}${ends.join(" to ")}`;
  }
  /** What a port sent until a time, and how many packets were lost in its queue or behind it. */
  until(port, time) {
    const { times, bits } = port.sent;
    const n = lastUpTo(times, time);
    return {
      packets: n + 1,
      bytes: (bits[n] || 0) / 8,
      lost: this.losses.filter((it) => it.port === port && it.time <= time).length,
    };
  }
  /** When a packet on this path last came to a node, until a time. */
  came(path, node, time) {
    const it = path.findLast(({ port, i }) => port.to === node && port.left[i] <= time);
    return it?.port.left[it.i];
  }
  path(packet) {
    const found = [];
    for (const port of this.ports)
      for (let i = port.packet.indexOf(packet); i >= 0; i = port.packet.indexOf(packet, i + 1)) found.push({ port, i });
    // at one instant a packet passes several interfaces: where it waits, or is dropped, it stays
    const key = ({ port, i }) => [port.queued[i], port.left[i], Number(this.isDropped(port, i))];
    return found.sort((one, two) => {
      const [a, b] = [key(one), key(two)];
      return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
    });
  }
}

/** A flow's name without ports, by which runs and colours know it: "TCP h1 to h4". */
export function kindOf(name) {
  return name.replace(/:\d+(?= |$)/g, "");
}
