"""Questions with options to choose from, whose keys students must not find in what they install.

An instructor writes them into ``NN-choices.toml`` beside the lab's notebook source::

    [third_flow]
    question = "Why is the highest RTT with three flows what it is with two?"
    right = "a"
    hints = ["what decides how long a ping waits?", "compare the sums of throughput"]
    [third_flow.options]
    a = "L2's queue was full with two already"
    b = "each flow waits in a queue of its own"
    [third_flow.remarks]
    b = "all packets that leave r2 for r3 wait in one queue"

`told` may come to it: the explanation, in Markdown, that a right answer opens (ask first, then tell). `seal` makes of
it what the lab's folder carries: question and options as they are, and for each option its verdict and remark as a text
that only this option opens. So a check can judge an answer, and who reads the file finds no key. It is
no secret from somebody who tries all options; neither is it from somebody who gives all of them to the check.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from linklab.errors import LinklabError
from linklab.grade.questions import OneOf, asked
from linklab.grade.result import Result

SEALED: Final = "choices.json"
"""The file's name in a lab's folder."""
_RIGHT, _WRONG = "+", "-"


def choices(folder: Path, *keys: str) -> tuple[OneOf, ...]:
    """Return the questions of a lab's folder, those with these keys or all, in their order.

    Raise LinklabError where its file cannot be read, or lacks one of them.
    """
    path = folder / SEALED
    try:
        data: dict[str, Any] = json.loads(path.read_text("utf-8"))
        wanted = {key: data[key] for key in keys} or data
        return tuple(
            OneOf(key, one["question"], one["options"], _opener(key, one["sealed"]), tuple(one["hints"]))
            for key, one in data.items()
            if key in wanted
        )
    except (OSError, ValueError, LookupError, TypeError) as wrong:
        raise LinklabError(f"{path} holds no questions ({wrong}): run `linklab notebooks build`") from None


def choice(folder: Path, key: str) -> OneOf:
    """Return one question of a lab's folder. Raise LinklabError as `choices`."""
    (found,) = choices(folder, key)
    return found


def asked_by_letter(title: str, answers: object, folder: Path, *keys: str) -> Result:
    """Judge a student's dictionary of letters for these questions of a lab's folder."""
    return asked(title, answers, choices(folder, *keys), "{" + ", ".join(f'"{key}": "a"' for key in keys) + "}")


def question_text(folder: Path, *keys: str) -> str:
    """Return questions of a lab's folder with their options, for reading. Raise LinklabError as `choices`."""
    return "\n\n".join(
        "\n".join([one.what, *(f"  {letter}: {text}" for letter, text in one.options.items())])
        for one in choices(folder, *keys)
    )


def seal(text: str) -> str:
    """Return the sealed form of an instructor's questions. Raise LinklabError where they are not well formed."""
    try:
        written = tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        raise LinklabError(f"this is no TOML ({wrong})") from None
    return json.dumps({key: _sealed(key, one) for key, one in written.items()}, indent=1, ensure_ascii=False) + "\n"


def _sealed(key: str, one: Mapping[str, Any]) -> dict[str, Any]:
    wanted = {"question", "right", "options", "remarks", "hints"}
    if not isinstance(one, dict) or set(one) - {"told"} != wanted:
        raise LinklabError(f"question {key} has {', '.join(sorted(one))}: give {', '.join(sorted(wanted))}")
    options, remarks, right = one["options"], one["remarks"], one["right"]
    told = one.get("told", "")
    texts = [one["question"], right, told, *one["hints"], *_values(key, options), *_values(key, remarks)]
    if isinstance(one["hints"], str) or not all(isinstance(text, str) for text in texts):
        raise LinklabError(f"question {key}: write texts, and hints as a list of them")
    wrong = set(options) - {right}
    if right not in options or set(remarks) != wrong:
        raise LinklabError(
            f"question {key}: give a remark for each wrong option ({', '.join(sorted(wrong))}) and for no other"
        )
    said = {letter: _RIGHT + told if letter == right else _WRONG + remarks[letter] for letter in options}
    longest = max(len(text.encode()) for text in said.values())
    sealed = {letter: _crossed(key, letter, text.encode().ljust(longest)) for letter, text in said.items()}
    return {
        "question": one["question"],
        "options": options,
        "hints": one["hints"],
        "sealed": {letter: base64.b64encode(data).decode() for letter, data in sealed.items()},
    }


def _values(key: str, table: object) -> list[object]:
    if not isinstance(table, dict):
        raise LinklabError(f"question {key}: options and remarks are tables, as [{key}.options]")
    return list(table.values())


def _opener(key: str, sealed: Mapping[str, str]) -> Any:
    def opened(letter: str) -> tuple[bool, str]:
        text = _crossed(key, letter, base64.b64decode(sealed[letter])).decode()
        return text[0] == _RIGHT, text[1:].strip()

    return opened


def _crossed(key: str, letter: str, data: bytes) -> bytes:
    """Data, crossed with a stream of bytes that hangs on question and option; the same again gives it back."""
    blocks = (hashlib.sha256(f"{key}\0{letter}\0{number}".encode()).digest() for number in itertools.count())
    return bytes(one ^ other for one, other in zip(data, itertools.chain.from_iterable(blocks), strict=False))
