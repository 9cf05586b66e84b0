"""What the points of a study were measured with, as digests: a changed study is known by them. Pure but for sources."""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
import sys
import textwrap
from collections.abc import Callable
from typing import Any

from linklab import __version__
from linklab.errors import MeasurementError
from linklab.study.declare import Study
from linklab.study.point import Point


def digest(text: str) -> str:
    """The first 16 digits of SHA-256: enough to tell two versions of one thing apart."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def definition(study: Study, clock: str) -> dict[str, str]:
    """Digests of all that is one for the whole study. Levels and repeats are not: a study may grow.

    Raises MeasurementError where the measurement's source cannot be read.
    """
    metrics = [[metric.name, metric.unit] for metric in study.metrics]
    return {
        "measurement": digest(_meaning_of(study.measurement)),
        "metrics": digest(json.dumps(metrics)),
        "factors": digest(json.dumps(list(study.factors))),
        "clock": clock,
        "seed": "of the factor seed, else the repeat",
        "linklab": __version__,
    }


def testbed_digest(study: Study, point: Point) -> str:
    """A digest of a point's network and switches. Raises MeasurementError where there can be none."""
    return digest(repr(study.place(point)))


def changes(before: Any, now: dict[str, str]) -> list[str]:
    """Which of the parts of a definition differ, by name."""
    was = before if isinstance(before, dict) else {}
    return [part for part, value in now.items() if was.get(part) != value]


def _meaning_of(function: Callable[..., Any]) -> str:
    """The module of a function (of a notebook, the function alone) as a syntax tree: comments do not count."""
    module = sys.modules.get(function.__module__)
    what: Any = function if module is None or function.__module__ == "__main__" else module
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(what)))
    except (OSError, TypeError, SyntaxError):
        raise MeasurementError(
            f"the source of {function.__name__} cannot be read, so a change of it would go unnoticed: "
            "define it in a file or in a notebook"
        ) from None
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)
