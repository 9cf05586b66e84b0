"""Find programs and answers of a class that are nearly the same.

Programs are compared by their tokens, without comments, blank space and docstrings, all names of the author's own
being one: what is usually changed in a copy changes nothing. Statements that students were given are taken away first,
and the others are sorted, for they can be moved. Texts are compared by their words, sorted too. The measure is 1 less
the share of insertions and deletions that make one of the other (`rapidfuzz`'s normalised Indel similarity).

Nearly the same is a reason to look, and proves nothing.
"""

from __future__ import annotations

import ast
import base64
import builtins
import importlib
import io
import keyword
import re
import token
import tokenize
import zlib
from collections.abc import Mapping, Sequence
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
_LEAST_PACKED: Final = 400
_MOST_UNPACKED: Final = 500_000
_LONGEST: Final = 20_000
"""Tokens or words that are compared."""
_KEPT: Final = frozenset((*keyword.kwlist, *dir(builtins)))
_BLANK: Final = (token.COMMENT, token.NL, token.INDENT, token.DEDENT, token.ENCODING, token.ENDMARKER)
_WORD: Final = re.compile(r"\w+")
_PIECE: Final = re.compile(r"\w+|[^\w\s]")

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


def unpacked(source: str) -> str:
    """Return the text that a program unpacks and runs, as Linklab's own sealed one does; else the program's."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes) and len(node.value) > _LEAST_PACKED:
            try:
                raw = base64.b64decode(node.value, validate=True)
                return zlib.decompressobj().decompress(raw, _MOST_UNPACKED).decode()
            except (ValueError, zlib.error):
                continue
    return source


def programs_alike(what: str, programs: Mapping[str, str], given: str) -> list[Alike]:
    """Return groups of programs, by student, that are nearly the same beyond what was ``given``."""
    known = set(_anonymous(given))
    own = {student: _own(unpacked(source), known) for student, source in programs.items()}
    return _groups(what, own, SHORTEST_PROGRAM, PROGRAM_THRESHOLD)


def texts_alike(what: str, texts: Mapping[str, str]) -> list[Alike]:
    """Return groups of free texts, by student, that are nearly the same."""
    words: dict[str, list[Statement]] = {
        student: [(word,) for word in _WORD.findall(text.casefold())] for student, text in texts.items()
    }
    return _groups(what, words, SHORTEST_TEXT, TEXT_THRESHOLD)


def _groups(what: str, own: Mapping[str, list[Statement]], shortest: int, threshold: float) -> list[Alike]:
    long = {student: rows for student, rows in own.items() if sum(map(len, rows)) >= shortest}
    students = list(long)
    if len(students) < 2:
        return []
    words = [[word for row in sorted(rows) for word in row][:_LONGEST] for rows in long.values()]
    scores: Any = process.cdist(
        words, words, scorer=Indel.normalized_similarity, score_cutoff=threshold, workers=-1, dtype=numpy.float64
    )
    numpy.fill_diagonal(scores, 0)
    graphs: Any = importlib.import_module("scipy.sparse.csgraph")
    number, labels = graphs.connected_components(scores > 0, directed=False)
    found = []
    for group in range(number):
        members = numpy.flatnonzero(labels == group)
        if len(members) > 1:
            links = scores[numpy.ix_(members, members)]
            near = links[links > 0]
            names = tuple(students[member] for member in members)
            found.append(Alike(what, names, float(near.min()), float(near.max())))
    return sorted(found, key=lambda one: -one.most)


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
