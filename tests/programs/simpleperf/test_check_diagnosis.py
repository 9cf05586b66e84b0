"""One cause, said once: from failed checks to the fewest mistakes that explain most of them."""

from __future__ import annotations

import html
import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from linklab.cli import main
from linklab.errors import LabError
from linklab.grade import GradeError
from linklab.grade.result import Result
from linklab.programs import simpleperf
from linklab.programs.place import SteadyPlace
from linklab.programs.simpleperf import STEPS, ConformanceCheck, Report, diagnosis, run
from linklab.programs.simpleperf.catalogue import ITEMS
from linklab.programs.simpleperf.diagnosis import BRINGS, GENERIC, Diagnosis, diagnose, missing
from linklab.programs.simpleperf.mistakes import Mistake
from linklab.programs.simpleperf.session import GaveUp, Session
from linklab.programs.simpleperf.verdict import failed, passed, unknown


def by_step(*checks: ConformanceCheck) -> dict[str, list[ConformanceCheck]]:
    steps: dict[str, list[ConformanceCheck]] = {}
    for check in checks:
        steps.setdefault(ITEMS[check.key].step, []).append(check)
    return {step: steps[step] for step in STEPS if step in steps}


def causes(*checks: ConformanceCheck) -> list[tuple[Mistake, tuple[str, ...]]]:
    return [(cause.mistake, cause.explains) for cause in diagnose(by_step(*checks)).causes]


def reported(found: Diagnosis, **more: Any) -> Report:
    results = {step: Result(STEPS[step], checks) for step, checks in found.steps.items()}
    return Report("simpleperf.py", "in a lab", results, {}, found.causes, **more)


def check_of(found: Diagnosis, key: str) -> ConformanceCheck:
    return next(check for checks in found.steps.values() for check in checks if check.key == key)


def traceback(key: str, line: str, *mistakes: Mistake) -> ConformanceCheck:
    return failed(key, mistakes or Mistake.TRACEBACK, f"the server: {line}", quotes=[line])


# --- Which cause


def test_one_mistake_is_the_cause_of_all_its_symptoms() -> None:
    # what a server does that ends after its first client, as it looks from the other steps
    found = causes(
        failed("parallel-client", Mistake.PARALLEL_ROWS, "1 row"),
        failed("parallel-server", Mistake.PARALLEL_ROWS, "1 row"),
        failed("concurrent", (Mistake.ONE_CLIENT_ONLY, Mistake.ONE_AT_A_TIME), "the server ended"),
        failed("abrupt", Mistake.ABRUPT_CLIENT, "the server ended"),
    )
    assert found == [
        (Mistake.ONE_CLIENT_ONLY, ("parallel-client", "parallel-server", "concurrent", "abrupt")),
    ]


def test_a_factor_in_one_rate_is_the_factor_in_all() -> None:
    found = causes(
        failed("client-rate", Mistake.BYTES_AS_BITS, "0.32 Mbps"),
        failed("link", Mistake.WRONG_RATE, "0.9 Mbit/s"),
        failed("interval-rates", (Mistake.WRONG_RATE, Mistake.BYTES_AS_BITS), "0.9 Mbit/s"),
    )
    assert found == [(Mistake.BYTES_AS_BITS, ("client-rate", "link", "interval-rates"))]


def test_a_mistake_that_two_judges_name_second_is_one_cause_instead_of_two() -> None:
    found = causes(
        failed("bytes", (Mistake.BYTES_LOST, Mistake.BINARY_UNITS), "1.95 MB"),
        failed("num-exact", (Mistake.NUM_ROUNDED, Mistake.BINARY_UNITS), "2097152 B"),
    )
    assert found == [(Mistake.BINARY_UNITS, ("bytes", "num-exact"))]


