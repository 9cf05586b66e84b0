"""Of what Linklab changes in the kernel: programs that wait by polling do not hold virtual time up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from linklab.runtime.backends import Kind
from linklab.runtime.client import LabProcess

pytestmark = pytest.mark.lab

POLLED_S = 0.1
UNCHANGED_STEP_S = 256e-9  # what a look at the clock takes in a kernel without the change


def poll(context: Any, seconds: float, nap_s: float) -> list[float]:
    """Inside: how many looks at the clock `seconds` take, and when a child that sleeps meanwhile woke up."""
    import os
    import time

    reader, writer = os.pipe()
    begin = time.monotonic()
    if os.fork() == 0:
        time.sleep(max(0.0, begin + nap_s - time.monotonic()))
        os.write(writer, repr(time.monotonic() - begin).encode())
        os._exit(0)
    looks = 0
    while time.monotonic() - begin < seconds:
        looks += 1
    took = time.monotonic() - begin
    woke = float(os.read(reader, 100))
    os.wait()
    return [looks, took, woke]


def test_waiting_by_polling_takes_few_looks_and_makes_nothing_late(virtual: Kind, tmp_path: Path) -> None:
    with LabProcess.spawn(virtual, tmp_path) as process:
        looks, took, woke = process.call(poll, POLLED_S, POLLED_S / 2)
        again = process.call(poll, POLLED_S, POLLED_S / 2)
    if looks > 0.5 * POLLED_S / UNCHANGED_STEP_S:
        pytest.skip("needs a kernel with Linklab's patch, which its source package did not take: linklab image build")
    assert looks < 0.1 * POLLED_S / UNCHANGED_STEP_S
    assert took == pytest.approx(POLLED_S, abs=50e-6)
    assert woke == pytest.approx(POLLED_S / 2, abs=50e-6)
    assert again == pytest.approx([looks, took, woke], rel=0.1)
