"""What passed when each program of the registry and of the findings was tried once: the judges' evidence.

From it they give their verdicts without a lab (`make test`); `make test-thorough` tries the programs themselves.
A scene is found again by what was asked to be played: where a check asks for another one, its test fails and says

    python -m tests.programs.simpleperf.played NAME...    (all that have no file, without a name)

which plays anew and needs a machine that runs labs on virtual time.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from unittest import mock

from linklab.errors import LinklabError
from linklab.programs import simpleperf
from linklab.programs.place import Place
from linklab.programs.simpleperf import Report, run
from linklab.programs.submission import SubmittedProgram
from tests.grade import evidence_files

from ...simpleperf.programs.make import Program, registry
from .expected import ADVISED, FAILED
from .findings import BY_NAME

_FOLDER: Final = Path(__file__).with_name("played")
_PLACES: Final = ("LabPlace", "LoopbackPlace")
Scenes = dict[str, list[dict[str, Any]]]
"""The records of scenes, by place and digest of what was asked for."""


def steps_of(name: str) -> list[str] | None:
    """Return the step that finds a wrong program; a right one is tried in all."""
    if name in BY_NAME:
        return list(BY_NAME[name].steps)
    found = {**FAILED, **ADVISED}.get(name)
    return [found[0]] if found else None


def _program(name: str) -> Program:
    return BY_NAME[name].program if name in BY_NAME else registry()[name]


def judged(name: str) -> Report:
    """Return the report on a program from the scenes played with it. Raises LinklabError where it asks for another."""
    anew = f"python -m tests.programs.simpleperf.played {name}"
    kept = evidence_files.read(_FOLDER / f"{name}.json.xz", _program(name).text, anew)
    unknown: list[str] = []
    report = _checked(name, lambda place, _: _Played(place, kept["places"][place], kept["scenes"], unknown))
    # said here, since a check of which something breaks is carried on with
    if unknown:
        raise LinklabError(f"{name} asks for scenes never played: {anew}")
    return report


class _Played:
    """A place that plays what was played there."""

    def __init__(self, name: str, place: dict[str, Any], scenes: Scenes, unknown: list[str]) -> None:
        self._name, self._scenes, self._unknown = name, scenes, unknown
        self.virtual: bool = place["virtual"]
        self.title: str = place["title"]

    def play(self, plans: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """As `Place.play`."""
        key = _key(self._name, plans)
        if key not in self._scenes:
            self._unknown.append(key)
            raise LinklabError("this scene was never played")
        return self._scenes[key]

    def close(self) -> None:
        """There is nothing to end."""


class _Playing(_Played):
    """A place that keeps what it plays."""

    def __init__(self, name: str, place: Place, scenes: Scenes) -> None:
        super().__init__(name, described(place), scenes, [])
        self._place = place

    def play(self, plans: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """As `Place.play`."""
        records = self._place.play(plans)
        self._scenes[_key(self._name, plans)] = records
        return records

    def close(self) -> None:
        """As `Place.close`."""
        self._place.close()


def described(place: Place) -> dict[str, Any]:
    """Return what a check reads of a place."""
    return {name: getattr(place, name) for name in ("virtual", "title")}


def _key(place: str, plans: list[dict[str, Any]]) -> str:
    return f"{place} {evidence_files.key(plans)}"


def _checked(name: str, place: Callable[[str, SubmittedProgram], Any]) -> Report:
    with tempfile.TemporaryDirectory() as folder, _places(place):
        return simpleperf.check(_program(name).write(Path(folder)), steps_of(name))


@contextmanager
def _places(place: Callable[[str, SubmittedProgram], Any]) -> Iterator[None]:
    with (
        mock.patch.object(run, "LabPlace", lambda program, _: place("LabPlace", program)),
        mock.patch.object(run, "LoopbackPlace", lambda program: place("LoopbackPlace", program)),
    ):
        yield


def play_anew(name: str) -> Report:
    """Try a program where programs are tried, and keep what passed."""
    scenes: Scenes = {}
    places: dict[str, dict[str, Any]] = {}
    real = {each: getattr(run, each) for each in _PLACES}

    def place(kind: str, program: SubmittedProgram) -> _Playing:
        made = real[kind](program)
        places[kind] = described(made)
        return _Playing(kind, made, scenes)

    report = _checked(name, place)
    evidence_files.write(_FOLDER / f"{name}.json.xz", _program(name).text, places=places, scenes=scenes)
    return report


def _never_played() -> list[str]:
    tried = (name for name, program in registry().items() if program.kind != "hostile")
    return [name for name in (*tried, *BY_NAME) if not (_FOLDER / f"{name}.json.xz").exists()]


if __name__ == "__main__":
    for each in sys.argv[1:] or _never_played():
        print(f"{each}: {play_anew(each).outcome}", flush=True)
