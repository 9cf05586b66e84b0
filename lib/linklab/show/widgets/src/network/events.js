/* What happened, as a table that can be filtered; a click goes there. */

import { button, element, seconds } from "../elements.js";

/** Kinds of which many in a row of one flow, at one place and for one reason, are one row. */
const FOLDED = ["loss", "retransmission", "rule"];
const reason = ({ why }) => why.replace(/\d[\d,.]*( packets?)?/g, "");
const ROWS = 12; // of the table at a time: those around the moment that is shown, so that nothing scrolls in itself

export class Events {
  constructor(run, shown) {
    this.run = run;
    this.shown = shown;
    this.kind = "";
    this.where = "";
    const choice = (all, name, values, label) =>
      element(
        "select",
        {
          ariaLabel: label,
          onchange: (event) => {
            this[name] = event.target.value;
            this.list();
            this.shown.remark();
          },
        },
        element("option", { value: "" }, all),
        ...values.map((it) => element("option", { value: it }, it)),
      );
    this.filter = choice("All events", "kind", [...new Set(run.events.map((it) => it.kind))].sort(), "Kind of events");
    const places = [...new Set(run.events.map((it) => it.where))].sort();
    this.turns = [
      [-ROWS, "Earlier rows"],
      [ROWS, "Later rows"],
    ].map(([by, text]) => button(text, `${text} of the table`, () => this.list(by)));
    this.count = element("span", { role: "status" });
    this.table = element("div", { className: "rows" });
    this.element = element(
      "details",
      { className: "events", open: true },
      element("summary", {}, element("h2", {}, "Events")),
      element(
        "div",
        { className: "in-a-row" },
        this.filter,
        choice("Everywhere", "where", places, "Place of events"),
        this.count,
        ...this.turns,
      ),
      this.table,
    );
  }
  /** Those that the filters and the flows shown let through. */
  get open() {
    const { run, shown } = this;
    return run.events.filter(
      (it) =>
        (!this.kind || it.kind === this.kind) &&
        (!this.where || it.where === this.where) &&
        (it.packet === null || shown.shows(run, it.packet)),
    );
  }
  /** The rows of the table, each with its events. */
  get lines() {
    const lines = [];
    for (const it of this.open) {
      const before = lines.at(-1)?.[0];
      if (before && this.isAlike(before, it)) lines.at(-1).push(it);
      else lines.push([it]);
    }
    return lines;
  }
  isAlike(one, two) {
    const { flowOf, isBack } = this.run;
    const isOne = (of) => of[one.packet] === of[two.packet];
    return (
      FOLDED.includes(one.kind) &&
      one.kind === two.kind &&
      one.where === two.where &&
      isOne(flowOf) &&
      isOne(isBack) &&
      reason(one) === reason(two)
    );
  }
  /** The next event or the one before, from a time and the event chosen last. */
  next(way, time, kind) {
    const open = this.open.filter((it) => !kind || it.kind === kind);
    const here = this.last && this.last.time === time ? open.indexOf(this.last) : -1;
    if (here >= 0) return open[here + way];
    return way > 0 ? open.find((it) => it.time >= time) : open.findLast((it) => it.time < time);
  }
  go(event) {
    const { run, shown } = this;
    this.last = event;
    shown.go(event.time, true);
    // of the other run the same place is shown, at the same time
    for (const it of shown.runs)
      shown.choose(
        it,
        it === run && event.packet !== null
          ? { packet: event.packet, during: run.during(event) }
          : it.thingAt(event.where),
      );
    shown.say(`${seconds(event.time)}, ${shown.nameOf(run)}${event.where}: ${event.what} ${event.why}`);
    shown.list();
  }
  /** Write the rows around the moment that is shown, or so many rows after those that stand there. */
  list(by = 0) {
    if (!this.element.isConnected) return;
    const hasFocus = this.table.contains(document.activeElement);
    const { lines, last } = this;
    const { time } = this.shown;
    const at =
      last && last.time === time
        ? lines.findIndex((it) => it.includes(last))
        : lines.findLastIndex(([it]) => it.time <= time);
    const from = (this.from = Math.max(0, Math.min(by ? this.from + by : at - ((ROWS / 3) | 0), lines.length - ROWS)));
    const rows = lines.slice(from, from + ROWS);
    const count = lines.flat().length;
    this.count.textContent = `${count || "No"} event${count === 1 ? "" : "s"}${lines.length < count ? ` in ${lines.length} rows` : ""}${rows.length < lines.length ? `; rows ${from + 1} to ${from + rows.length}` : ""}`;
    for (const it of this.turns) it.hidden = rows.length === lines.length;
    const cell = (it) => element("td", {}, it);
    this.table.replaceChildren(
      element(
        "table",
        { ariaLabel: "Events" },
        element(
          "thead",
          {},
          element("tr", {}, ...["Time", "Where", "What", "Why"].map((it) => element("th", { scope: "col" }, it))),
        ),
        element(
          "tbody",
          {},
          ...rows.map(([it, ...more], n) => {
            const go = (to) =>
              button(
                seconds(to.time),
                `Go to ${seconds(to.time)}: ${to.what}`,
                () => {
                  this.go(to);
                  this.shown.see(this.run);
                },
                "",
              );
            const rest = more.length ? [` ${more.length} more until `, go(more.at(-1)), "."] : [];
            const row = element(
              "tr",
              { className: it.kind === "loss" ? "loss" : "" },
              cell(go(it)),
              cell(it.where),
              element("td", {}, it.what, ...rest),
              cell(it.why),
            );
            if (from + n === at) row.setAttribute("aria-current", "true");
            return row;
          }),
        ),
      ),
    );
    const chosen = [...this.table.querySelectorAll("[aria-current] button")];
    if (hasFocus) (chosen.find((it) => it.textContent === seconds(time)) || chosen[0])?.focus({ preventScroll: true });
  }
}
