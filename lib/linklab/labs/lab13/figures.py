"""The figures of Lab 13: the datagrams of a transfer as a ladder, and a window's share of the link."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from linklab.analysis.arq import link_share
from linklab.programs.reliable.path import NEAR, packet_ms, rtt_ms
from linklab.programs.reliable.transfers import Datagram, PlayedTransfer
from linklab.show.chart import BLACK, BLUE, VERMILLION, chart, legend

if TYPE_CHECKING:
    from linklab.show.figure import Drawing

__all__ = ["ladder", "shares_figure"]

NOTHING: Final = "Nothing was sent yet: the lines above say why."
_MOST_RUNGS: Final = 60
_PAYLOAD_BYTES: Final = 1005


def ladder(transfer: object) -> Drawing | str:
    """Draw a transfer as textbooks do: time goes down, the sender's datagrams to the right, answers to the left.

    Equal bytes have one number. What the relay lost ends there with a cross. The relay stands next to the receiver;
    when a datagram left the sender, or an answer came there, follows from the link's delay and the packet's time on it.
    Only the first 60 datagrams of a long transfer are drawn.
    """
    if not isinstance(transfer, PlayedTransfer) or not transfer.up:
        return NOTHING
    begun_s = transfer.up[0].s - _way_s(transfer, transfer.up[0])
    both = [*((it, False) for it in transfer.up), *((it, True) for it in transfer.down)]
    shown = sorted(both, key=lambda one: one[0].s)[:_MOST_RUNGS]
    numbers = _numbers(it for it, back in shown if not back)
    words = (
        f"{sum(not back for _, back in shown)} datagrams of the sender and {sum(back for _, back in shown)} answers in "
        f"{shown[-1][0].s - begun_s:.3f} s; {sum(not it.passed for it, _ in shown)} lost"
    )
    alt_text = f"A transfer as a ladder, time from top to bottom: {words}."
    figure, axes = chart(
        alt_text, x="", y="time (s)", title="Datagrams over time", height_inches=min(8.0, 2.4 + 0.13 * len(shown))
    )
    last_s = 0.0
    for it, back in shown:
        there_s, way_s = it.s - begun_s, _way_s(transfer, it)
        here_s = there_s + way_s if back else there_s - way_s
        start, end = ((1.0, there_s), (0.0, here_s)) if back else ((0.0, here_s), (1.0, there_s))
        if back and not it.passed:
            end = (0.93, there_s + 0.07 * way_s)
        style = {"arrowstyle": "->", "color": BLACK if back else BLUE, "linewidth": 1.3, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", end, start, arrowprops=style)
        if not it.passed:
            axes.plot(*end, color=VERMILLION, marker="x", markersize=8, markeredgewidth=2, clip_on=False)
        if not back:
            axes.text(-0.015, here_s, numbers[it.digest], ha="right", va="center", color=BLUE, fontsize=9)
        last_s = max(last_s, there_s, end[1])
    axes.set(xlim=(-0.06, 1.02), xticks=[0, 1], xticklabels=["sender", "relay, receiver"])
    axes.set_ylim(1.03 * last_s, -0.03 * last_s)
    return figure


def _way_s(transfer: PlayedTransfer, it: Datagram) -> float:
    """Return how long a datagram takes between sender and relay, in seconds, where no other is before it."""
    return transfer.rtt_ms / 2000 + packet_ms(it.size) / 1000


def _numbers(sent: Iterable[Datagram]) -> dict[str, str]:
    found: dict[str, str] = {}
    for it in sent:
        found.setdefault(it.digest, str(len(found) + 1))
    return found


def shares_figure(transfers: Mapping[int, object]) -> Drawing | str:
    """Draw the share of the link by window: what was seen, and ``min(1, W / (1 + 2a))``."""
    seen = {
        window: min(1.0, packet_ms(it.mean_bytes) * (len(it.up) - it.repeats) / 1000 / it.took_s)
        for window, it in sorted(transfers.items())
        if isinstance(it, PlayedTransfer) and it.took_s and it.got == it.plan.content
    }
    if not seen:
        return NOTHING
    words = ", ".join(f"{100 * share:.0f} % with {window}" for window, share in seen.items())
    figure, axes = chart(
        f"Share of the link by window. Seen: {words}.",
        x="window (packets)",
        y="share of the link (%)",
        title="Share of the link by window",
        grid="both",
    )
    windows: Sequence[int] = range(1, max(seen) + 5)
    theory = [100 * link_share(window, packet_ms(_PAYLOAD_BYTES), rtt_ms(NEAR)) for window in windows]
    axes.plot(windows, theory, color=BLACK, linewidth=1.2, label="theory: min(1, W / (1 + 2a))")
    axes.plot(list(seen), [100 * it for it in seen.values()], color=BLUE, marker="o", linestyle="none", label="seen")
    axes.set(xlim=(0, max(windows)), ylim=(0, 108))
    legend(axes)
    return figure
