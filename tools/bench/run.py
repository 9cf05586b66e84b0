"""Carrying out a benchmark: one part after the other, each one's failure its own, what there is written down."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from linklab.errors import LinklabError
from tools.bench.findings import Findings, Record, Say
from tools.bench.parts import Part
from tools.bench.settings import Settings


@dataclass
class Outcome:
    """How one part went. `failure` is one line; the records are those measured before it."""

    part: Part
    records: list[Record] = field(default_factory=list)
    failure: str = ""
    wall_s: float = 0.0

    def findings(self, settings: Settings) -> Findings:
        """Tables and verdicts of the records that there are."""
        return self.part.report(self.records, settings)


@dataclass
class Outcomes:
    """How all parts went. `interrupted`: Ctrl-C came, and what was not measured until then is missing."""

    parts: list[Outcome] = field(default_factory=list)
    interrupted: bool = False

    @property
    def failed(self) -> bool:
        """Whether a part could not be measured to its end."""
        return any(outcome.failure for outcome in self.parts)


def run_parts(parts: Sequence[Part], settings: Settings, say: Say) -> Outcomes:
    """Measures the parts in turn. At KeyboardInterrupt all labs of the running part are ended, and no other begins."""
    outcomes = Outcomes()
    for part in parts:
        outcome = Outcome(part)
        outcomes.parts.append(outcome)
        began_s = time.monotonic()

        def tell(line: str, name: str = part.name, began_s: float = began_s) -> None:
            say(f"{name} {time.monotonic() - began_s:5.0f} s: {line}")

        try:
            part.measure(settings, tell, outcome.records.append)
        except KeyboardInterrupt:
            outcome.failure = "interrupted"
            outcomes.interrupted = True
        except LinklabError as error:
            outcome.failure = " ".join(str(error).split())
        except Exception as error:
            # a mistake of ours in one part must not cost the others' results
            outcome.failure = " ".join(f"{type(error).__name__}: {error}".split())
        outcome.wall_s = time.monotonic() - began_s
        if outcome.failure:
            say(f"{part.name}: FAILED: {outcome.failure}")
        if outcomes.interrupted:
            break
    return outcomes
