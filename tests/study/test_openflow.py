"""An OpenFlow controller as a level of a factor: what it does to a flow's first packet, and that digits repeat."""

from __future__ import annotations

from pathlib import Path

import pytest

from linklab import Lab
from linklab import measure as measuring
from linklab.errors import MeasurementError
from linklab.network import TWO_HOSTS
from linklab.network.catalogue import mtu_direct
from linklab.runtime.backends import Kind
from linklab.study import Level, Measured, Metric, Point, Study, Testbed, run
from linklab.study.runner import definition, definition_of

from ..guest.test_switches_controllers import LEARNING

RTT = (Metric("rtt_ms", "ms", "round trip of ping `number`"),)
OWN = "openflow:/usr/bin/env PYTHONPATH=. osken-manager learning.py"


def testbed(point: Point) -> Testbed:
    return Testbed.on(mtu_direct(1518, 10), point["switch"])


testbed.__test__ = False  # type: ignore[attr-defined]


def measure(lab: Lab, point: Point) -> list[Measured]:
    result = measuring.run(lab, measuring.PingFlow("h1", "h2", 4))
    return [Measured("rtt_ms", value, number=it) for it, value in enumerate(result.rtt_ms, 1) if value is not None]


def study(*switches: Level) -> Study:
    return Study("openflow", "First packets", testbed, {"switch": switches}, measure, RTT)


def test_a_level_of_the_factor_switch_is_a_kind_or_a_controllers_command() -> None:
    made = [Testbed.on(TWO_HOSTS, level) for level in ("bridge", "ovs-user", "openflow", "openflow: my -x a=b")]
    assert [(it.switch, it.controller) for it in made] == [
        ("bridge", None), ("ovs-user", None), ("ovs", "ovs-testcontroller ptcp:6653"), ("ovs", "my -x a=b"),
    ]  # fmt: skip
    for level in ("hub", "openflow:", "ovs:my", 7):
        with pytest.raises(MeasurementError, match="choose one of bridge, ovs, ovs-user, openflow or openflow:COMMAND"):
            Testbed.on(TWO_HOSTS, level)


def test_a_controllers_changed_program_is_a_changed_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("learning.py").write_text(LEARNING)
    (before,) = (definition_of(study(OWN), point, definition(study(OWN))) for point in study(OWN).points())
    Path("learning.py").write_text(LEARNING + "\n")
    (after,) = (definition_of(study(OWN), point, definition(study(OWN))) for point in study(OWN).points())
    assert [part for part in before if before[part] != after[part]] == ["testbed"]


@pytest.mark.large
@pytest.mark.lab
def test_a_learning_controller_makes_the_first_round_trip_longer_and_digits_repeat(
    virtual: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("learning.py").write_text(LEARNING)
    switches = ("bridge", "openflow", OWN)
    one, again = (run(study(*switches), tmp_path / name, jobs=2) for name in ("one", "again"))
    assert one.missing == ()
    first, later = (
        {switch: one.lookup("rtt_ms", number=number, switch=switch).mean for switch in switches} for number in (1, 4)
    )
    assert first["bridge"] == later["bridge"]
    for switch in switches[1:]:
        assert first[switch] > later[switch] + 0.1
    kinds = ("bridge", "openflow")
    assert one.select(switch=kinds).csv == again.select(switch=kinds).csv
    # os-ken asks the clock now more, now less often: 0.01 ms were seen
    assert again.lookup("rtt_ms", number=1, switch=OWN).mean == pytest.approx(first[OWN], abs=0.05)