def test_independent_mistakes_are_both_named() -> None:
    found = causes(
        failed("client-rate", Mistake.BYTES_AS_BITS, "0.32 Mbps"),
        failed("server-rate", Mistake.BYTES_AS_BITS, "0.32 Mbps"),
        failed("interval-rows", Mistake.LAST_MISSING, "two rows"),
    )
    assert found == [
        (Mistake.BYTES_AS_BITS, ("client-rate", "server-rate")),
        (Mistake.LAST_MISSING, ("interval-rows",)),
    ]


def test_a_mistake_elsewhere_explains_nothing_that_failed_as_another_one() -> None:
    # the factor 8 is in the client's rate; the clock of the server is a mistake of its own
    found = dict(
        causes(
            failed("client-rate", Mistake.BYTES_AS_BITS, "0.32 Mbps"),
            failed("server-rate", Mistake.SERVER_CLOCK, "it measured 9 s"),
        )
    )
    assert found == {Mistake.BYTES_AS_BITS: ("client-rate",), Mistake.SERVER_CLOCK: ("server-rate",)}


def test_what_brings_something_about_must_be_seen_itself() -> None:
    assert causes(failed("link", Mistake.OVER_CAPACITY, "9 Mbit/s")) == [(Mistake.OVER_CAPACITY, ("link",))]


@pytest.mark.parametrize("generic", [mistake for mistake in Mistake if mistake in GENERIC])
def test_what_says_why_is_preferred_to_what_only_says_what_was_seen(generic: Mistake) -> None:
    found = causes(
        failed("abrupt", (generic, Mistake.ABRUPT_CLIENT), "the server ended"),
        failed("quiet", Mistake.ABRUPT_CLIENT, "the server ended"),
    )
    assert found == [(Mistake.ABRUPT_CLIENT, ("abrupt", "quiet"))]


def test_a_judge_that_names_a_generic_mistake_first_is_believed_where_nothing_else_speaks_for_the_other() -> None:
    found = causes(traceback("num-understood", "KeyError: 'K'", Mistake.TRACEBACK, Mistake.NUM_REFUSED))
    assert found == [(Mistake.TRACEBACK, ("num-understood",))]


# --- Errors


def test_the_same_error_is_one_cause_and_another_is_another() -> None:
    found = causes(
        traceback("interval-rows", "ZeroDivisionError: division by zero"),
        traceback("num-understood", "ZeroDivisionError: division by zero"),
        traceback("parallel-together", "NameError: name 'socks' is not defined"),
    )
    assert found == [
        (Mistake.TRACEBACK, ("interval-rows", "num-understood")),
        (Mistake.TRACEBACK, ("parallel-together",)),
    ]


def test_what_differs_from_run_to_run_makes_no_other_error() -> None:
    lines = (
        "ConnectionError: 10.9.0.3:40122 was lost in Thread-3",
        "ConnectionError: 10.9.0.2:51000 was lost in Thread-11",
    )
    found = causes(traceback("concurrent", lines[0]), traceback("restart", lines[1]))
    assert found == [(Mistake.TRACEBACK, ("concurrent", "restart"))]


def test_a_traceback_belongs_to_the_mistake_that_ended_the_server_with_it() -> None:
    line = "ConnectionResetError: [Errno 104] Connection reset by peer"
    found = causes(traceback("concurrent", line), traceback("restart", line, Mistake.REFUSES))
    assert found == [(Mistake.REFUSES, ("concurrent", "restart"))]


def test_an_error_of_its_own_code_is_what_different_symptoms_have_in_common() -> None:
    line = "UnboundLocalError: cannot access local variable 'total'"
    found = causes(
        traceback("concurrent", line, Mistake.ONE_CLIENT_ONLY),
        traceback("abrupt", line, Mistake.ABRUPT_CLIENT),
        failed("no-server", Mistake.STATUS_ZERO, "status 0"),
    )
    assert found == [(Mistake.TRACEBACK, ("concurrent", "abrupt")), (Mistake.STATUS_ZERO, ("no-server",))]


def test_the_networks_errors_have_nothing_in_common() -> None:
    line = "ConnectionResetError: [Errno 104] Connection reset by peer"
    found = causes(traceback("concurrent", line, Mistake.ONE_AT_A_TIME), traceback("abrupt", line, Mistake.SPINS))
    assert {mistake for mistake, _ in found} == {Mistake.ONE_AT_A_TIME, Mistake.SPINS}


