"""Asks a student's kernel, for one check cell, for values and for calls of the student's functions."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from linklab.errors import LinklabError
from linklab.grade import values
from linklab.grading import answer
from linklab.grading.broker import Broker
from linklab.grading.cells import Argument
from linklab.grading.student import Student
from linklab.guest.channel import Channel, ChannelClosed, ChannelTimeout
from linklab.measure import Prober, Video

_CONNECT_S: Final = 15.0
_HEED_S: Final = 5.0
_METHODS: Final = ("send", "train")
_ATTRIBUTES: Final = ("sent_bytes", "count", "probes", "budget_bytes")
"""What a student's function may use of a prober, which is the judge's."""


class RaisedInKernel(Exception):
    """An expression raised an exception in the student's kernel: ``kind`` is its type's name, and this its message."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.kind = type(error).__name__


class KernelGone(LinklabError):
    """The student's kernel has ended, or does not answer."""


class Session:
    """A conversation with the student's kernel that lasts `limit_s` at most; the kernel runs no cell meanwhile."""

    def __init__(
        self, student: Student, broker: Broker, channel: Channel | None, limit_s: float, video: Video | None
    ) -> None:
        self._student, self._broker, self.channel = student, broker, channel
        self._until = time.monotonic() + limit_s
        self._limit_s, self._video = limit_s, video
        self._lent: list[Prober] = []

    def __enter__(self) -> Session:
        self._student.begin(answer.CODE, hidden=True)
        if self.channel is None:
            try:
                self.channel = self._broker.values.get(timeout=_CONNECT_S)
            except queue.Empty:
                self._student.end("its kernel did not hand over values")
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self.channel is not None:
                self.channel.send({"end": True}, _HEED_S)
        except (ChannelClosed, ChannelTimeout):
            self._student.end("its kernel did not hand over values")
        self._student.finish(_HEED_S)

    def argument(self, wanted: Argument) -> object:
        """Return the value of a check's argument. Raises `RaisedInKernel`, `values.ValueRefused` and `KernelGone`."""
        if wanted.is_value:
            return wanted.value
        try:
            return self._asked({"evaluate": wanted.expression})
        except (values.ValueRefused, KernelGone):
            raise
        except Exception as error:
            raise RaisedInKernel(error) from None

    def _asked(self, request: dict[str, Any]) -> object:
        """Ask the kernel, answer what it asks in turn, and return its answer. Raises what was raised there."""
        self._send(request)
        while True:
            message = self._received()
            if "use" in message:
                self._send(self._used(message))
            elif "value" in message:
                return values.read(str(message["value"]), self._own)
            elif "raised" in message:
                error = values.read(str(message["raised"]), self._own)
                raise error if isinstance(error, Exception) else KernelGone("its kernel answers what no kernel would")
            else:
                self._student.end("its kernel answers what no kernel would")
                raise KernelGone(self._student.death_reason)

    def _send(self, message: dict[str, Any]) -> None:
        if self.channel is None:
            raise KernelGone(self._student.death_reason or "its kernel did not hand over values")
        try:
            self.channel.send(message, max(1.0, self._until - time.monotonic()))
        except (ChannelClosed, ChannelTimeout):
            self._student.end("its kernel was ended by a function of the notebook's")
            raise KernelGone(self._student.death_reason) from None

    def _received(self) -> dict[str, Any]:
        assert self.channel is not None
        try:
            left_s = self._until - time.monotonic()
            if left_s <= 0:  # who asks all the time is late too
                raise ChannelTimeout
            return self.channel.receive(left_s)
        except ChannelTimeout:
            self._student.interrupt()
        except ChannelClosed:
            self._student.end("its kernel was ended by a function of the notebook's")
            raise KernelGone(self._student.death_reason) from None
        late = TimeoutError(f"it was not done after {self._limit_s:.0f} s and was interrupted")
        try:
            self.channel.receive(_HEED_S)
        except (ChannelClosed, ChannelTimeout):
            self._student.end(f"it was not done after {self._limit_s:.0f} s and went on when it was interrupted")
        self._until = time.monotonic() + _HEED_S  # what is left to be asked must be quick
        raise late

    def _used(self, message: dict[str, Any]) -> dict[str, Any]:
        """Answer a student's function that uses a prober: call the method, or read the attribute."""
        try:
            prober, name = self._lent[message["use"]], message["name"]
            is_call = "positional" in message
            if is_call and name == "__repr__":
                return {"value": values.write(repr(prober))}
            if name not in (_METHODS if is_call else _ATTRIBUTES):
                raise AttributeError(f"'Prober' object has no attribute {str(name)[:40]!r}")
            found = getattr(prober, name)
            if is_call:
                positional: Any = values.read(str(message["positional"]), self._own)
                named: Any = values.read(str(message["named"]), self._own)
                found = found(*positional, **named)
            return {"value": values.write(found)}
        except Exception as error:
            return {"raised": values.write(error)}

    def _own(self, tag: str, tree: Mapping[str, Any]) -> object:
        if tag == "lab":
            return self._broker.lab(tree["number"])
        if tag == "function" and isinstance(tree["number"], int):
            return self._function(tree["number"])
        if tag == "video":
            if self._video is None or values.read(str(tree["clip"])) != self._video.clip:
                raise values.ValueRefused("this is another video than the lab's: make it as the notebook says")
            return self._video
        raise values.ValueRefused("this value cannot be read: its tag is unknown")

    def _function(self, number: int) -> Callable[..., object]:
        def student_function(*positional: object, **named: object) -> object:
            return self._asked(
                {
                    "call": number,
                    "positional": values.write(list(positional), self._given),
                    "named": values.write(named, self._given),
                }
            )

        return student_function

    def _given(self, value: object) -> Mapping[str, Any] | None:
        """Return the reference that a student's function gets in place of a prober."""
        if not isinstance(value, Prober):
            return None
        self._lent.append(value)
        return {values.TAG: "lent", "number": len(self._lent) - 1, "methods": list(_METHODS)}
