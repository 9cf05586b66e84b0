"""Hands the judge values of the student's kernel, and calls the student's functions for it. Runs in that kernel.

The judge does not trust it: the student's code runs beside it and may change it. The judge's strict reader
(:mod:`linklab.grade.values`) builds again what it sends.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from typing import Any, Final

from linklab.grade import values
from linklab.guest.channel import Channel
from linklab.lab import Lab
from linklab.measure import Video
from linklab.runtime import transport

_MODULE: Final = "linklab.grading.answer"
CODE: Final = f"__import__('importlib').import_module('{_MODULE}').serve()"
"""The code that the judge has the kernel run, silently, before it asks."""


class BorrowedProber:
    """The judge's prober, to be used from here: each use is a question to the judge."""

    def __init__(self, ask: Callable[..., Any], number: int, methods: list[str]) -> None:
        vars(self).update(_ask=ask, _number=number, _methods=methods)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in self._methods:
            return lambda *positional, **named: self._ask(self._number, name, positional, named)
        return self._ask(self._number, name, None, None)

    def __repr__(self) -> str:
        return str(self._ask(self._number, "__repr__", (), {}))


class _Answers:
    """The kernel's end of the connection."""

    def __init__(self, lender: str) -> None:
        self._connection: socket.socket = transport.connected(lender)
        number = self._connection.fileno()
        self._channel = Channel(number, number)
        self._channel.send({"want": "values"})
        self._functions: list[Callable[..., Any]] = []

    def serve(self, names: dict[str, Any]) -> None:
        """Answer until the judge has what it wants. `names` are the notebook's."""
        while True:
            request = self._channel.receive()
            if "end" in request:
                return
            try:
                answer = {"value": values.write(self._asked(request, names), self._given)}
            except BaseException as error:  # SystemExit and an interrupt are answers too
                answer = {"raised": values.write(error)}
            self._channel.send(answer)

    def _asked(self, request: Mapping[str, Any], names: dict[str, Any]) -> object:
        if "evaluate" in request:
            return eval(compile(request["evaluate"], "<check>", "eval"), names)
        positional: Any = values.read(request["positional"], self._lent)
        named: Any = values.read(request["named"], self._lent)
        return self._functions[request["call"]](*positional, **named)

    def _given(self, value: object) -> Mapping[str, Any] | None:
        reached_by = getattr(value.process, "transport", None) if isinstance(value, Lab) else None
        if isinstance(reached_by, transport.BorrowedLab):
            return {values.TAG: "lab", "number": reached_by.number}
        if isinstance(value, Video):
            return {values.TAG: "video", "clip": values.write(value.clip)}
        if callable(value):
            self._functions.append(value)
            return {values.TAG: "function", "number": len(self._functions) - 1}
        return None

    def _lent(self, tag: str, tree: Mapping[str, Any]) -> object:
        if tag != "lent":
            raise values.ValueRefused(f"this value cannot be read: {tag}")
        return BorrowedProber(self._ask, tree["number"], tree["methods"])

    def _ask(self, number: int, name: str, positional: Any, named: Any) -> Any:
        """Read an attribute of the judge's prober, or call a method."""
        used: dict[str, Any] = {"use": number, "name": name}
        if positional is not None:
            used |= {"positional": values.write(list(positional)), "named": values.write(named)}
        self._channel.send(used)
        told = self._channel.receive()
        if "raised" in told:
            error: Any = values.read(told["raised"], self._lent)
            raise error
        return values.read(told["value"], self._lent)


_answers: list[_Answers] = []


def serve() -> None:
    """Serve the judge for one check cell (`CODE` calls it)."""
    import IPython

    if not _answers:
        _answers.append(_Answers(os.environ[transport.VARIABLE]))
    shell: Any = IPython.get_ipython()
    _answers[0].serve(shell.user_ns)
