"""Near-identical work: copies are found however they were dressed up, honest work is not."""

from __future__ import annotations

import re
from typing import Final

import pytest

from linklab.grading import similarity
from linklab.grading.similarity import PROGRAM_THRESHOLD, programs_alike, texts_alike
from linklab.measure.reference import sealed
from tests.notebooks.run_notebook import ROOT
from tests.simpleperf.programs.make import Program, programs

STARTER: Final = (ROOT / "labs" / "simpleperf.py").read_text("utf-8")
SOLUTION: Final = (ROOT / "solutions" / "simpleperf.py").read_text("utf-8")
INDEPENDENT: Final = ("asyncio-streams", "batches", "by-hand", "one-thread", "socketserver-getopt", "tabs")


def _independent() -> list[Program]:
    return [program for program in programs("right") if program.name in INDEPENDENT]


def _renamed(source: str) -> str:
    names = sorted(set(re.findall(r"(?<![.\w])[a-z_]{4,}(?= =)", source)))
    assert len(names) > 10
    for number, name in enumerate(names):
        source = re.sub(rf"(?<![.\w]){name}\b", f"v{number}", source)
    return source


def _reordered(source: str) -> str:
    parts = re.split(r"\n\n\n(?=def |class |@)", source)
    assert len(parts) > 5
    return "\n\n\n".join([parts[0], *reversed(parts[1:])])


def _commented(source: str) -> str:
    return re.sub(r"\n( *)(return|if|for)\b", r"\n\1# my own idea\n\1\2", source).replace('"""', "'''")


@pytest.mark.parametrize("dress", [str, _renamed, _reordered, _commented])
def test_a_copy_is_found_however_it_was_dressed_up(dress: type[str]) -> None:
    found = programs_alike("x", {"ada": SOLUTION, "bob": dress(SOLUTION)}, STARTER)
    assert [one.students for one in found] == [("ada", "bob")]
    assert found[0].least == found[0].most >= PROGRAM_THRESHOLD


def test_linklabs_own_program_is_named_though_it_is_packed() -> None:
    packed = sealed(ROOT / "solutions" / "simpleperf.py")
    found = programs_alike("simpleperf.py", {"ada": packed, "kit": SOLUTION}, "")
    assert [one.students for one in found] == [("ada", "kit")]


def test_programs_written_apart_are_not_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {program.name: program.text for program in _independent()} | {"solution": SOLUTION}
    assert len(texts) == 7
    assert programs_alike("x", texts, STARTER) == []
    monkeypatch.setattr(similarity, "PROGRAM_THRESHOLD", 0.3)
    most = programs_alike("x", texts, STARTER)[0].most
    assert 0.3 < most < PROGRAM_THRESHOLD - 0.1, "there is room on either side of the threshold"


def test_dialects_of_one_program_are_alike() -> None:
    texts = {program.name: program.text for program in programs("right") if program.name not in INDEPENDENT[:-1]}
    assert len(texts) > 8
    (found,) = programs_alike("x", texts | {"other": SOLUTION}, STARTER)
    assert set(found.students) == set(texts), "together, and without the one that was written apart"
    assert 0.93 < found.least <= found.most == 1


def test_what_everybody_was_given_does_not_count() -> None:
    assert programs_alike("x", {"ada": STARTER, "bob": STARTER, "cyd": f"{STARTER}\nx = 1\n"}, STARTER) == []


def test_short_answers_are_not_compared() -> None:
    assert programs_alike("x", {"ada": "predicted = 20", "bob": "predicted = 20"}, "predicted = None") == []
    assert texts_alike("x", {"ada": "It is the queue.", "bob": "It is the queue."}) == []


TEXT: Final = (
    "The link does carry 10 Mbit/s, but 66 of the 1514 bytes of each frame are headers. "
    "A longer delay slows only the start, while TCP finds the rate."
)


def test_copied_texts_are_found_and_others_not() -> None:
    other = (
        "Headers take a part of every packet, so the data gets less than the whole rate. "
        "With 20 ms the window has to be larger; over a long time the throughput stays as it was."
    )
    reordered = ". ".join(reversed(TEXT.strip(".").split(". "))).replace("does carry", "carries").upper()
    begun = TEXT.replace("The link", "Our link").replace("A longer", "Any longer")
    found = texts_alike("x", {"ada": TEXT, "bob": reordered, "cyd": other, "dan": begun})
    assert [one.students for one in found] == [("ada", "bob", "dan")]


@pytest.mark.parametrize(
    "source", ["def f(:\n    '''", "\0" * 500, "(" * 5000, "x = 1\n" * 50_000, "\ud800 = 1\n" * 99]
)
def test_what_is_no_program_does_no_harm(source: str) -> None:
    assert len(programs_alike("x", {"ada": source, "bob": SOLUTION, "cyd": SOLUTION}, STARTER)) == 1