def test_arguments_that_nobody_looks_at_are_one_cause_however_they_end() -> None:
    found = causes(
        traceback("ports", "ValueError: invalid literal for int() with base 10: 'abc'"),
        traceback("formats", "KeyError: 'GB'"),
        traceback("no-server", "ConnectionRefusedError: [Errno 111] Connection refused"),
    )
    assert found == [(Mistake.TRACEBACK, ("ports", "formats")), (Mistake.TRACEBACK, ("no-server",))]


# --- Properties


SEVERAL = (
    failed("bytes", (Mistake.READS_COUNTED, Mistake.BYTES_LOST), "9 MB", quotes=["a  row", "b"]),
    failed("client-rate", (Mistake.WRONG_RATE, Mistake.BYTES_AS_BITS), "1"),
    failed("server-rate", Mistake.BYTES_AS_BITS, "1"),
    failed("format", (Mistake.WRONG_AMOUNT, Mistake.READS_COUNTED), "9 KB"),
    traceback("num-understood", "KeyError: 'K'", Mistake.TRACEBACK, Mistake.NUM_REFUSED),
    failed("concurrent", Mistake.ONE_AT_A_TIME, "it waits"),
    failed("abrupt", Mistake.SILENT_CLIENT, "it waits"),
    failed("quiet", Mistake.TRACEBACK, "the server: KeyError: 'K'"),
)


def test_every_failed_check_has_one_cause() -> None:
    for size in range(1, len(SEVERAL) + 1):
        for chosen in itertools.combinations(SEVERAL, size):
            explained = [key for _, keys in causes(*chosen) for key in keys]
            assert sorted(explained) == sorted(check.key for check in chosen)


def test_it_does_not_hang_on_the_order_of_steps() -> None:
    steps = by_step(*SEVERAL)
    backwards = {step: steps[step] for step in reversed(steps)}
    assert {cause.mistake: set(cause.explains) for cause in diagnose(steps).causes} == {
        cause.mistake: set(cause.explains) for cause in diagnose(backwards).causes
    }


def test_of_two_that_explain_as_much_the_first_by_name_is_taken() -> None:
    pair = (Mistake.NO_MESSAGE, Mistake.UNNAMED)
    for first, second in (pair, pair[::-1]):
        found = causes(
            failed("modes", (Mistake.MODES, first, second), "x"),
            failed("help", (Mistake.NO_HELP, second, first), "x"),
        )
        assert found == [(Mistake.NO_MESSAGE, ("modes", "help"))]


def test_a_check_says_what_was_seen_and_its_cause_what_to_do() -> None:
    found = diagnose(by_step(*SEVERAL))
    rate = check_of(found, "client-rate")
    assert (rate.mistake, rate.hint) == (Mistake.BYTES_AS_BITS.title, Mistake.BYTES_AS_BITS.hint)
    assert rate.reason == "1"
    assert rate.candidates == ()
    assert found.causes[rate.cause - 1].mistake is Mistake.BYTES_AS_BITS
    json.dumps(reported(found).to_json())


def test_a_causes_evidence_is_short_and_begins_with_its_own() -> None:
    (cause,) = diagnose(
        by_step(
            failed("link", Mistake.OVER_CAPACITY, "9 Mbit/s", "at most 7.7 Mbit/s", quotes=["link row"]),
            failed(
                "ack", Mistake.CLOCK_BEFORE_ACK, "too early", "2.56 Mbit/s", quotes=["one", "x" * 200, "three", "four"]
            ),
        )
    ).causes
    assert cause.mistake is Mistake.CLOCK_BEFORE_ACK
    assert cause.reasons == ("too early", "9 Mbit/s")
    assert cause.expected == "2.56 Mbit/s"
    assert [len(quote) for quote in cause.quotes] == [3, 120, 5]
    assert cause.quotes[1].endswith("...")


