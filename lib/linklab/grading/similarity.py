"""Which programs and answers of a class are nearly the same.

Programs are compared by their tokens, without comments, blank space and docstrings, all names of the author's own
being one: what is usually changed in a copy changes nothing. What students were given is taken away first. Texts are
compared by their words. The measure is 1 less the insertions and deletions that make one of the other (`rapidfuzz`'s
normalised Indel similarity), once in order and once with the statements sorted, for statements and functions can be
moved: the larger counts.

Nearly the same is a reason to look, and proves nothing.
"""

from __future__ import annotations

import builtins
import importlib
import io
import keyword
import re
import token
import tokenize
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy
from rapidfuzz import process
from rapidfuzz.distance import Indel

PROGRAM_THRESHOLD: Final = 0.85
TEXT_THRESHOLD: Final = 0.85
SHORTEST_PROGRAM: Final = 80
"""Tokens of one's own. Short answers are the same when they are right."""
SHORTEST_TEXT: Final = 15
"""Words."""
_LONGEST: Final = 20_000
"""Tokens or words that are compared."""
_KEPT: Final = frozenset((*keyword.kwlist, *dir(builtins)))
_BLANK: Final = (token.COMMENT, token.NL, token.INDENT, token.DEDENT, token.ENCODING, token.ENDMARKER)
_WORD: Final = re.compile(r"\w+")
_PIECE: Final = re.compile(r"\w+|[^\w\s]")
_FIRST_LETTER: Final = 0x4E00
"""Tokens become letters, from here on: there is room for 20,000 different ones."""
_ROOM: Final = 20_000

Statement = tuple[str, ...]


@dataclass(frozen=True)
class Alike:
    """Students whose work is nearly the same, each one's as another one's of them: ``what`` it is.

    How alike, 1 being the same, is said of the two that are ``most``, and of the two that are ``least`` alike and still
    nearly the same.
    """

    what: str
    students: tuple[str, ...]
    least: float
    most: float


def programs_alike(what: str, programs: Mapping[str, str], given: str) -> list[Alike]:
    """Groups of programs, by student, that are nearly the same beyond what was ``given``."""
    known = set(_anonymous(given))
    own = {student: _own(source, known) for student, source in programs.items()}
    return _groups(what, own, SHORTEST_PROGRAM, PROGRAM_THRESHOLD)


def texts_alike(what: str, texts: Mapping[str, str]) -> list[Alike]:
    """Groups of free texts, by student, that are nearly the same."""
    words = {student: [tuple(_WORD.findall(row.casefold())) for row in re.split(r"[.!?\n]+", text)]
             for student, text in texts.items()}  # fmt: skip
    return _groups(what, words, SHORTEST_TEXT, TEXT_THRESHOLD)


def _groups(what: str, own: Mapping[str, list[Statement]], shortest: int, threshold: float) -> list[Alike]:
    long = {student: rows for student, rows in own.items() if sum(map(len, rows)) >= shortest}
    students = list(long)
    if len(students) < 2:
        return []
    letters: dict[str, str] = {}
    best: Any = None
    for order in (list, sorted):
        spelled = [_spelled(order(rows), letters) for rows in long.values()]
        scores = process.cdist(
            spelled, spelled, scorer=Indel.normalized_similarity, score_cutoff=threshold, workers=-1,
            dtype=numpy.float64,
        )  # fmt: skip
        best = scores if best is None else numpy.maximum(best, scores)
    numpy.fill_diagonal(best, 0)
    graphs: Any = importlib.import_module("scipy.sparse.csgraph")
    number, labels = graphs.connected_components(best > 0, directed=False)
    found = []
    for group in range(number):
        members = numpy.flatnonzero(labels == group)
        if len(members) > 1:
            links = best[numpy.ix_(members, members)]
            near = links[links > 0]
            names = tuple(students[member] for member in members)
            found.append(Alike(what, names, float(near.min()), float(near.max())))
    return sorted(found, key=lambda one: -one.most)


def _spelled(rows: Iterable[Statement], letters: dict[str, str]) -> str:
    """Each token as one letter, for the comparison of texts is the fastest there is."""
    flat = [word for row in rows for word in row][:_LONGEST]
    for word in flat:
        if word not in letters:
            # tokens beyond the room share one letter, which can only make strangers more alike
            letters[word] = chr(_FIRST_LETTER + min(len(letters), _ROOM))
    return "".join(letters[word] for word in flat)


def _statements(source: str) -> list[Statement]:
    """A program's statements, each as its tokens; what cannot be read as Python is cut into lines and pieces."""
    rows: list[Statement] = []
    row: list[str] = []
    try:
        for each in tokenize.generate_tokens(io.StringIO(source).readline):
            if each.type == token.NEWLINE:
                rows.append(tuple(row))
                row = []
            elif each.type not in _BLANK:
                row.append(each.string)
    except (tokenize.TokenError, SyntaxError, ValueError, RecursionError):
        return [tuple(_PIECE.findall(line)) for line in source.splitlines() if line.strip()]
    return [row for row in (*rows, tuple(row)) if row and not _is_text_alone(row)]


def _is_text_alone(row: Sequence[str]) -> bool:
    return len(row) == 1 and row[0].endswith(("'", '"'))


def _own(source: str, known: set[Statement]) -> list[Statement]:
    return [row for row in _anonymous(source) if row not in known]


def _anonymous(source: str) -> list[Statement]:
    """A program's statements; names that an author chose become one, and texts too: in a copy they change first."""
    return [tuple(_anonymous_token(word) for word in row) for row in _statements(source)]


def _anonymous_token(word: str) -> str:
    if word.endswith(("'", '"')):
        return "TEXT"
    return word if word in _KEPT or not word.isidentifier() else "NAME"
