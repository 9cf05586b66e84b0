"""Run a Mininet node's shell: each answer ends at its own mark, and a shell that ends is replaced.

Mininet takes one character, the shell's prompt, for the end of an answer. It is in the environment of every program,
so ``env`` prints it, and from then on each answer belongs to the command before. Here the prompt carries a number that
the shell counts, and only the next number ends an answer: no program's output has it before its time.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import select
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from mininet.log import error
from mininet.node import Node

from linklab.guest import background_output
from linklab.guest.namespace import Namespace, namespace_of

_FIRST_COMMAND = "unset HISTFILE; stty -echo; set +m"
"""What Mininet's `startShell` asks of each shell."""
_OUR_PROMPT = (
    # in a group, so that `set -x` shows nothing of it
    r"""; export -n PS1; PROMPT_COMMAND='{ PS1="\036linklab$((++LINKLAB_PROMPT))\036"; } 2>/dev/null'"""
)
_MARK = re.compile("\x1elinklab([0-9]+)\x1e")
_BEGUN_MARK = re.compile("\x1e(?:l(?:i(?:n(?:k(?:l(?:a(?:b[0-9]*)?)?)?)?)?)?)?\\Z")
_LONGEST_LINE_BYTES = 4000
"""The kernel's terminals take 4095 and cut off the rest."""
_CHUNK = 1024
_KEPT_BYTES = 16 * 1024
"""Bytes kept of what background programs print between two commands: as much as a terminal holds."""
_IN_STEP_S, _TRIES = 2.0, 3

_start_shell, _send_command, _send_int, _cleanup, _popen = (
    Node.startShell,
    Node.sendCmd,
    Node.sendInt,
    Node.cleanup,
    Node.popen,
)


def number_prompts() -> None:
    """Make all Mininet nodes of this process find the ends of their answers by numbered marks."""
    for name, value in {
        "startShell": start_shell,
        "sendCmd": send_command,
        "sendInt": send_int,
        "monitor": monitor,
        "popen": popen,
        "cleanup": cleanup,
        "shell_ended": None,
        "status": None,
        "_prompts": 0,
        "_begun_mark": "",
        "_interrupted": False,
    }.items():
        setattr(Node, name, value)


def start_shell(self: Any, mnopts: str | None = None) -> None:
    """As Mininet's. `shell_ended` is readable once the shell has ended."""
    self._prompts, self._begun_mark, self._interrupted, self.shell_ended = 0, "", False, None
    _start_shell(self, mnopts)
    if self.shell is not None:
        # a command may print bytes that are no text
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.shell_ended = os.pidfd_open(self.shell.pid)
        # Mininet registers its terminal for writing as well, so that no wait would wait
        for place in (self.stdout, self.shell_ended):
            self.pollOut.register(place, select.POLLIN)


def open_shell(self: Any, there: Namespace) -> None:
    """Open a node's shell in a namespace that there is already."""
    # it is born in the namespace, and needs no new one
    in_namespace, self.inNamespace = self.inNamespace, False
    try:
        with there.entered_with_own_mounts() if in_namespace else there.entered():
            start_shell(self, "-d")
    finally:
        self.inNamespace = in_namespace


def send_command(self: Any, *words: Any, **options: Any) -> None:
    """As Mininet's. Several lines, and long ones, are one command; a shell that has ended is replaced first."""
    if words == (_FIRST_COMMAND,):
        words = (_FIRST_COMMAND + _OUR_PROMPT,)
    _renew_if_ended(self)
    if self._interrupted and not in_step(self, lambda limit_s: _wait(self, limit_s)):
        renew(self)
    self.status = None
    given = words[0] if len(words) == 1 and isinstance(words[0], list) else words
    text = " ".join(map(str, given)).strip("\n")
    if "\n" in text or len(text.encode()) > _LONGEST_LINE_BYTES:
        # this process's own view of files, as a host may have a /tmp of its own
        path = Path(f"/tmp/linklab-{self.name}.sh")
        path.write_text(f"{text}\n")
        text = f". /proc/{os.getpid()}/root{path}"
    _send_command(self, text, **options)


def send_int(self: Any, *words: Any) -> None:
    """As Mininet's. At its prompt a shell answers an interrupt by another prompt, so it has to get in step."""
    self._interrupted = True
    _send_int(self, *words)