def test_quotes_show_the_reason_above_them() -> None:
    (cause,) = diagnose(
        by_step(
            failed("link", (Mistake.OVER_CAPACITY, Mistake.CLOCK_BEFORE_ACK), "9 Mbit/s", quotes=["link row"]),
            failed("ack", Mistake.CLOCK_BEFORE_ACK, "too early"),
        )
    ).causes
    assert (cause.reasons[0], cause.quotes) == ("too early", ())


def test_causes_come_by_the_points_that_hang_on_them() -> None:
    num = failed("num-understood", Mistake.NUM_REFUSED, "no form of -n is taken")
    taken = [failed(key, Mistake.ACCEPTED, f"{key} is taken") for key in ("formats", "times", "amounts")]
    # one check that is worth 3 points comes before two that are worth 1 each
    rates = [failed(key, Mistake.WRONG_RATE, "x") for key in ("interval-rates", "interval-total")]
    assert [mistake for mistake, _ in causes(*rates, failed("abrupt", Mistake.ABRUPT_CLIENT, "x"))] == [
        Mistake.ABRUPT_CLIENT,
        Mistake.WRONG_RATE,
    ]
    # arguments come last among causes that matter nearly as much
    assert [mistake for mistake, _ in causes(num, *taken[:2])] == [Mistake.NUM_REFUSED, Mistake.ACCEPTED]
    assert [mistake for mistake, _ in causes(num, *taken)] == [Mistake.ACCEPTED, Mistake.NUM_REFUSED]


def test_a_server_that_spins_when_its_client_dies_is_no_endless_program() -> None:
    found = causes(
        failed("abrupt", (Mistake.ENDLESS, Mistake.SPINS), "the server computes"),
        failed("concurrent", (Mistake.ENDLESS, Mistake.SPINS), "the server computed on and on"),
    )
    assert found == [(Mistake.SPINS, ("abrupt", "concurrent"))]


def test_the_table_names_checks_that_there_are() -> None:
    for mistake, effects in BRINGS.items():
        assert set(effects.keys) <= set(ITEMS)
        assert mistake not in effects.mistaken_for
        assert mistake not in GENERIC


# --- What could not be tried


def test_what_hangs_on_a_check_that_failed_waits_for_its_cause() -> None:
    found = diagnose(
        by_step(
            failed("num-understood", Mistake.NUM_REFUSED, "all forms were refused"),
            unknown("num-exact", "needs -n that is understood"),
            unknown("num-rows", "needs rows", needs="num-exact"),
            unknown("time", "this machine was too busy", "check again"),
        )
    )
    for key in ("num-exact", "num-rows"):
        assert check_of(found, key).reason == 'not tried: first mend "-n is not understood"'
        assert check_of(found, key).cause == 1
    assert check_of(found, "time").reason == "this machine was too busy"
    assert check_of(found, "time").hint == "check again"


def test_what_blocks_most_comes_first() -> None:
    found = diagnose(
        by_step(
            failed("listens", Mistake.BIND_IGNORED, "it listens on 0.0.0.0"),
            failed("ends", Mistake.NO_ACKNOWLEDGEMENT, "no answer"),
            *(unknown(item.key, "needs a transfer") for item in ITEMS.values() if item.step == "clock"),
        )
    )
    assert [cause.mistake for cause in found.causes] == [Mistake.NO_ACKNOWLEDGEMENT, Mistake.BIND_IGNORED]
    assert check_of(found, "ack").cause == 1


def test_a_step_that_was_not_asked_for_may_have_the_cause() -> None:
    steps = by_step(unknown("num-understood", "needs a transfer that works"), unknown("num-exact", "needs -n"))
    assert missing(steps) == ("transfer",)
    besides = by_step(passed("listens", "x"), failed("ends", Mistake.NO_ACKNOWLEDGEMENT, "no answer comes"))
    found = diagnose(steps, besides)
    assert list(found.steps) == ["amount"]
    report = reported(found)
    assert report.outcome == "inconclusive"
    assert report.mistakes == ["the server never acknowledges"]
    with pytest.raises(GradeError, match='first mend "the server never acknowledges": no answer comes'):
        report.alone("amount").require()


