"""Find the study that a name on the command line means, in the kit or in ``FILE.py:NAME``, with own levels."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, Final

from linklab.discovery import STUDIES, study_module, study_names
from linklab.errors import MeasurementError
from linklab.study.claims import Claims
from linklab.study.declare import Level, Study, is_own, raised
from linklab.study.table import digest, named_level

_IN_FILE: Final = re.compile(r"(?P<file>.+\.py):(?P<name>\w+)")
_LONGEST: Final = 40


@cache
def pages() -> Mapping[str, Path]:
    """Return the kit's pages, by name: the notebook ``page.py`` of each folder of ``studies/``."""
    return MappingProxyType({name: STUDIES / name / "page.py" for name in study_names()})


@cache
def studies() -> Mapping[str, Study]:
    """Return the kit's studies, by name: ``STUDIES`` of each ``studies/NAME/study.py``."""
    found = (study for name in study_names() for study in study_module(name, "study").STUDIES)
    return MappingProxyType({study.name: study for study in found})


def claims_of(name: str) -> Claims:
    """Return the claims of a folder of ``studies/``, and who judges them: ``CLAIMS`` of its ``judges.py``."""
    found: Claims = study_module(name, "judges").CLAIMS
    return found


def claims_about(study: Study) -> Claims:
    """Return the claims that a table of one of the kit's studies can judge; of another study there are none."""
    having = (name for name in study_names() if study in study_module(name, "study").STUDIES)
    return next(map(claims_of, having), Claims())


def study_by_name(name: str) -> Study:
    """Return the study of that name, or the one that ``FILE.py:STUDY`` names.

    Raises MeasurementError, listing the names, if there is none.
    """
    if name.endswith(".py"):
        named = _studies_in(_module(name)) or ["STUDY"]
        raise MeasurementError(f"{name} is a file: name a study in it, {' or '.join(f'{name}:{it}' for it in named)}")
    if is_in_file(name):
        found = from_file(name)
        if not isinstance(found, Study):
            raise MeasurementError(f"{name} is a {type(found).__name__} and no linklab.study.Study")
        return replace(found, command=f"linklab study run {shlex.quote(name)}")
    if name not in studies():
        raise MeasurementError(f"no study is called {name!r}: choose one of {', '.join(studies())}")
    return studies()[name]


def with_command(study: Study) -> Study:
    """Return a study of one's own with the command that runs it by its name in its file; another one as it is."""
    if study not in studies().values():
        for module in [*sys.modules.values()]:
            file = Path(getattr(module, "__file__", None) or __file__)
            names = vars(module).items() if file.suffix == ".py" and is_own(file) else ()
            if name := next((name for name, value in names if value is study), ""):
                shown = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
                return replace(study, command=f"linklab study run {shlex.quote(f'{shown}:{name}')}")
    return study


def is_in_file(name: str) -> bool:
    """Return True if a name has the form ``FILE.py:NAME``."""
    return _IN_FILE.fullmatch(name) is not None


def from_file(name: str) -> Any:
    """Return what ``FILE.py:NAME`` names. The file can import modules of its own folder and of the current one.

    Raises MeasurementError in one line if there is no such file, if it fails, or if it has no such name.
    """
    found = _IN_FILE.fullmatch(name)
    if found is None:
        raise MeasurementError(f"{name} names nothing in a file: write FILE.py:NAME")
    module = _module(found["file"])
    if found["name"] not in vars(module):
        named = ", ".join(_studies_in(module)) or "none"
        raise MeasurementError(f"{found['file']} has no {found['name']!r}: its studies are {named}")
    return vars(module)[found["name"]]


def _module(file: str) -> ModuleType:
    path = Path(file).absolute()
    if not path.is_file():
        raise MeasurementError(f"{file} is not there: say another file")
    refuse_clash(path)
    module_name = f"study_file_{digest(str(path))}"
    module = sys.modules.get(module_name)
    if module is None:
        spec = importlib.util.spec_from_file_location(module_name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[module_name] = module  # its source is looked up there
        beside = [str(path.parent), str(Path.cwd())]
        sys.path[:0] = beside
        try:
            spec.loader.exec_module(module)
        except (Exception, SystemExit) as error:
            del sys.modules[module_name]
            raise MeasurementError(f"{file} fails: {raised(error)}") from error
        finally:
            for place in beside:
                sys.path.remove(place)
    return module


def _studies_in(module: ModuleType) -> list[str]:
    return [name for name, value in vars(module).items() if isinstance(value, Study)]


def refuse_clash(file: Path) -> None:
    """Raise MeasurementError for a file with the name of a module of Python's: others would import it in its place."""
    if file.stem in sys.stdlib_module_names:
        raise MeasurementError(f"{file.name} has the name of Python's own module {file.stem}: rename the file")


def selection(settings: Iterable[str], option: str) -> dict[str, list[str]]:
    """Read the levels of factors from the words of an option: ``["size=1,2", "kind=a"]``.

    Raises MeasurementError for a word without a factor or a level.
    """
    chosen: dict[str, list[str]] = {}
    for text in settings:
        factor, _, levels = text.partition("=")
        if not factor or not all(levels.split(",")):
            raise MeasurementError(
                f"{option} {text} names no level: write {option} FACTOR=LEVEL,LEVEL, as in {option} rates=10/10"
            )
        chosen.setdefault(factor, []).extend(levels.split(","))
    return chosen


def with_own_levels(study: Study, settings: Mapping[str, Sequence[str]]) -> Study:
    """Return the study with other levels of some factors, given as texts. They become part of its name and command.

    Raises MeasurementError for an unknown factor, a text where levels are numbers, a missing file, or a level with
    which no combination belongs to the study.
    """
    if not settings:
        return study
    levels: dict[str, Sequence[Level]] = {
        factor: tuple(dict.fromkeys(_level(study, factor, text) for text in texts))
        for factor, texts in settings.items()
    }
    words = " ".join("--set " + shlex.quote(f"{factor}={','.join(texts)}") for factor, texts in settings.items())
    plain = "-".join(text for factor in study.factors for text in settings.get(factor, ()))
    short = re.sub(r"[^a-z0-9_]+", "-", plain.lower()).strip("-")[:_LONGEST]
    exact = digest(json.dumps(levels, sort_keys=True))[:6]  # the same numbers may be levels of other factors
    own = replace(
        study.with_levels(**levels), name=f"{study.name}-own-{short}-{exact}", command=f"{study.command} {words}"
    )
    points = own.points()
    for factor, given in levels.items():
        for level in given:
            if not any(point[factor] == level for point in points):
                raise MeasurementError(f"study {study.name} leaves out every combination with {factor}={level}")
    return own


def _level(study: Study, factor: str, text: str) -> Level:
    level = named_level(study, factor, text)
    if factor in study.files and level not in study.factors[factor] and not Path(text).is_file():
        names = ", ".join(map(str, study.factors[factor]))
        raise MeasurementError(f"{factor} is {text!r}: no such file here; say one, or {names}")
    return level
