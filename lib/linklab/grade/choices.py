"""Questions with options to choose from, whose keys students do not see at a glance in what they install.

An instructor writes them into ``NN-choices.toml`` beside the lab's notebook source::

    [third_flow]
    question = "Why is the highest RTT with three flows what it is with two?"
    right = "a"
    hints = ["what decides how long a ping waits?", "compare the sums of throughput"]
    told = "the explanation, in Markdown, that a right answer opens; it may be left out"
    [third_flow.options]
    a = "L2's queue was full with two already"
    b = "each flow waits in a queue of its own"
    [third_flow.remarks]
    b = "all packets that leave r2 for r3 wait in one queue"

    [explanations]
    why = "the explanation, in Markdown, that the written answer `reflect="why"` opens (`linklab.grade.written`)"

`seal` makes the lab's ``choices.json`` of it. The right option, the remarks and all explanations are in base64 there.
That hides them from a glance, and from nobody who decodes them. Trying all options with the check finds the key too.
"""

from __future__ import annotations

import base64
import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from linklab import schema
from linklab.course import is_variant
from linklab.errors import LinklabError
from linklab.grade.questions import OneOf, asked, asked_one
from linklab.grade.result import Result, guarded

SEALED: Final = "choices.json"
"""The file's name in a lab's folder."""
EXPLANATIONS: Final = "explanations"
"""The table with what written answers open, among the questions."""
_COUNTS: Final = "\n\n**What counts:**"
_TURNS: Final = ("first", "second", "third", "fourth", "fifth")
_OTHER_NUMBERS: Final = "*Where your network has other numbers: this text uses those of the plain course network.*"


def choices(folder: Path, *keys: str) -> tuple[OneOf, ...]:
    """Return the questions of a lab's folder: those with these keys, in this order, or all.

    Raise LinklabError where its file cannot be read, or lacks one of them.
    """
    path = folder / SEALED
    try:
        data: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return tuple(_question(key, data[key]) for key in keys or data if key != EXPLANATIONS)
    except (OSError, ValueError, LookupError, TypeError) as wrong:
        raise LinklabError(f"{path} holds no questions ({wrong}): run `linklab notebooks build`") from None


def explanation(folder: Path, name: str) -> str:
    """Return what the written answer ``name`` of a lab's folder opens, as Markdown. Raise LinklabError for none."""
    path = folder / SEALED
    try:
        sealed = json.loads(path.read_text("utf-8"))[EXPLANATIONS][name]
        return _of_this_network(_opened(sealed))
    except (OSError, ValueError, LookupError, TypeError) as wrong:
        raise LinklabError(f"{path} has no explanation {name!r} ({wrong}): run `linklab notebooks build`") from None


def _question(key: str, one: dict[str, Any]) -> OneOf:
    hidden = json.loads(_opened(one["sealed"]))
    told = _of_this_network(hidden["told"]) if hidden["told"] else ""
    return OneOf(key, one["question"], one["options"], hidden["right"], hidden["remarks"], tuple(one["hints"]), told)


def letters(title: str, folder: Path, *keys: str) -> Callable[[object], Result]:
    """Return the check of a student's dictionary of letters, for these questions of a lab's folder, or all."""
    example = "{" + ", ".join(f'"{key}": "a"' for key in keys) + "}" if keys else ""
    return guarded(title)(lambda answers: asked(title, answers, choices(folder, *keys), example))


def letter(title: str, folder: Path, key: str) -> Callable[[object], Result]:
    """Return the check of a student's letter for one question of a lab's folder."""
    return guarded(title)(lambda answer: asked_one(title, answer, *choices(folder, key)))


def question_text(folder: Path, *keys: str) -> str:
    """Return questions of a lab's folder with their options, for reading. Raise LinklabError as `choices`."""
    return "\n\n".join(
        "\n".join([one.what, *(f"  {letter}: {text}" for letter, text in one.options.items())])
        for one in choices(folder, *keys)
    )


@dataclass(frozen=True)
class WrittenQuestion:
    """A question as an instructor writes it."""

    question: str
    right: str
    options: dict[str, str]
    remarks: dict[str, str]
    hints: list[str]
    told: str = ""


def seal(text: str, counts: Mapping[str, Sequence[str]] | None = None) -> str:
    """Return the sealed form of an instructor's questions. Raise LinklabError where they are not well formed.

    ``counts`` says what counts in the written answers that an explanation is for, by the name of the last of them, and
    is empty where nothing is said of one: the explanation ends with that.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        raise LinklabError(f"this is no TOML ({wrong})") from None
    told = schema.load(dict[str, str], data.pop(EXPLANATIONS, {}), EXPLANATIONS)
    written = {key: schema.load(WrittenQuestion, one, f"question {key}") for key, one in data.items()}
    sealed: dict[str, Any] = {key: _question_sealed(key, one) for key, one in written.items()}
    if told:
        whole = {name: f"{text.strip()}{_what_counts((counts or {}).get(name, ()))}" for name, text in told.items()}
        sealed[EXPLANATIONS] = {name: _sealed(text) for name, text in whole.items()}
    return json.dumps(sealed, indent=1, ensure_ascii=False) + "\n"


def _what_counts(answers: Sequence[str]) -> str:
    """Return the end of an explanation: what counts in its answer, or in each of several, in order."""
    if len(answers) == 1:
        return f"{_COUNTS} {answers[0]}." if answers[0] else ""
    lines = [f"- {turn} answer, {told}." for turn, told in zip(_TURNS, answers, strict=False) if told]
    return "\n".join([f"{_COUNTS}\n", *lines]) if lines else ""


def _question_sealed(key: str, one: WrittenQuestion) -> dict[str, Any]:
    """Return one question, with all but what students are asked sealed."""
    wrong = set(one.options) - {one.right}
    if one.right not in one.options or set(one.remarks) != wrong:
        named = ", ".join(sorted(wrong))
        raise LinklabError(f"question {key}: give a remark for each wrong option ({named}) and for no other")
    hidden = {"remarks": one.remarks, "told": one.told.strip(), "right": one.right}
    sealed = _sealed(json.dumps(hidden, ensure_ascii=False))
    return {"question": one.question, "options": one.options, "hints": one.hints, "sealed": sealed}


def _sealed(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _opened(sealed: str) -> str:
    return base64.b64decode(sealed).decode()


def _of_this_network(explanation: str) -> str:
    """Return an explanation that says whose numbers it has, where the student has a network of their own."""
    return f"{explanation}\n\n{_OTHER_NUMBERS}" if is_variant() else explanation