def test_nothing_is_missing_where_nothing_waits() -> None:
    assert missing(by_step(failed("num-understood", Mistake.NUM_REFUSED, "no"), unknown("num-exact", "needs"))) == ()
    assert missing(by_step(unknown("num-exact", "too busy", "again"))) == ()


def test_a_cause_in_a_later_step_may_be_what_a_check_waits_for() -> None:
    found = diagnose(
        by_step(
            passed("ends", "x"),
            unknown("num-exact", "not all clients got through"),
            failed("concurrent", Mistake.ONE_CLIENT_ONLY, "the server ended"),
        )
    )
    assert check_of(found, "num-exact").reason == 'not tried: first mend "the server ends after its first client"'


def test_what_waits_for_something_open_says_why_that_is_open() -> None:
    found = diagnose(by_step(unknown("ends", "the lab was lost", "check again"), unknown("ack", "needs a transfer")))
    assert (check_of(found, "ack").reason, check_of(found, "ack").hint) == (
        "not tried: the lab was lost",
        "check again",
    )


# --- How it reads


@pytest.mark.parametrize(
    ("reason", "found", "said"),
    [
        ("the second client had to wait", "it ended at 9.3 s", "the second client had to wait (it ended at 9.3 s)"),
        ("with -t 2 it sends for 25.0 s", "25.0 s", "with -t 2 it sends for 25.0 s"),
        ("no acknowledgement came", "nothing", "no acknowledgement came"),
    ],
)
def test_a_cause_has_the_numbers_that_were_found(reason: str, found: str, said: str) -> None:
    (cause,) = diagnose(by_step(failed("concurrent", Mistake.ONE_AT_A_TIME, reason, "x", found))).causes
    assert cause.reasons == (said,)


def test_each_cause_and_each_hint_is_said_once() -> None:
    report = reported(diagnose(by_step(*SEVERAL)))
    said = " ".join(str(report).split())
    for cause in report.causes:
        assert said.count(cause.hint) == 1
        assert said.count(cause.reasons[0]) >= 1
    assert all(len(line) <= 80 for line in str(report).splitlines())
    assert said.count("see cause 1") == len(report.causes[0].explains)
    page = report._repr_html_()
    assert all(page.count(html.escape(cause.hint)) == 1 for cause in report.causes)


def test_a_step_alone_says_its_causes_itself() -> None:
    found = diagnose(
        by_step(
            failed("client-rate", Mistake.BYTES_AS_BITS, "0.32 Mbps"),
            failed("link", Mistake.WRONG_RATE, "0.9 Mbit/s"),
            unknown("ack", "the rate cannot be read", needs="client-rate"),
        )
    )
    with pytest.raises(GradeError) as raised:
        reported(found).alone("clock").require()
    said = str(raised.value)
    assert f"{Mistake.BYTES_AS_BITS.title}: 0.32 Mbps" in said
    assert f"0.9 Mbit/s (the same cause: {Mistake.BYTES_AS_BITS.title})" in said
    assert said.count(Mistake.BYTES_AS_BITS.hint) == 1


# --- A check that breaks


NOTHING: Final[dict[str, Any]] = {}


class Pretended:
    """A place where nothing runs."""

    virtual, title = False, "nowhere"

    def play(self, plans: list[dict[str, Any]]) -> list[dict[str, Any]]:
        raise AssertionError("nothing is played here")

    def close(self) -> None:
        pass


def all_passed(step: str) -> list[ConformanceCheck]:
    return [passed(item.key, "x") for item in ITEMS.values() if item.step == step]


def breaks(session: Session) -> Iterator[ConformanceCheck]:
    yield passed("time", "x")
    raise AssertionError("two\nlines")


def broken_transfer(session: Session) -> Iterator[ConformanceCheck]:
    raise LookupError
    yield


