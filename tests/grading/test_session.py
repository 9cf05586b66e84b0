"""What the judge asks of a student's kernel, with a thread in the kernel's place: it has no lab and no Jupyter."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from linklab.errors import MeasurementError
from linklab.grade.values import ValueRefused
from linklab.grading.answer import _Answers
from linklab.grading.broker import Broker
from linklab.grading.cells import Argument
from linklab.grading.session import KernelGone, RaisedInKernel, Session
from linklab.guest.channel import ChannelClosed
from linklab.measure import Clip, Probe, Prober, Video
from linklab.runtime.backends import Kind


class Pretended:
    """A student's kernel that is a thread: `names` are what its notebook has defined."""

    def __init__(self, lender: Path, names: dict[str, Any]) -> None:
        self._lender, self._names = str(lender), names
        self._answers: _Answers | None = None
        self._serving: threading.Thread | None = None
        self.death_reason = ""

    def begin(self, code: str, *, hidden: bool) -> None:
        assert hidden
        assert code.endswith(".serve()")
        self._serving = threading.Thread(target=self._serve, daemon=True)
        self._serving.start()

    def _serve(self) -> None:
        if self._answers is None:
            self._answers = _Answers(self._lender)
        with contextlib.suppress(ChannelClosed):
            self._answers.serve(self._names)

    def finish(self, timeout_s: float) -> None:
        if self._serving is not None and not self.death_reason:
            self._serving.join(timeout_s)
            assert not self._serving.is_alive()

    def interrupt(self) -> None:
        """Nothing runs here that would hear it."""

    def end(self, why: str) -> None:
        self.death_reason = self.death_reason or why


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    """A broker that nobody asks for labs."""
    made = Broker(tmp_path / "labs", Kind("guest"), tmp_path, 60.0)
    yield made
    made.close()


@pytest.fixture
def kernel(tmp_path: Path) -> Callable[..., Pretended]:
    """Makes the student's side, from what the notebook has defined."""
    return lambda **names: Pretended(tmp_path / "labs", names)


class Recorded(Prober):
    """A prober without a lab."""

    def __init__(self) -> None:
        self.budget_bytes, self._most_probes, self.sent_bytes, self.count = 60_000_000, 200, 0, 0
        self.probes = []
        self._source = self._destination = "h"

    def send(self, rate_mbps: float, duration_s: int = 1) -> Probe:
        if rate_mbps > 100:
            raise MeasurementError("too much")
        self.probes.append(Probe(rate_mbps, duration_s, 0.0, rate_mbps, 0.1))
        return self.probes[-1]


def called_with(student: Any, broker: Broker, given: object) -> object:
    """What the student's function returns for an object of the judge's."""
    with Session(student, broker, None, 30.0, None) as session:
        function: Any = session.argument(Argument("f"))
        return function(given)


def test_a_student_uses_what_is_lent(kernel: Any, broker: Broker) -> None:
    lent = Recorded()

    def find(prober: Any) -> Any:
        probe, said = prober.send(20, duration_s=2), ""
        try:
            prober.send(1000)
        except MeasurementError as error:
            said = str(error)
        return [probe.received_mbps, prober.probes[0] == probe, prober.sent_bytes, repr(prober), said]

    assert called_with(kernel(f=find), broker, lent) == [20, True, 0, repr(lent), "too much"]
    assert [probe.duration_s for probe in lent.probes] == [2]


NOT_LENT = ("_lab", "_most_probes", "__class__", "__dict__", "__init__", "_refuse_beyond")


def test_nothing_else_of_it_can_be_used(kernel: Any, broker: Broker) -> None:
    def find(prober: Any) -> Any:
        ask, number = vars(prober)["_ask"], vars(prober)["_number"]
        refused = 0
        for name in NOT_LENT:
            for positional in (None, ()):
                try:
                    ask(number, name, positional, {})
                except AttributeError:
                    refused += 1
        for strange in (99, "x", None):
            with pytest.raises((LookupError, TypeError)):
                ask(strange, "sent_bytes", None, None)
        return refused

    assert called_with(kernel(f=find), broker, Recorded()) == 2 * len(NOT_LENT)


@pytest.mark.slow
@pytest.mark.parametrize("answer", [{}, {"value": "["}, {"value": 3}, {"raised": "3"}, {"use": 0}, {"value": None}])
def test_odd_answers_are_refused(
    kernel: Any, broker: Broker, answer: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    student = kernel()

    def odd(self: Any, names: dict[str, Any]) -> None:
        while "end" not in self._channel.receive():
            self._channel.send(answer)

    monkeypatch.setattr(_Answers, "serve", odd)
    with Session(student, broker, None, 2.0, None) as session:
        try:
            value = session.argument(Argument("x"))
        except (KernelGone, ValueRefused, RaisedInKernel):
            value = None
        assert value in (None, 3)


def test_a_video_is_the_judges_own(kernel: Any, broker: Broker, tmp_path: Path) -> None:
    mine = Video(Clip(duration_s=10), tmp_path / "mine", 1000.0, "5.1")
    theirs = Video(Clip(duration_s=10), Path("/root"), 1.0, "x")
    other = Video(Clip(duration_s=20), Path("/root"), 1.0, "x")
    with Session(kernel(video=theirs, other=other), broker, None, 30.0, mine) as session:
        assert session.argument(Argument("video")) is mine
        with pytest.raises(ValueRefused, match="another video"):
            session.argument(Argument("other"))
