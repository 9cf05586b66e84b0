"""What is said of an image that was booted to verify it, with a table in the place of its lab; and the real one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from linklab.errors import LabEnded, LabError
from linklab.runtime.client import LabProcess
from linklab.runtime.image import probe
from linklab.runtime.image.find import Image, find_image
from linklab.runtime.image.verify import verify
from tests.runtime.test_image_find import ABOUT

GOOD = {"failed": "", "slept_s": probe.SLEEP_S, "delay_ms": 10.0006, "congestion_control": ["reno", "cubic"]}


class Pretended:
    """A lab that gives this answer, or fails so."""

    kernel_release = "7.3.4"

    def __init__(self, answer: dict[str, Any] | Exception) -> None:
        self.answer = answer

    def __enter__(self) -> Pretended:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def call(self, function: object) -> dict[str, Any]:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def verified(monkeypatch: pytest.MonkeyPatch, answer: dict[str, Any] | Exception) -> None:
    monkeypatch.setattr(LabProcess, "spawn", lambda *_: Pretended(answer))
    verify(Image(Path("/image"), ABOUT))


def test_an_image_that_does_all_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    verified(monkeypatch, GOOD)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"failed": "tc qdisc add: no netem"}, "lacks something that labs need: tc qdisc add: no netem"),
        ({"delay_ms": 12.5}, r"does not keep virtual time: .* took 12\.500 ms"),
        ({"delay_ms": 0.0}, "does not keep virtual time"),
        ({"slept_s": 1.0}, "does not keep virtual time"),
        ({"congestion_control": ["reno"]}, r"Linux 7\.3\.4 lacks TCP's congestion control cubic"),
    ],
)
def test_an_image_that_lacks_something_is_refused(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(LabError, match=message):
        verified(monkeypatch, GOOD | changes)


def test_a_lab_that_ends_is_the_kernels_fault_and_a_machine_that_starts_none_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(LabError, match=r"^no lab runs on Linux 7\.3\.4: the lab did not answer: Kernel panic$"):
        verified(monkeypatch, LabEnded("the lab did not answer: Kernel panic"))
    with pytest.raises(LabError, match=r"^bubblewrap is missing$"):
        verified(monkeypatch, LabError("bubblewrap is missing"))


@pytest.mark.lab
def test_the_real_image_keeps_virtual_time() -> None:
    try:
        image = find_image()
    except LabError:
        pytest.skip("needs the lab image: linklab image build")
    verify(image)
