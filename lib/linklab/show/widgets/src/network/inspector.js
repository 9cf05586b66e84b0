/* What is known of the thing that was chosen: a packet, a link or a node. */

import { button, element, milliseconds, seconds, table } from "../elements.js";
import { headers } from "./headers.js";
import { valueAt } from "./run.js";

const ASKS_NS = 10_000; // a node that passes a packet on later than this kept it, as forwarding.py has it
const WHY = { marked: "Why was it marked?", refused: "What became of it?" };

/** The parts of the inspector for what was chosen of a run. */
export function inspected(run, shown, { packet, cable, node }) {
  if (packet !== undefined) return packetParts(run, shown, packet);
  if (cable !== undefined) return cableParts(run, shown, cable);
  if (node !== undefined) return nodeParts(run, shown, node);
  return [
    element(
      "p",
      {},
      run.packets
        ? "Choose a node, a link or a packet, or step to an event: what is known of it stands here."
        : "Choose a node or a link: what is known of it stands here.",
    ),
  ];
}

/** How long a packet waited at an interface, and how long it was on the link behind it; or where its way ended. */
function stay(run, port, i) {
  const all = port.left[i] - port.queued[i];
  const link = Math.min(all, port.delay_ns);
  const took = (ns, none) => (ns ? milliseconds(ns) : none);
  if (all === Infinity) return ["still there at the end", ""];
  if (run.isDropped(port, i)) return [all ? `dropped after ${milliseconds(all)}` : "dropped", ""];
  return [took(all - link, "at once"), run.isLost(port, i) ? "lost" : took(link, "no time")];
}

const heading = (words) => element("h2", {}, words);

function packetParts(run, shown, packet) {
  const path = run.path(packet);
  const flow = run.flows[run.flowOf[packet]];
  const notes = path.filter(({ port, i }) => port.note[i]).map(({ port, i }) => run.notes[port.note[i] - 1]);
  const refused = notes.filter(([kind]) => kind === "refused"); // as a switch that floods a frame makes many
  const at = (time, what) => button(seconds(time), `Go to ${seconds(time)}, when ${what}`, () => shown.go(time));
  const told = new Set(); // of a packet that a switch floods there are copies
  const rows = path.flatMap(({ port, i }, n) => {
    const queued = port.queued[i];
    const came = run.came(path.slice(0, n), port.node, queued);
    const row = [at(queued, `${port.label} queued it`), port.label, port.to, ...stay(run, port, i)];
    if (!(queued - came >= ASKS_NS) || told.has(`${port.node} ${came}`)) return [row];
    told.add(`${port.node} ${came}`);
    const isAsked = run.questions.some((it) => it.packet === packet && it.where === port.node);
    return [
      [
        at(came, `${port.node} had it`),
        isAsked ? `${port.node}'s controller` : `in ${port.node}`,
        "",
        milliseconds(queued - came),
        "",
      ],
      row,
    ];
  });
  return [
    heading(`Packet ${packet} of 0 to ${run.packets - 1}`),
    element("p", {}, `${flow.name}, ${run.isBack[packet] ? "back" : "there"}`),
    ...notes
      .filter(([kind]) => kind !== "refused" || refused.length === 1)
      .map(([kind, words]) => element("p", { className: "why" }, `${WHY[kind] || "Why was it dropped?"} ${words}`)),
    ...(refused.length > 1
      ? [
          element(
            "details",
            {},
            element("summary", {}, `${refused.length} nodes refused it without harm`),
            ...refused.map(([, words]) => element("p", {}, words)),
          ),
        ]
      : []),
    table(["Came at", "Interface", "to", "waited", "on the link"], rows),
    element(
      "details",
      { open: true },
      element("summary", {}, "Headers, at its first interface"),
      table(["Header", ""], headers(run.headOf[packet], run.lengthOf[packet], flow.name.split(" ")[0])),
    ),
  ];
}

function cableParts(run, shown, number) {
  const { rows, ends } = run.cables[number];
  const isCut = run.cutAt(shown.time).has(number);
  const queues = ends
    .map((name) => run.ports.find((port) => port.name === name))
    .filter(Boolean)
    .map((port) => {
      const inside = run.inside(port, shown.time);
      const moving = inside.filter(([, isUnderWay]) => isUnderWay).length;
      const so = run.until(port, shown.time);
      return [
        `${port.node} to ${port.to}`,
        `${inside.length - moving}`,
        `${moving}`,
        run.mbps(port, shown.time).toFixed(2),
        `${so.packets}`,
        `${(so.bytes / 1e6).toFixed(3)} MB`,
        `${so.lost}`,
      ];
    });
  return [
    heading(`Link ${run.linkName(number)}`),
    ...(isCut
      ? [element("p", { className: "why" }, "It is cut at this moment.")]
      : run.cables[number].up
        ? []
        : [element("p", { className: "why" }, "It is down.")]),
    table(["Direction", "rate", "delay", "queue", "loss"], rows),
    ...(queues.length || !run.packets ? [] : [element("p", {}, "It was not recorded.")]),
    ...(queues.length
      ? [
          heading(`At ${seconds(shown.time)}`),
          table(["Direction", "wait", "on the link", "Mbit/s", "sent", "data", "lost"], queues),
        ]
      : []),
  ];
}

function nodeParts(run, shown, name) {
  const { kind, interfaces, routes, tables } = run.nodes[name];
  const told = run.events
    .filter(
      (it) =>
        (it.packet === null || ["route", "rule"].includes(it.kind)) &&
        it.time <= shown.time &&
        run.isAt(it.where, name),
    )
    .slice(-5);
  const cut = run.cutAt(shown.time);
  const hasVlans = interfaces.some((it) => it[4]);
  const states = interfaces.map(([port, addresses, state, mtu, vlans]) => [
    port,
    addresses,
    cut.has(run.cableOf(port)) ? "cable cut" : state,
    mtu,
    ...(hasVlans ? [vlans] : []),
  ]);
  const sockets = run.tcp
    .filter((it) => it.node === name && it.times[0] <= shown.time)
    .map((it) => {
      const [cwnd, ssthresh, rtt] = [it.cwnd, it.ssthresh, it.rtt].map((values) =>
        valueAt(it.times, values)(shown.time),
      );
      return [it.name, `${cwnd}`, ssthresh ? `${ssthresh}` : "none yet", milliseconds(1000 * rtt)];
    });
  const ways = routes.map(([to, via, by]) => {
    const count = routes.filter((it) => it[0] === to).length;
    return [count > 1 ? `${to}, one of ${count} ways` : to, via, by];
  });
  return [
    heading(`${name}, ${kind}`),
    table(["Interface", "addresses", "state", "MTU", ...(hasVlans ? ["VLANs"] : [])], states),
    ...(routes.length
      ? [heading(run.packets ? "Routes, as the recording began" : "Routes"), table(["Destination", "via", "by"], ways)]
      : []),
    ...tables.flatMap(([title, head, rows]) => [
      heading(run.packets ? `${title}, as the recording ended` : title),
      table(head, rows),
    ]),
    ...(sockets.length
      ? [
          heading(`Sockets that send, at ${seconds(shown.time)}`),
          table(["Connection", "cwnd", "ssthresh", "smoothed RTT"], sockets),
        ]
      : []),
    ...(told.length
      ? [
          heading("What happened here last"),
          table(
            ["Time", "what", "why"],
            told.map((it) => [seconds(it.time), it.what, it.why]),
          ),
        ]
      : []),
  ];
}
