/* Headers of a packet in words. */

const byte2 = (head, at) => (head[at] << 8) | head[at + 1];
const byte4 = (head, at) => byte2(head, at) * 65536 + byte2(head, at + 2);
const mac = (head, at) => [...head.subarray(at, at + 6)].map((it) => it.toString(16).padStart(2, "0")).join(":");
const ip6 = (head, at) =>
  Array.from({ length: 8 }, (_, n) => byte2(head, at + 2 * n).toString(16))
    .join(":")
    .replace(/(^|:)0(:0)+(:|$)/, "::");
const ip = (head, at) => [...head.subarray(at, at + 4)].join(".");
const FLAGS = ["FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"];
const ECN = ["not ECN-capable", "ECT(1)", "ECT(0)", "CE: congestion experienced"];
const ICMP = { 0: "echo reply", 3: "destination unreachable", 8: "echo request", 11: "time exceeded" };
const OSPF = {
  1: "Hello",
  2: "Database Description",
  3: "Link State Request",
  4: "Link State Update",
  5: "Link State Acknowledgment",
};
const ICMP6 = {
  1: "destination unreachable",
  2: "packet too big",
  3: "time exceeded",
  128: "echo request",
  129: "echo reply",
  133: "router solicitation",
  134: "router advertisement",
  135: "neighbour solicitation",
  136: "neighbour advertisement",
  137: "redirect",
  143: "listener report",
};

/** The rows of a packet's headers; `name` is its protocol's, for those that are not taken apart. */
export function headers(head, length, name) {
  const rows = [["Frame", `${length} bytes`]];
  if (head.length < 14) return rows;
  let at = 12;
  let kind = byte2(head, at);
  rows.push(["Ethernet", `${mac(head, 6)} to ${mac(head, 0)}`]);
  while (kind === 0x8100) {
    rows.push(["VLAN", `${byte2(head, at + 2) & 0xfff}`]);
    at += 4;
    kind = byte2(head, at);
  }
  at += 2;
  if (kind === 0x0806 && head.length >= at + 28) {
    const asker = ip(head, at + 14);
    const asked = ip(head, at + 24);
    rows.push([
      "ARP",
      byte2(head, at + 6) === 1 ? `who has ${asked}? Tell ${asker}` : `${asker} is at ${mac(head, at + 8)}`,
    ]);
  }
  if (kind === 0x86dd && head.length >= at + 40) {
    rows.push([
      "IPv6",
      `${ip6(head, at + 8)} to ${ip6(head, at + 24)}, ${40 + byte2(head, at + 4)} bytes, hop limit ${head[at + 7]}`,
    ]);
    return [...rows, ...inside(head, head[at + 6], at + 40, byte2(head, at + 4), name)];
  }
  if (kind !== 0x0800) {
    if (kind !== 0x0806) rows.push(["Type", `0x${kind.toString(16)}`]);
    return rows;
  }
  if (head.length < at + 20) return rows;
  const size = (head[at] & 15) * 4;
  const total = byte2(head, at + 2);
  const data = at + size;
  rows.push([
    "IPv4",
    `${ip(head, at + 12)} to ${ip(head, at + 16)}, ${total} bytes, identification ${byte2(head, at + 4)}, TTL ${head[at + 8]}${head[at + 6] & 0x40 ? ", don't fragment" : ""}`,
  ]);
  rows.push(["DSCP, ECN", `${head[at + 1] >> 2}, ${ECN[head[at + 1] & 3]}`]);
  const protocol = head[at + 9];
  const part = byte2(head, at + 6);
  const offset = 8 * (part & 0x1fff);
  if (part & 0x3fff) rows.push(["Fragment", `from byte ${offset}${part & 0x2000 ? ", more follow" : ", the last"}`]);
  return [...rows, ...(offset ? [["Protocol", name]] : inside(head, protocol, data, total - size, name))];
}

