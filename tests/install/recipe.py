"""The recipe of a container, read as far as its tests need it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True)
class Stage:
    """A stage: its name (of one without, its number), what it builds on, and its instructions, arguments filled in."""

    name: str
    base: str
    instructions: tuple[tuple[str, str], ...]

    def all(self, word: str) -> list[str]:
        """Return what stands behind each instruction of this kind."""
        return [rest for found, rest in self.instructions if found == word]

    def last(self, word: str) -> str:
        """Return what stands behind the last instruction of this kind."""
        return self.all(word)[-1]

    def copied(self) -> list[str]:
        """Return what it copies out of the kit's folder."""
        found = [rest.split()[:-1] for rest in self.all("COPY") if not rest.startswith("--from=")]
        return [place for places in found for place in places]


def read(path: Path, given: Mapping[str, str] | None = None) -> dict[str, Stage]:
    """Return a recipe's stages by name, in their order; ``given`` are build arguments."""
    stages: dict[str, Stage] = {}
    outer: dict[str, str] = {}  # arguments above all stages, which FROM knows alone
    known: dict[str, str] = {}  # the stage's arguments, which end with it, and environment, which goes on in others
    lasting: dict[str, dict[str, str]] = {}
    for word, rest in _instructions(path.read_text("utf-8")):
        if word == "ARG":
            name, _, value = rest.partition("=")
            (known if stages else outer)[name] = (given or {}).get(name, value)
            continue
        filled = _filled(rest, outer if word == "FROM" else known)
        if word == "FROM":
            base, _, name = filled.partition(" AS ")
            name = name or str(len(stages))
            stages[name] = Stage(name, base, ())
            lasting[name] = dict(lasting.get(base, {}))
            known = dict(lasting[name])
            continue
        stage = list(stages.values())[-1]
        if word == "ENV":
            lasting[stage.name] |= dict(pair.split("=", 1) for pair in filled.split())
            known |= lasting[stage.name]
        stages[stage.name] = replace(stage, instructions=(*stage.instructions, (word, filled)))
    return stages


def built_on(stages: Mapping[str, Stage], name: str) -> Iterator[Stage]:
    """Yield a stage and those below it, whose files are all in what it makes."""
    while name in stages:
        yield stages[name]
        name = stages[name].base


def _filled(text: str, known: Mapping[str, str]) -> str:
    """Return a text with its names filled in. Raises KeyError for an unknown one, which a build takes for nothing."""
    return re.sub(r"\$\{(\w+)\}", lambda found: known[found[1]], text)


def _instructions(text: str) -> Iterator[tuple[str, str]]:
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    for line in re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines():
        if line:
            word, _, rest = line.partition(" ")
            yield word, rest.strip()
