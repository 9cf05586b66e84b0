"""What is plainly meant is drawn, and any other thing is refused in one line that says what to give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from linklab import show
from linklab.errors import MeasurementError
from linklab.measure import PingFlow, QueueFlow, QueueResult, Run, SocketsFlow, SocketsResult, to_dataframe
from linklab.measure.repeats import summary
from linklab.measure.tools.queues import QueueSample
from linklab.measure.tools.sockets import SocketSample

from .gallery import H1, H2, ORIGIN, PING, TRACE
from .recorded import recorded

RUN = Run((H1, PING, H2), 0.0)
REPEATS = summary([PING.flow], [Run((PING,), 0.0)] * 2)
LOOKS = SocketsResult(
    SocketsFlow("h1", "h3"), ORIGIN, tuple(SocketSample("a", at_s, 10, None, 20.0, 0) for at_s in (0.0, 1.0))
)
QUEUE = QueueResult(QueueFlow("r1", "h3"), ORIGIN, (QueueSample(0.0, 3, 4542, 0),))
WATCHED = Run((H1, LOOKS, QUEUE), 0.0)


def _drawn(figure: Any) -> str:
    return str(figure.alt_text)


def test_a_run_or_one_result_is_drawn_as_its_results() -> None:
    assert _drawn(show.throughput(RUN)) == _drawn(show.throughput([RUN]))
    assert _drawn(show.throughput(H1)) == _drawn(show.throughput([H1]))
    by_name = {"h1-h4, 1 of 2": H1.streams[0].samples, "h1-h4, 2 of 2": H1.streams[1].samples, "h2-h5": H2.samples}
    assert _drawn(show.throughput(RUN)) == _drawn(show.throughput([H1, H2])) == _drawn(show.throughput(by_name))
    assert _drawn(show.throughput({"mine": H2})) == _drawn(show.throughput({"mine": H2.samples}))
    assert _drawn(show.measured([RUN, RUN])) == _drawn(show.measured([*RUN.results, *RUN.results]))
    assert len(to_dataframe([RUN, PING])) == len(to_dataframe(RUN)) + len(to_dataframe(PING))


def test_one_path_one_trace_and_one_rate_are_drawn() -> None:
    path = show.RoundTrips("L1", (20.0, 21.0), 1.0, 20.0)
    assert _drawn(show.round_trips(path)) == _drawn(show.round_trips([path]))
    assert "h1-h3: the window is 10 to 10 packets" in _drawn(show.windows(WATCHED))
    assert _drawn(show.windows({"cubic": WATCHED})) == _drawn(show.windows({"cubic": show.WindowTrace.of(WATCHED)}))
    assert "133 packets" in _drawn(show.windows(TRACE))
    assert _drawn(show.fairness({"h1": 5, "h2": 6.0})) == _drawn(show.fairness({"h1": [5], "h2": [6.0]}))


def _cases() -> Iterator[tuple[Callable[[], object], str]]:
    wrong: Any
    for wrong in (REPEATS, None, 5, "run", [5], PingFlow("h1", "h4")):
        for draw in (show.throughput, show.measured, to_dataframe):
            yield lambda draw=draw, wrong=wrong: draw(wrong), "is no result: give "  # type: ignore[misc]
    yield lambda: show.throughput([H1, PING]), "a PingResult is no result: give those of transfers"  # type: ignore[list-item]
    for wrong in ({"a": 5}, {"a": [5]}, {"a": PING}):
        yield lambda wrong=wrong: show.throughput(wrong), "intervals"  # type: ignore[misc]
    for wrong in (PING, [PING], RUN, 5, None, [5]):
        yield lambda wrong=wrong: show.round_trips(wrong), "show.RoundTrips.of"  # type: ignore[misc]
    for wrong in ([1, 2, 3], 5, None, RUN, {"h1": "5"}, {"h1": ["5"]}, {"h1": None}):
        yield lambda wrong=wrong: show.fairness(wrong), r'\{"h1-h4": \['  # type: ignore[misc]
    for wrong in (REPEATS, None, 5, [TRACE], {"a": 5}):
        yield lambda wrong=wrong: show.windows(wrong), "cannot draw a .*: give .*WindowTrace.of"  # type: ignore[misc]
    yield lambda: show.windows(RUN), "did not look at windows"
    for wrong in (None, 5, REPEATS, [RUN, RUN], PING):
        yield lambda wrong=wrong: show.replay(wrong), "cannot replay a .*record=True"  # type: ignore[misc]


@pytest.mark.parametrize(("act", "says"), [*_cases()])
def test_the_wrong_thing_is_refused_in_one_line(act: Callable[[], object], says: str) -> None:
    with pytest.raises(MeasurementError, match=says) as caught:
        act()
    assert "\n" not in str(caught.value)


def test_a_replay_that_cannot_be_saved_names_its_file(tmp_path: Path) -> None:
    replay = show.replay(recorded())
    with pytest.raises(MeasurementError, match=r"^/nosuch/x\.html cannot be written \(No such file or directory\)"):
        replay.save("/nosuch/x.html")
    assert replay.save(tmp_path / "x.html").read_text("utf-8").startswith("<!DOCTYPE html>")
