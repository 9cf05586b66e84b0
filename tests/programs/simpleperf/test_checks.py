"""The table of checks on programs that were tried once: each wrong one fails for its mistake, and the properties that
hold for every verdict.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from linklab.errors import LinklabError
from linklab.programs.simpleperf.checks import ITEMS
from linklab.programs.simpleperf.evidence import ConnectionRecord, PlayedScene, ProgramRun
from linklab.runtime.backends import Kind

from . import generated, played

DESCRIBED = {item.description: key for key, item in ITEMS.items()}


@pytest.mark.large
@pytest.mark.parametrize(
    "name", [*played.registered(), *(pytest.param(name, marks=pytest.mark.slow) for name in generated.NAMES)]
)
def test_right_programs_pass_in_full_and_wrong_ones_fail_for_their_one_mistake(name: str) -> None:
    found = played.judged(name)
    program = played.program_of(name)
    assert played.failed(found) == program.fails, {key: check.reason for key, check in found.items()}
    assert program.hints.items() <= played.hints(found).items()
    printed = " ".join("\n".join(run.text for run in _runs(name)).split())
    for key, check in found.items():
        if check.outcome == "failed":
            mistake = program.fails[key]
            assert check.hint
            assert len(check.reason) > len(mistake) + 10
            # what it quotes of the program stands in what the program printed
            assert all(quote in printed for quote in check.found.split("; ") if check.found and "line" not in quote)
            # a traceback is named only where one was printed, and where it was, it is not called a refusal
            assert mistake != "traceback shown" or "Traceback" in printed
        elif check.outcome == "inconclusive":
            reason = check.reason.removeprefix("waits for: ")
            way = next(key for description, key in DESCRIBED.items() if reason.startswith(description))
            assert way != key
            assert found[way].outcome == "failed"


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["chunk-1024", *(pytest.param(name, marks=pytest.mark.large) for name in ("right-002", "wrong-022-no-total"))],
)
def test_played_anew_they_do_too(name: str, virtual: Kind) -> None:
    program = played.program_of(name)
    found = played.play_anew(name, program.steps)
    assert played.failed(found) == program.fails, {key: check.reason for key, check in found.items()}
    assert program.hints.items() <= played.hints(found).items()


def test_a_scene_that_was_never_played_is_no_pass() -> None:
    with pytest.raises(LinklabError, match="never played"):
        played.judged("clock-before-ack", ("parallel",))


# --- Of every verdict


@pytest.mark.parametrize("name", ["as-the-sheet", "reads-counted", "bye-glued", "status-zero"])
def test_the_same_evidence_gives_the_same_verdict_whatever_was_judged_before(name: str) -> None:
    steps = played.program_of(name).steps
    backwards = played.judged(name, steps[::-1])
    assert backwards == played.judged(name, steps)


def test_a_step_alone_says_what_is_wrong_in_the_one_before() -> None:
    def silent(_: str, record: dict[str, Any]) -> dict[str, Any]:
        return {**record, "listening": []}

    found = played.judged("as-the-sheet", ("clock",), silent)
    assert {check.outcome for check in found.values()} == {"inconclusive"}
    assert all(check.reason.startswith("waits for: the server listens on the port of -p: ") for check in found.values())


def _runs(name: str) -> list[ProgramRun]:
    return [program for record in played.records_of(name).values() for program in PlayedScene(record).programs]


# --- What an honest program printed, changed: each must cost its check


def _text(record: dict[str, Any], side: str, old: str, new: str) -> dict[str, Any]:
    """Return a record in which a side has printed something else."""
    program = record["server"] if side == "server" else record["acts"][0]["program"]
    changed = {**program, "out": [(at_s, text.replace(old, new)) for at_s, text in program["out"]]}
    assert changed != program, program["out"]
    if side == "server":
        return {**record, "server": changed}
    return {**record, "acts": [{**record["acts"][0], "program": changed}, *record["acts"][1:]]}


def _rate_of(record: dict[str, Any], side: str) -> str:
    take = PlayedScene(record)
    return (take.client if side == "client" else take.server).rows[-1].line.split()[-2]


@pytest.mark.parametrize("side", ["client", "server"])
def test_a_floor_under_the_time_is_no_pass(side: str) -> None:
    def floored(scene: str, record: dict[str, Any]) -> dict[str, Any]:
        return _text(record, side, _rate_of(record, side), "0.04") if scene.startswith("-n 4500B") else record

    assert played.failed(played.judged("as-the-sheet", ("amount",), floored)) == {
        "num-rate": "a short time is taken for a longer one"
    }


def test_a_clock_that_runs_a_little_longer_is_not_called_binary_units() -> None:
    def late(scene: str, record: dict[str, Any]) -> dict[str, Any]:
        if scene != "clock, -f KB":
            return record
        (row,), one = PlayedScene(record).server.rows, PlayedScene(record).main
        took_s = 1.04 * (one.delivered_s - one.came_s)
        record = _text(record, "server", f"0.0 - {row.end_s:.1f}", f"0.0 - {took_s:.1f}")
        return _text(record, "server", _rate_of(record, "server"), f"{one.carried * 8e-6 / took_s:.2f}")

    assert played.failed(played.judged("as-the-sheet", ("clock",), late)) == {
        "server-rate": "the server's clock is wrong"
    }


@pytest.mark.parametrize("side", ["client", "server"])
def test_megabits_that_are_cut_to_whole_ones_are_not_called_binary_units(side: str) -> None:
    def cut(scene: str, record: dict[str, Any]) -> dict[str, Any]:
        if scene not in ("transfer", "clock, -f KB"):
            return record
        one = PlayedScene(record).main
        took_s = (one.end_s if side == "client" else one.delivered_s) - one.came_s
        return _text(record, side, _rate_of(record, side), f"{one.carried * 8 // 1_000_000 / took_s:.2f}")

    found = played.failed(played.judged("as-the-sheet", ("clock",), cut))
    assert found == {f"{side}-rate": "integer division"}


def test_sleep_inside_the_clock_is_no_pass() -> None:
    def sleeping(scene: str, record: dict[str, Any]) -> dict[str, Any]:
        if not scene.startswith("-n 4500B"):
            return record
        (one,) = record["relay"]
        arrivals = [(at_s + 0.5, size) for at_s, size in one["up"]["arrivals"]]
        up = {**one["up"], "arrivals": arrivals, "last_s": arrivals[-1][0]}
        up["forwarded_s"] = one["up"]["forwarded_s"] + 0.5
        down = {**one["down"], "arrivals": [(at_s + 0.5, size) for at_s, size in one["down"]["arrivals"]]}
        down |= {"last_s": one["down"]["last_s"] + 0.5, "forwarded_s": one["down"]["forwarded_s"] + 0.5}
        late = {**record, "relay": [{**one, "up": up, "down": down}]}
        return _text(late, "client", _rate_of(record, "client"), "0.08")

    found = played.judged("as-the-sheet", ("amount",), sleeping)
    assert played.failed(found) == {"num-rate": "it sleeps while its clock runs"}
    assert "before its data" in found["num-rate"].reason


def test_a_nap_before_bye_costs_one_check_and_nothing_waits_for_it() -> None:
    """The data of each transfer of a second and more came sooner, and BYE when it did: 0.3 s after the data."""

    def napping(_: str, record: dict[str, Any]) -> dict[str, Any]:
        return {**record, "relay": [_nap(one) for one in record["relay"] or []]}

    def _nap(one: dict[str, Any]) -> dict[str, Any]:
        seen = ConnectionRecord(one)
        lasts_s = seen.sent_s - seen.began_s
        if lasts_s < 1.0:
            return one
        sooner = (lasts_s - 0.3) / lasts_s
        data = [(seen.began_s + (at_s - seen.began_s) * sooner, size) for at_s, size in one["up"]["arrivals"][:-1]]
        data += [(seen.sent_s - 0.3, seen.carried), (seen.sent_s, one["up"]["bytes"])]
        return {**one, "up": {**one["up"], "arrivals": data}}

    found = played.judged("as-the-sheet", (), napping)
    assert played.failed(found) == {"num-rate": "it sleeps before BYE"}
    assert [key for key, check in found.items() if check.outcome == "inconclusive"] == []


def test_rows_named_by_the_address_alone_are_missing_rows_and_no_clients_mixed_up() -> None:
    def without_port(_: str, record: dict[str, Any]) -> dict[str, Any]:
        server = record["server"]
        out = [(at_s, re.sub(r"^([\d.]+):\d+ ", r"\1 ", text, flags=re.MULTILINE)) for at_s, text in server["out"]]
        return {**record, "server": {**server, "out": out}}

    found = played.judged("as-the-sheet", ("parallel",), without_port)
    missing = "a row is missing for some connections"
    assert played.failed(found) == {"concurrent-rows": missing, "parallel-server": missing}


def test_rows_of_intervals_that_are_too_few_are_not_called_none() -> None:
    def first_ones_left_out(scene: str, record: dict[str, Any]) -> dict[str, Any]:
        if scene != "parallel, -i 1":
            return record
        (client,) = record["acts"]
        out = [(at_s, re.sub(r".* (0\.0 - 1|1\.1 - 2)\.\d .*\n", "", text)) for at_s, text in client["program"]["out"]]
        return {**record, "acts": [{**client, "program": {**client["program"], "out": out}}]}

    found = played.judged("as-the-sheet", ("parallel",), first_ones_left_out)
    assert played.failed(found) == {"parallel-intervals": "-i prints too few rows for each connection"}
    assert "1 and 1" in found["parallel-intervals"].reason


@pytest.mark.parametrize(
    ("carried", "mistake"),
    [
        ({"-n 4500B": 450}, "-n in B loses its last digit"),
        ({"-n 1500KB": 1_501_000, "-n 4500B": 5_000}, "-n sends a chunk too many"),
    ],
)
def test_a_transfer_of_n_that_carries_another_amount_is_told_why(carried: dict[str, int], mistake: str) -> None:
    def changed(scene: str, record: dict[str, Any]) -> dict[str, Any]:
        size = next((size + len("BYE") for name, size in carried.items() if scene.startswith(name)), None)
        if size is None:
            return record
        (one,) = record["relay"]
        arrivals = [*one["up"]["arrivals"][:-1], (one["up"]["last_s"], size)]
        return {**record, "relay": [{**one, "up": {**one["up"], "bytes": size, "arrivals": arrivals}}]}

    assert played.failed(played.judged("as-the-sheet", ("amount",), changed))["num-exact"] == mistake


def test_a_step_that_is_still_to_do_is_said() -> None:
    said = "simpleperf: step 4 is still to do: amount_bytes: how many bytes are 10MB, 1000KB, 500B?"

    def open_step(scene: str, record: dict[str, Any]) -> dict[str, Any]:
        if not scene.startswith("-n"):
            return record
        (client,) = record["acts"]
        program = {**client["program"], "out": [], "err": [(0.1, f"{said}\n")], "status": 1}
        return {**record, "acts": [{**client, "program": program}], "relay": []}

    found = played.judged("as-the-sheet", ("amount",), open_step)
    assert played.failed(found) == {"num-understood": "a TODO of this step is still open"}
    assert said in found["num-understood"].reason


def test_a_traceback_that_ended_the_server_is_not_quiet() -> None:
    error = "Traceback (most recent call last):\nUnicodeDecodeError: 'utf-8' codec can't decode byte 0xf8\n"

    def fatal(scene: str, record: dict[str, Any]) -> dict[str, Any]:
        if "abrupt" not in scene and "a client that" not in scene:
            return record
        return {**record, "alive": False, "server": {**record["server"], "err": [(3.0, error)], "status": 1}}

    found = played.judged("spins-on-end", ("many",), fatal)
    assert found["abrupt"].outcome == "failed"
    assert not found["quiet"].passed


def test_what_a_program_was_stopped_for_is_said_wherever_it_counts() -> None:
    def endless(scene: str, record: dict[str, Any]) -> dict[str, Any]:
        return record if scene == "transfer" else {**record, "stalled": True, "by": ["client"]}

    found = played.judged("as-the-sheet", ("clock", "intervals", "parallel"), endless)
    assert found["time"].passed  # what was judged before stays
    said = [check.reason for check in found.values() if "had to be stopped" in check.reason]
    assert all("the client computed without end" in reason for reason in said)
    assert any("the program had to be stopped 3 times" in reason for reason in said)
