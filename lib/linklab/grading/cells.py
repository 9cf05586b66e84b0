"""Reads the instructor's check cells: which check a cell calls, and with which of the student's values.

No check cell runs where the student's code is. It has one or several lines ``module.check_x(arguments).require()``; an
argument is an expression of the student's names, or a literal.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from linklab.errors import LinklabError
from linklab.grade.result import Result
from linklab.labs import lab_names, load

SIMPLEPERF: Final = "simpleperf"
"""The module that has checks besides the labs."""


@dataclass(frozen=True)
class Argument:
    """An argument of a check: a `value` that stands in the cell, or else an `expression` of the student's names."""

    expression: str
    value: object = None
    is_value: bool = False


@dataclass(frozen=True)
class Call:
    """A check that a cell calls."""

    module: str
    name: str
    positional: tuple[Argument, ...]
    named: tuple[tuple[str, Argument], ...]

    @property
    def runs_a_program(self) -> bool:
        """Whether it is given the name of a program that lies next to the notebook."""
        return any(isinstance(it.value, str) and it.value.endswith(".py") for it in self.positional)

    def function(self) -> Callable[..., Result]:
        """Return the check itself, the instructor's own. Raises LinklabError where there is none."""
        module = (
            importlib.import_module("linklab.programs.simpleperf") if self.module == SIMPLEPERF else load(self.module)
        )
        found = getattr(module, self.name, None)
        if not callable(found):
            raise LinklabError(f"{self.module} has no {self.name}: write it in the lab's rules.py")
        return found  # type: ignore[no-any-return]


def calls_of(source: str) -> tuple[Call, ...]:
    """Return the checks of a cell, in order. Raises LinklabError for a cell of another form: an instructor wrote it."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError) as wrong:
        raise LinklabError(f"this check cell is no Python ({wrong}): take the notebooks of this Linklab") from None
    if not body:
        raise LinklabError("this check cell is empty: take the notebooks of this Linklab")
    return tuple(_call(statement) for statement in body)


def _call(statement: ast.stmt) -> Call:
    match statement:
        case ast.Expr(
            ast.Call(
                func=ast.Attribute(
                    value=ast.Call(
                        func=ast.Attribute(value=ast.Name(id=module), attr=name), args=positional, keywords=named
                    ),
                    attr="require",
                ),
                args=[],
                keywords=[],
            )
        ) if (
            (module == SIMPLEPERF or module in lab_names())
            and name.startswith("check_")
            and not any(isinstance(argument, ast.Starred) for argument in positional)
            and all(keyword.arg for keyword in named)
        ):
            return Call(
                module,
                name,
                tuple(map(_argument, positional)),
                tuple((str(keyword.arg), _argument(keyword.value)) for keyword in named),
            )
    raise LinklabError(
        f"{ast.unparse(statement)[:80]!r} is no check that can be judged: it must read module.check_x(...).require()"
    )


def _argument(node: ast.expr) -> Argument:
    try:
        return Argument("", ast.literal_eval(node), is_value=True)
    except (ValueError, TypeError):
        pass
    return Argument(ast.unparse(node))