def monitor(self: Any, timeoutms: float | None = None, findPid: bool = True) -> str:
    """As Mininet's: what the node has printed. `waiting` is False after the command's end."""
    ready = _wait(self, None if timeoutms is None else timeoutms / 1000)
    if not ready:
        return ""
    if self.stdout.fileno() in ready:
        text = _taken(self, self.read(len(self.readbuf) + _CHUNK))
        while findPid and re.search("\x01[0-9]*\r?\\Z", text):  # a process id comes in pieces
            text += _taken(self, self.read(_CHUNK))
    else:  # what it has printed may still be on its way: this comes behind it
        os.write(self.slave, f"\x1elinklab{self._prompts + 1}\x1e".encode())
        text, self.waiting = "", True
        while self.waiting:
            text += _taken(self, self.read(_CHUNK))
        _renew_if_ended(self)
    if findPid and "\x01" in text:
        text = re.sub(r"\[[0-9]+\] [0-9]+\r\n", "", text)
        for number in re.findall("\x01([0-9]+)\r\n", text)[:1]:
            self.lastPid = int(number)
        text = re.sub("\x01[0-9]+\r\n", "", text)
    return text


def idle_terminals() -> background_output.Readers:
    """Return the terminals of all shells that run no command: what programs in the background print begins the next
    answer.
    """
    nodes = [node for node in dict.fromkeys(Node.outToNode.values()) if node.shell is not None and not node.waiting]
    return {node.stdout.fileno(): partial(_read_ahead, node) for node in nodes}


def _read_ahead(self: Any) -> None:
    text = self.decoder.decode(os.read(self.stdout.fileno(), _KEPT_BYTES))
    self.readbuf = (self.readbuf + text)[-_KEPT_BYTES:]


def _wait(self: Any, timeout_s: float | None) -> list[int]:
    """Return which of the node's shell's output and end are there, [] after so many seconds."""
    own = [self.stdout.fileno()]
    if self.shell_ended is not None:  # Mininet's first commands come before it is known
        own.append(self.shell_ended)
    return background_output.poll(own, timeout_s, idle_terminals())


def _taken(self: Any, data: str) -> str:
    """Return the output in what was read, without the marks.

    The mark of the present command ends it; older ones were drawn by hand.
    """
    text = self._begun_mark + data
    for mark in _MARK.finditer(text):
        if int(mark[1]) > self._prompts:
            self._prompts, self.waiting = int(mark[1]), False
    text = _MARK.sub("", text)
    begun = _BEGUN_MARK.search(text) if self.waiting else None
    self._begun_mark = begun[0] if begun else ""
    return text[: begun.start()] if begun else text


def in_step(self: Any, wait: Callable[[float], object]) -> bool:
    """Read all that the node's shell still has to say, up to its answer to a word; False where that does not come.

    `wait` returns when there is something to read, or after so many seconds. An interrupt may have swallowed the word.
    """
    return any(_answers(self, wait) for _ in range(_TRIES))


def _answers(self: Any, wait: Callable[[float], object]) -> bool:
    word = f"linklab-{time.monotonic_ns()}"
    self.write(f"echo {word}\n")
    said, deadline = self.readbuf, time.monotonic() + _IN_STEP_S
    self.readbuf, self._begun_mark = "", ""
    while not (answer := re.search(f"{word}\r?\n{_MARK.pattern}", said)):
        if (left_s := deadline - time.monotonic()) <= 0 or has_ended(self):
            return False
        with contextlib.suppress(KeyboardInterrupt):
            wait(left_s)
            if select.select([self.stdout], [], [], 0)[0]:
                said += self.read(_CHUNK)
    self._prompts, self.waiting, self._interrupted = int(answer[1]), False, False
    return True


def has_ended(self: Any) -> bool:
    """Return whether the node's shell has ended: there was one, and it is gone."""
    return self.shell_ended is not None and self.shell.poll() is not None


def renew(self: Any) -> None:
    """End the node's shell if it still runs, open another one in the same network, and say so in a line."""
    there, shell, command = namespace_of(self), self.shell, self.lastCmd
    shell.kill()
    status = shell.wait()
    self.cleanup()
    open_shell(self, there)
    self.mountPrivateDirs()
    self.status = status if status >= 0 else 128 - status
    error(
        f"*** the shell of {self.name} has ended with {command!r}: it has a new one, without the folder, the variables "
        "and the background programs of the old one\n"
    )


def _renew_if_ended(self: Any) -> None:
    if has_ended(self):
        renew(self)


def popen(self: Any, *words: Any, **options: Any) -> Any:
    """As Mininet's, which finds the node's namespace by its shell: one that has ended is replaced first."""
    _renew_if_ended(self)
    return _popen(self, *words, **options)


def cleanup(self: Any) -> None:
    """As Mininet's."""
    _cleanup(self)
    if self.shell_ended is not None:
        os.close(self.shell_ended)
        self.shell_ended = None
