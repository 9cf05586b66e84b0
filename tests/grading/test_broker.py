"""Labs that are lent over a socket, without a guest: a pretended process stands for it."""

from __future__ import annotations

import base64
import os
import pickle
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from linklab.errors import LabError, MeasurementError
from linklab.grading import broker as lending
from linklab.grading.broker import LABS_AT_MOST, Broker
from linklab.guest import lab_api
from linklab.guest.channel import Channel
from linklab.guest.request_loop import RequestLoop
from linklab.runtime.backends import Kind
from linklab.runtime.client import LabProcess
from linklab.runtime.transport import BorrowedLab, connected


class Pretended:
    """A lab process that answers by itself."""

    kernel_release = "6.1"
    reads = True
    made: ClassVar[list[Pretended]] = []

    @classmethod
    def spawn(cls, kind: Kind, folder: Path, wall_limit_s: float, *, untrusted: bool, seed: int) -> Pretended:
        assert untrusted
        return cls(kind, wall_limit_s, seed)

    def __init__(self, kind: Kind, wall_limit_s: float, seed: int) -> None:
        self.seed = seed
        self.kind, self.wall_limit_s, self.running, self.clock_s = kind, wall_limit_s, True, 16.0
        self.asked: list[dict[str, Any]] = []
        self.made.append(self)

    def call(self, function: Any, *arguments: Any, reads: bool = False, **heard: Callable[..., Any]) -> Any:
        if function is lab_api.command:
            heard["on_event"](" ".join(arguments[:2]))
            return {"outcome": "done", "status": 0, "seconds": 0.0}
        return ["h1", "h2"]

    def relay(self, request: dict[str, Any], on_event: Callable[[Any], None], stop: Callable[[], bool]) -> Any:
        self.asked.append(request)
        self.clock_s += 1.0
        if not self.reads:
            return {"result": None}, False
        function, arguments = pickle.loads(base64.b64decode(request["pickle"]))
        match function.__name__:
            case "say":
                for piece in ("first ", "line\n", "half a"):
                    on_event(piece)
                return {"result": "second line\n", "printed": "to people\n"}, False
            case "fail":
                return {"error": "too much", "kind": "MeasurementError"}, False
            case "end":
                raise LabError("the lab ended unexpectedly: killed")
            case "wait":
                while not stop():
                    pass
                raise KeyboardInterrupt
            case _:
                return {"result": arguments}, False

    def stop(self) -> None:
        self.running = False


def add(context: RequestLoop, *values: object) -> list[object]:
    """What a pretended lab answers with its arguments."""
    raise NotImplementedError


def say(context: RequestLoop) -> str:
    """What prints and emits in a pretended lab, as `fail`, `end` and `wait` do what they are called."""
    raise NotImplementedError


def fail(context: RequestLoop) -> None:
    """Fails."""


def end(context: RequestLoop) -> None:
    """Ends the lab."""


def wait(context: RequestLoop) -> None:
    """Waits for an interrupt."""


@pytest.fixture
def lender(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Broker]:
    """A broker that lends pretended labs."""
    monkeypatch.setattr(lending, "LabProcess", Pretended)
    monkeypatch.setattr(Pretended, "made", [])
    made = Broker(tmp_path / "labs", Kind("guest"), tmp_path, 60.0)
    yield made
    made.close()


def borrowed(tmp_path: Path, **other: Any) -> LabProcess:
    """A lab from the broker at that place."""
    wish: dict[str, Any] = {"wall_limit_s": 10.0, "seed": 0} | other
    return LabProcess.borrow(str(tmp_path / "labs"), wish["wall_limit_s"], wish["seed"])


def number_of(lab: LabProcess) -> int:
    """What the lender calls it."""
    assert isinstance(lab.transport, BorrowedLab)
    return lab.transport.number


