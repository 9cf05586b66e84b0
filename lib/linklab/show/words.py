"""A scene in words: the labels of a figure, and the text for those who do not see it."""

from __future__ import annotations

from linklab.network import Shape
from linklab.show.read_scene import scene_of
from linklab.show.scene import Cable, Drawable, Plug, Scene, SpotKind

_PLURALS: dict[SpotKind, tuple[str, str]] = {
    "host": ("host", "hosts"),
    "switch": ("switch", "switches"),
    "router": ("router", "routers"),
    "idle": (
        "node with several interfaces that does not forward",
        "nodes with several interfaces that do not forward",
    ),
}


def rate(shape: Shape) -> str:
    """``"40 Mbit/s"``."""
    return "no rate limit" if shape.rate_mbps is None else f"{shape.rate_mbps:g} Mbit/s"


def delay(shape: Shape) -> str:
    """``"10 ms"``."""
    return f"{shape.delay_ms:g} ms" if shape.delay_ms else "no delay"


def queue(shape: Shape) -> str:
    """``"67 packets"``."""
    return "no queue limit" if shape.queue_packets is None else f"{shape.queue_packets} packets"


def loss(shape: Shape) -> str:
    """``"1 % loss"``, or nothing."""
    return f"{shape.loss_percent:g} % loss" if shape.loss_percent else "no loss"


def link_lines(cable: Cable, named_if_plain: bool) -> list[str]:
    """What stands at a link: what both directions do, and where they differ, what each does.

    A link that is not shaped says so if ``named_if_plain``; otherwise nothing does.
    """
    lines = []
    if cable.carriers:
        lines.append(f"GRE tunnel by {' and '.join(cable.carriers)}")
    elif not cable.shaped:
        lines += ["not shaped"] if named_if_plain else []
    elif cable.a.shape == cable.b.shape:
        lines += _shape_lines(cable.a.shape)
    else:
        lines += _both_ways(cable)
    if cable.a.mtu_bytes != cable.b.mtu_bytes:
        lines.append(" / ".join(f"{end.node} MTU {end.mtu_bytes}" for end in cable.ends))
    elif cable.a.mtu_bytes != 1500:
        lines.append(f"MTU {cable.a.mtu_bytes} bytes")
    lines += [f"{end.interface} is down" for end in cable.ends if not end.up]
    return lines


def _shape_lines(shape: Shape) -> list[str]:
    parts = []
    if shape.rate_mbps is not None:
        parts.append(rate(shape))
    if shape.delay_ms:
        parts.append(delay(shape))
    lines = ["  ".join(parts)] if parts else []
    rest = [queue(shape)] if shape.queue_packets is not None else []
    rest += [loss(shape)] if shape.loss_percent else []
    return lines + (["  ".join(rest)] if rest else [])


def _both_ways(cable: Cable) -> list[str]:
    one, two = cable.a.shape, cable.b.shape
    fields = (rate, delay, queue, loss)
    same = [say(one) for say in fields if say(one) == say(two)]
    differing = [say for say in fields if say(one) != say(two)]
    lines = ["  ".join(words for words in same if not words.startswith("no "))]
    for near, far in (cable.ends, cable.ends[::-1]):
        start = f"{near.node}\u2192{far.node}"
        if near.shape == Shape():
            lines.append(f"{start} not shaped")
            continue
        # Two to a line: more would not fit between two nodes.
        what = [say(near.shape) for say in differing]
        lines.append(f"{start} {'  '.join(what[:2])}")
        lines.append("  ".join(what[2:]))
    return [line for line in lines if line]


def end_lines(plug: Plug) -> list[str]:
    """What stands at an interface: its name and its addresses."""
    marked = "" if plug.fits else " !"
    return [plug.short, *([f"{address}{marked}" for address in plug.addresses] or ["no address"])]


def describe(thing: Drawable) -> str:
    """The network in words, line by line: what a figure of it shows, for those who do not see it.

    Raises NetworkError if ``thing`` is neither a network, nor a state, nor a running lab.
    """
    return description(scene_of(thing))


def description(scene: Scene) -> str:
    """A scene in words; see :func:`describe`."""
    counts = []
    for kind, (one, many) in _PLURALS.items():
        names = [spot.name for spot in scene.spots if spot.kind == kind]
        if names:
            counts.append(f"{len(names)} {many if len(names) > 1 else one} ({', '.join(names)})")
    start = f"Network {scene.name}: " if scene.name else "Network: "
    cables = f"{len(scene.cables)} cable{'' if len(scene.cables) == 1 else 's'}"
    lines = [f"{start}{', '.join([*counts, cables])}."]
    for area in scene.areas:
        title = f"Subnet {area.name}, {area.prefix}" if area.name else f"Subnet {area.prefix}"
        lines.append(f"{title}:")
        lines += [f"  {_cable_line(scene.cables[position])}" for position in area.cables]
    covered = {position for area in scene.areas for position in area.cables}
    lines += [_cable_line(cable) for number, cable in enumerate(scene.cables) if number not in covered]
    lines += [f"{_plug(plug)} has no cable." for plug in scene.loose]
    joined = {end.node for cable in scene.cables for end in cable.ends}
    alone = [spot.name for spot in scene.spots if spot.name not in joined]
    if alone and len(scene.spots) > 1:
        lines.append(f"Not connected: {', '.join(alone)}.")
    return "\n".join(lines)


def _plug(plug: Plug) -> str:
    parts = [*plug.addresses] if plug.addresses else []
    parts += [] if plug.fits else ["does not fit its neighbours"]
    parts += [] if plug.up else ["down"]
    separator = ", "
    return f"{plug.interface}{f' ({separator.join(parts)})' if parts else ''}"


def _cable_line(cable: Cable) -> str:
    name = f"{cable.name}: " if cable.name else ""
    what = ", ".join(line.replace("  ", ", ") for line in link_lines(cable, named_if_plain=True))
    return f"{name}{_plug(cable.a)} to {_plug(cable.b)}: {what}.".replace("\u2192", " to ")