@pytest.fixture
def judges(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Judges to replace: all pass, and no program runs."""
    made: dict[str, Any] = {step: lambda session, step=step: iter(all_passed(step)) for step in STEPS}
    monkeypatch.setattr(run, "JUDGES", made)
    for place in ("LabPlace", "LoopbackPlace"):
        monkeypatch.setattr(run, place, lambda *_: Pretended())
    return made


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "simpleperf.py"
    path.write_text("print('hello')\n")
    return path


def checked(program: Path, *more: str) -> int:
    return main(["check", str(program), *more])


def test_a_judge_that_breaks_costs_its_step_alone(
    judges: dict[str, Any], program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judges["clock"] = breaks
    assert checked(program, "--json", str(tmp_path / "report.json"), "--html", str(tmp_path / "report.html")) == 4
    report = json.loads((tmp_path / "report.json").read_text())
    assert {name: step["outcome"] for name, step in report["steps"].items()} == {
        step: "inconclusive" if step == "clock" else "passed" for step in STEPS
    }
    clock = {check["key"]: check for check in report["steps"]["clock"]["checks"]}
    assert clock["time"]["outcome"] == "passed"
    assert clock["ack"]["reason"].startswith(
        "this check broke (our fault, not your program's): AssertionError: two lines"
    )
    (broken,) = report["broken"]
    assert broken["step"] == "clock"
    assert "Traceback (most recent call last)" in broken["traceback"]
    said = " ".join(capsys.readouterr().out.split())
    assert said.index("The check itself broke in the step clock") < said.index("transfer: sockets")
    assert "--json report.json" in said
    assert "The check itself broke" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize("which", ["missing", "diagnose"])
def test_a_diagnosis_that_breaks_leaves_the_checks(
    judges: dict[str, Any],
    program: Path,
    which: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def breaks(*_: Any) -> Any:
        raise LookupError("no such mistake")

    judges["amount"] = lambda session: iter(
        [failed("num-understood", Mistake.NUM_REFUSED, "no"), *all_passed("amount")[1:]]
    )
    monkeypatch.setattr(diagnosis, which, breaks)
    path = tmp_path / "report.json"
    assert checked(program, "--json", str(path), "--html", str(tmp_path / "report.html")) == 1
    report = json.loads(path.read_text())
    assert {name: step["outcome"] for name, step in report["steps"].items()} == {
        step: "failed" if step == "amount" else "passed" for step in STEPS
    }
    assert report["causes"] == []
    (broken,) = report["broken"]
    assert "LookupError: no such mistake" in broken["traceback"]
    said = " ".join(capsys.readouterr().out.split())
    assert "The check itself broke when it looked for causes" in said
    assert Mistake.NUM_REFUSED.hint in said


def test_next_to_a_failed_check_the_status_is_the_programs(judges: dict[str, Any], program: Path) -> None:
    judges["clock"] = breaks
    judges["amount"] = lambda session: iter(
        [failed("num-understood", Mistake.NUM_REFUSED, "no"), *all_passed("amount")[1:]]
    )
    assert checked(program) == 1


def test_a_step_that_broke_is_a_fault_for_the_instructor(judges: dict[str, Any], program: Path) -> None:
    judges["clock"] = breaks
    result = simpleperf.check_step(program, "clock")
    assert result.outcome == "inconclusive"
    assert result.fault.startswith("AssertionError: two lines")


def test_a_judge_that_leaves_out_a_check_is_broken(judges: dict[str, Any], program: Path) -> None:
    judges["many"] = lambda session: iter(all_passed("many")[1:])
    report = simpleperf.check(program)
    assert report.max_points == sum(item.points for item in ITEMS.values())
    assert report.status == "broken"


def test_a_step_is_judged_unasked_where_another_waits_for_it(
    judges: dict[str, Any], program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judges["transfer"] = lambda session: iter(
        [*all_passed("transfer")[1:], failed("listens", Mistake.NO_LISTENING, "the server ended at once")]
    )
    judges["amount"] = lambda session: iter(
        [unknown(item.key, "needs a transfer") for item in ITEMS.values() if item.step == "amount"]
    )
    assert checked(program, "--step", "amount") == 3
    said = " ".join(capsys.readouterr().out.split())
    assert "1. the server does not listen Seen: the server ended at once" in said
    assert "simpleperf.py: 0 of" in said
    assert "see the step" not in said
    judges["transfer"] = broken_transfer
    assert checked(program, "--step", "amount") == 4
    assert "The check itself broke in the step transfer" in " ".join(capsys.readouterr().out.split())


def test_a_program_given_up_keeps_what_was_judged(judges: dict[str, Any], program: Path) -> None:
    def gives_up(session: Session) -> Iterator[ConformanceCheck]:
        yield passed("concurrent", "x")
        raise GaveUp("it was stopped too often", "mend that first")

    judges["many"] = gives_up
    assert checked(program) == 3
    result = simpleperf.check(program, ["many"]).results["many"]
    assert [check.outcome for check in result.checks] == ["passed", *["inconclusive"] * 5]


def test_ctrl_c_is_no_broken_check(judges: dict[str, Any], program: Path) -> None:
    def interrupted(session: Session) -> Iterator[ConformanceCheck]:
        raise KeyboardInterrupt
        yield

    judges["transfer"] = interrupted
    with pytest.raises(KeyboardInterrupt):
        simpleperf.check(program)


# --- A lab that dies


class Dying(Pretended):
    """A place that dies at these scenes of all that are played."""

    def __init__(self, played: list[int], at: Sequence[int]) -> None:
        self._played, self._at = played, at

    def play(self, plans: list[dict[str, Any]]) -> list[dict[str, Any]]:
        self._played.append(len(self._played))
        if self._played[-1] in self._at:
            raise LabError("the lab has ended")
        return [NOTHING]


def test_a_scene_whose_lab_dies_is_played_again_in_a_fresh_one() -> None:
    played: list[int] = []
    made: list[Dying] = []

    def make() -> Dying:
        made.append(Dying(played, [1]))
        return made[-1]

    place = SteadyPlace(make)
    place.play([])
    assert place.play([]) == [NOTHING]
    assert (len(made), played) == (2, [0, 1, 2])


def test_a_scene_whose_lab_dies_twice_is_lost_and_the_next_one_is_tried(
    judges: dict[str, Any], program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[int] = []
    for place in ("LabPlace", "LoopbackPlace"):
        monkeypatch.setattr(run, place, lambda *_: Dying(played, [1, 2]))

    def plays(step: str) -> Any:
        def judge(session: Session) -> Iterator[ConformanceCheck]:
            session.place.play([])
            session.takes[step] = None  # type: ignore[assignment]
            yield from all_passed(step)

        return judge

    judges.update({step: plays(step) for step in STEPS})
    report = simpleperf.check(program)
    assert [result.outcome for result in report.results.values()] == ["passed", "inconclusive", *["passed"] * 5]
    assert "the lab was lost twice: the lab has ended" in str(report.results["clock"])


def test_no_lab_at_all_is_nothing_to_check(
    judges: dict[str, Any], program: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "LabPlace", lambda *_: Dying([], [0, 1]))

    def judge(session: Session) -> Iterator[ConformanceCheck]:
        session.place.play([])
        yield from ()

    judges["transfer"] = judge
    assert checked(program) == 2
    assert "the lab has ended" in capsys.readouterr().err


def test_arguments_alone_keep_what_was_judged_where_the_place_is_lost(
    judges: dict[str, Any], program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Virtual(Pretended):
        virtual = True

    def judge(session: Session) -> Iterator[ConformanceCheck]:
        session.takes["modes"] = None  # type: ignore[assignment]
        yield passed("modes", "x")
        raise LabError("gone")

    judges["arguments"] = judge
    monkeypatch.setattr(run, "LabPlace", lambda *_: Virtual())
    result = simpleperf.check_step(program, "arguments")
    assert [check.outcome for check in result.checks][:2] == ["passed", "inconclusive"]