def test_requests_go_in_and_answers_come_out_as_they_are(
    lender: Broker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    heard: list[str] = []
    with borrowed(tmp_path) as lab:
        assert lab.call(add, 1, "two") == [1, "two"]
        assert lab.call(say, on_event=heard.append) == "second line\n"
    assert heard == ["first ", "line\n", "half a"]
    assert capsys.readouterr().out == "to people\n"


def test_what_is_pickled_is_handed_on_unread(lender: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pretended, "reads", False)

    class Explosive:
        def __reduce__(self) -> Any:
            return os._exit, (1,)

    lab = borrowed(tmp_path)
    lab.call(add, Explosive())
    assert set(Pretended.made[0].asked[0]) == {"pickle"}
    lab.stop()


def test_errors_and_interrupts_come_as_what_they_are(lender: Broker, tmp_path: Path) -> None:
    asked = iter([False, True])
    with borrowed(tmp_path) as lab:
        with pytest.raises(KeyboardInterrupt):
            lab.call(wait, stop=lambda: next(asked, True))
        with pytest.raises(MeasurementError, match="too much"):
            lab.call(fail)
        with pytest.raises(LabError, match="ended unexpectedly"):
            lab.call(end)


def test_a_lab_that_is_given_back_ends(lender: Broker, tmp_path: Path) -> None:
    lab = borrowed(tmp_path)
    lab.call(add)
    assert lender.lab(number_of(lab)).nodes == ["h1", "h2"]
    lab.stop()
    for _ in range(500):
        if not Pretended.made[0].running:
            break
        threading.Event().wait(0.01)
    assert not Pretended.made[0].running
    with pytest.raises(LabError, match="has been stopped"):
        lab.call(add)
    with pytest.raises(LabError, match="has ended"):
        lender.lab(number_of(lab))


def test_the_judge_s_own_handle_runs_commands_and_does_not_end_the_lab(lender: Broker, tmp_path: Path) -> None:
    with borrowed(tmp_path) as lab:
        judged = lender.lab(number_of(lab))
        assert judged["h1"].cmd("hostname") == "h1 hostname"
        judged.stop()
        assert Pretended.made[0].running


@pytest.mark.parametrize("number", [0, 99, "1", None, [1], 1.0])
def test_a_lab_that_was_never_lent_is_none(lender: Broker, tmp_path: Path, number: object) -> None:
    with pytest.raises(LabError, match="never started here"):
        lender.lab(number)


@pytest.mark.parametrize("seed", [0, 2**64 - 1])
def test_a_lab_has_the_seed_that_was_asked_for_and_no_longer_than_the_judge_allows(
    lender: Broker, tmp_path: Path, seed: int
) -> None:
    lab = borrowed(tmp_path, seed=seed, wall_limit_s=1e9)
    assert (lab.seed, [(made.seed, made.wall_limit_s) for made in Pretended.made]) == (seed, [(seed, 60.0)])
    lab.stop()


@pytest.mark.parametrize("seed", [-1, 2**64, True, "x", None])
def test_what_is_no_seed_is_refused(lender: Broker, tmp_path: Path, seed: Any) -> None:
    with pytest.raises(LabError, match="choose a whole number"):
        borrowed(tmp_path, seed=seed)
    raw = connected(str(tmp_path / "labs"))
    channel = Channel(raw.fileno(), raw.fileno())
    channel.send({"want": "lab", "seed": seed})
    assert "choose a whole number" in channel.receive(10.0)["error"]
    raw.close()
    assert Pretended.made == []


def test_so_many_at_once(lender: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lending, "_FREE_S", 0.1)
    labs = [borrowed(tmp_path) for _ in range(LABS_AT_MOST)]
    with pytest.raises(LabError, match="run already"):
        borrowed(tmp_path)
    labs[0].stop()
    monkeypatch.setattr(lending, "_FREE_S", 10.0)
    labs[0] = borrowed(tmp_path)
    for lab in labs:
        lab.stop()


def test_a_closed_broker_ends_its_labs_and_lends_no_more(lender: Broker, tmp_path: Path) -> None:
    lab = borrowed(tmp_path)
    lender.close()
    assert not Pretended.made[0].running
    with pytest.raises(LabError):
        borrowed(tmp_path)
    lab.stop()


@pytest.mark.parametrize(
    "sent",
    [b"\x00" * 100, b"\x02\x00\x00\x00\x03abc", b"\x02\x00\x00\x00\x02[]", b"\x02\x00\x00\x00\x0b" + b'{"want": 3}',
     b"\x01\xff\xff\xff\xff"],
)  # fmt: skip
def test_who_speaks_otherwise_is_not_heard(lender: Broker, tmp_path: Path, sent: bytes) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stranger:
        stranger.connect(str(tmp_path / "labs"))
        stranger.sendall(sent)
        stranger.shutdown(socket.SHUT_WR)
        stranger.settimeout(30)
        while stranger.recv(1000):
            pass
    lab = borrowed(tmp_path)
    assert lab.call(add, 1) == [1]
    lab.stop()