/** The header behind IP's, before so many bytes of data with itself. */
function inside(head, protocol, data, total, name) {
  const rows = [];
  if (protocol === 6 && head.length >= data + 20) {
    const own = (head[data + 12] >> 4) * 4;
    rows.push(["TCP", `port ${byte2(head, data)} to ${byte2(head, data + 2)}, ${total - own} bytes of data`]);
    rows.push(["Sequence", `${byte4(head, data + 4)}`], ["Acknowledges", `${byte4(head, data + 8)}`]);
    rows.push(
      ["Flags", FLAGS.filter((_, bit) => (head[data + 13] >> bit) & 1).join(" ") || "none"],
      ["Window", `${byte2(head, data + 14)} (before scaling)`],
    );
    const options = tcpOptions(head, data + 20, Math.min(data + own, head.length));
    if (options) rows.push(["Options", options]);
  } else if (protocol === 17 && head.length >= data + 8) {
    rows.push([
      "UDP",
      `port ${byte2(head, data)} to ${byte2(head, data + 2)}, ${byte2(head, data + 4) - 8} bytes of data`,
    ]);
    const begin = head.subarray(data + 8, data + byte2(head, data + 4));
    if (begin.length) rows.push(["Data", `begins with ${begun(begin)}`]);
  } else if (protocol === 1 && head.length >= data + 8) {
    const kind = head[data];
    const code = head[data + 1];
    const more = [0, 8].includes(kind)
      ? `identifier ${byte2(head, data + 4)}, number ${byte2(head, data + 6)}`
      : kind === 3 && code === 4
        ? `too large, the next link's MTU is ${byte2(head, data + 6)}`
        : `code ${code}`;
    rows.push(["ICMP", `${ICMP[kind] || `type ${kind}`}, ${more}`]);
  } else if (protocol === 58 && head.length >= data + 8) {
    const kind = head[data];
    const echo = [128, 129].includes(kind);
    const about = [135, 136].includes(kind) && head.length >= data + 24;
    const more = echo
      ? `identifier ${byte2(head, data + 4)}, number ${byte2(head, data + 6)}`
      : kind === 2
        ? `the next link's MTU is ${byte4(head, data + 4)}`
        : about
          ? `for ${ip6(head, data + 8)}`
          : `code ${head[data + 1]}`;
    rows.push([kind >= 133 && kind <= 137 ? "NDP" : "ICMPv6", `${ICMP6[kind] || `type ${kind}`}, ${more}`]);
  } else if (protocol === 89 && head.length >= data + 24) {
    const hello =
      head[data + 1] === 1 && total >= 44 && head.length >= data + 44
        ? `, the dead interval is ${byte4(head, data + 32)} s`
        : "";
    rows.push(["OSPF", `${OSPF[head[data + 1]] || `type ${head[data + 1]}`} of router ${ip(head, data + 4)}${hello}`]);
  } else rows.push(["Protocol", name]);
  return rows;
}

/** The first bytes of data: as words where they are such. */
function begun(bytes) {
  return bytes.every((it) => it >= 32 && it < 127)
    ? `"${String.fromCharCode(...bytes)}"`
    : [...bytes].map((it) => it.toString(16).padStart(2, "0")).join(" ");
}

function tcpOptions(head, at, end) {
  const found = [];
  while (at < end && head[at] !== 0) {
    const kind = head[at];
    const size = kind === 1 ? 1 : head[at + 1];
    if (!size) break;
    if (kind === 2) found.push(`MSS ${byte2(head, at + 2)}`);
    if (kind === 3) found.push(`window scale ${head[at + 2]}`);
    if (kind === 4) found.push("SACK permitted");
    if (kind === 5)
      for (let block = at + 2; block + 8 <= Math.min(at + size, end); block += 8)
        found.push(`SACK ${byte4(head, block)} to ${byte4(head, block + 4)}`);
    if (kind === 8) found.push(`timestamps ${byte4(head, at + 2)}, ${byte4(head, at + 6)}`);
    at += size;
  }
  return found.join("; ");
}
