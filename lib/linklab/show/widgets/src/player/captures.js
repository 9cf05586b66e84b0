/* The player of captures: time, flows and keys are the player's own; what is drawn and listed is what captures know. */

import { button, element, milliseconds, seconds, table } from "../elements.js";
import { Curves } from "./curves.js";
import { headers } from "./headers.js";
import { Capture, Ladder } from "./ladder.js";
import { Player, key } from "./player.js";
import { lastUpTo, summed, valueAt } from "./run.js";

const FIRST = 40, ROWS = 25;  // packets that are seen at first, and in the list

class CaptureCurves extends Curves {
  partsOf() {
    return this.run.curves.map((part) => ({ ...part, series: part.series.map((it) => (
      { ...it, colour: this.player.colourOf(this.run.kinds[it.flow]), value: valueAt(summed(it.times), it.values) })) }));
  }
}

export class CapturePlayer extends Player {
  constructor(root, about, keys, signal) {
    const run = new Capture(about);
    super(root, {}, [run], keys, signal);
    if (run.packets > 1.5 * FIRST) this.look(0, run.times[FIRST]);
    this.lists[0].parentElement.open = true;
  }
  stageOf(run) { return new Ladder(run, this); }
  curvesOf(run) { return new CaptureCurves(run, this); }
  remarks() { return this.runs[0].says.map((words) => element("p", {}, words)); }
  guide() { return ["Each horizontal line is a place where packets were captured, and time goes to the right.", "A packet is a line from place to place, or a short arrow where one place alone has seen it. Click it, or press . (dot) for the next one.", "Press n for the next sign of a loss: a duplicate acknowledgement, a retransmission, or a packet that another place did not see."]; }
  steps(isLossless) {
    const signs = [button("\u25c0 Sign", "Back to the sign of a loss before (p)", () => this.loss(-1)), button("Sign \u25b6", "On to the next sign of a loss (n)", () => this.loss(1))];
    signs.forEach((it) => { it.disabled = isLossless; });
    return [
      button("|\u25c0 Start", "Back to the beginning, and to the first packet (Home)", () => this.begin()),
      button("\u25c0 Packet", "Back to the packet before (,)", () => this.event(-1)),
      button("Packet \u25b6", "On to the next packet (.)", () => this.event(1)),
      ...signs,
      button("Closer", "Show a shorter time (+)", () => this.zoom(0.5)),
      button("Farther", "Show a longer time (-)", () => this.zoom(2)),
    ];
  }
  look(from, to) { super.look(from, to); for (const stage of this.stages) stage.draw(); }
  noLoss(where) { return `No packet of these flows tells of a loss ${where} this.`; }
  lossWords(run, { packet }, number) { return `Sign ${number} of ${run.losses.length}, packet ${packet + 1}: ${run.signOf.get(packet)[1]}`; }
  event(way) {
    this.pause();
    const [run] = this.runs, chosen = this.chosen.get(run);
    const isHere = chosen !== undefined && run.times[chosen] === this.time, at = lastUpTo(run.times, this.time);
    let packet = isHere ? chosen + way : way > 0 ? (run.times[at] === this.time ? at : at + 1) : at;
    while (packet >= 0 && packet < run.packets && !this.shows(run, packet)) packet += way;
    if (packet < 0 || packet >= run.packets) { this.say(way > 0 ? "There is no later packet of these flows." : "There is no earlier packet of these flows."); return; }
    this.go(run.times[packet]);
    this.choose(run, packet);
  }
  choose(run, packet) {
    this.chosen.set(run, packet);
    const sign = run.signOf.get(packet), path = run.paths[packet], flow = run.flows[run.flowOf[packet]], by = run.acknowledgedBy[packet], rtt = run.rtt[packet];
    const link = (number) => button(`packet ${number}`, `Choose packet ${number}`, () => { this.go(run.times[number - 1]); this.choose(run, number - 1); });
    this.panels[0].replaceChildren(
      element("p", {}, element("strong", {}, `Packet ${packet + 1} of ${run.packets}`), ` \u2013 ${flow.name}, ${run.isBack[packet] ? "back" : "there"}`),
      ...(sign ? [element("p", { className: "why" }, sign[1])] : []),
      table(["Seen at", "", "at", "later by", "frame in its file"], path.map((it) => [run.places[it.place].name, it.name, seconds(it.time), milliseconds(it.time - path[0].time), `${it.frame}`])),
      ...(run.segments[packet] ? [element("p", {}, `${run.words(packet)}.`)] : []),
      ...(by ? [element("p", {}, "Acknowledged by ", link(by), ...rtt.map(([place, ns]) => `, after ${milliseconds(ns)} at ${run.places[place].name}`), ".")] : []),
      element("details", { open: true }, element("summary", {}, "Headers, as first seen"), table(["Header", ""], headers(run.headOf[packet], run.lengthOf[packet]))));
    this.show();
    this.list();
  }
  list() {
    const [run] = this.runs, [list] = this.lists;
    if (this.playing || !list?.parentElement?.open) return;
    const rows = [];
    for (let packet = Math.max(0, lastUpTo(run.times, this.time - 1)); packet < run.packets && rows.length < ROWS; packet++) {
      if (!this.shows(run, packet)) continue;
      const flow = run.flows[run.flowOf[packet]], [, ...ends] = flow.name.split(" "), turned = run.isBack[packet] ? ends.reverse() : ends;
      const sign = run.signOf.get(packet);
      rows.push([button(`${packet + 1}`, `Choose packet ${packet + 1}`, () => this.choose(run, packet)), seconds(run.times[packet]), run.paths[packet].map((it) => run.places[it.place].name).join(", "), turned.join(" "), `${run.lengthOf[packet]} bytes`, `${run.words(packet)}${sign ? `. ${sign[1]}` : ""}`]);
    }
    list.replaceChildren(element("div", { className: "wide", tabIndex: 0, role: "group", ariaLabel: "Packets" }, table(["No.", "Time", "Seen at", "From, to", "Frame", "What"], rows)));
  }
  legend() {
    return [
      element("ul", {}, key("Space", "play or pause"), key("\u2190 \u2192", "a millisecond back or on, with Shift 20"), key(", .", "the packet before, the next packet"), key("p n", "the sign of a loss before, the next sign"), key("P N", "the group of signs before, the next group"), key("+ -", "a shorter or a longer time"), key("0", "the whole time"), key("f", "full screen"), key("Home End", "the beginning and its first packet, the end")),
      element("p", {}, "A packet of a flow's first sender goes down, an answer up; its colour is its flow's. A red ring is a sign of a loss, a red cross a packet that another place did not see. Drag across a curve to see that time alone, click to go there, double-click for all."),
    ];
  }
}
