"""Reads the rows that a simpleperf prints, whatever its tables look like. Pure.

A few passes, each over what the one before has found:

1. Lines: colours and cursor movements are dropped; addresses, dates and percentages are covered, for their digits are
   no amounts.
2. Cells: bars, commas of a printed tuple, tabs or wide gaps delimit them. A line without digits that names two
   quantities is a heading.
3. Numbers: each has a unit, a label before it, or a heading above it. An interval is two numbers with a dash or the
   like between them.
4. Rows: a row has an interval, an amount and a rate, on one line, on two, or each on a line of its own.

What has more than one reading has none: its line is among those that were not read.
"""

from __future__ import annotations

import bisect
import itertools
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from rapidfuzz import process
from rapidfuzz.distance import Indel

from linklab.measure.results import Sample

_LONGEST_LINE: Final = 2000
"""Longer ones are no rows."""
_LONGEST_RAW: Final = 4 * _LONGEST_LINE
"""With colours and cursor movements."""
_LARGEST: Final = 1e15
"""No bytes, bits a second or seconds of a measurement are more."""


@dataclass(frozen=True)
class Figure:
    """A number as printed: its value, the step of its last digit, and the unit beside it, as written ("" if none)."""

    value: float
    step: float
    unit: str = ""


@dataclass(frozen=True)
class Row:
    """A row of a table: seconds since the transfer began, an amount and a rate.

    ``name`` is the connection's: its address where it has one, else the text before the numbers. ``start_s`` is None
    where only a duration is printed. Rows of intervals that give their ends only ("2.0 s", "4.0 s") look like that too:
    ``end_s`` may be either then, and the rows around it tell which. ``at_s`` is when the row was printed. ``is_sum``
    marks a row over all connections.
    """

    line: str
    name: str
    start_s: float | None
    end_s: float
    time_step_s: float
    amount: Figure
    rate: Figure
    is_sum: bool = False
    at_s: float = 0.0

    @property
    def is_possible(self) -> bool:
        """Whether its numbers can be those of a measurement: finite, and none below 0."""
        numbers = (self.start_s or 0.0, self.end_s, amount_bytes(self), 1e6 * rate_mbps(self.rate))
        return all(0 <= number <= _LARGEST for number in numbers)

    @property
    def duration_s(self) -> float:
        """How long it lasted."""
        return self.end_s - (self.start_s or 0.0)


@dataclass(frozen=True)
class Reading:
    """What was found: rows in order, and lines that looked like rows but were not understood, in order."""

    rows: tuple[Row, ...]
    unread: tuple[str, ...]


def read(lines: Iterable[tuple[float, str]]) -> Reading:
    """Return the rows on lines, which are given with the time at which each was printed."""
    reader = _Reader()
    for at_s, raw in lines:
        for text in clean(raw[:_LONGEST_RAW]).split("\n"):
            reader.add(at_s, text)
    return reader.reading()


# 1. Lines

_ESCAPES: Final = re.compile(
    r"""(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f]) [^\n\r\x07\x1b\x80-\x9f]*+ (?:\x07|\x1b\\|\x9c)  # a string, as a title
    |(?:\x1b\[|\x9b) [0-?]*+[\ -/]*+[@-~]  # a control sequence, as a colour
    |\x1b[\ -/]*+[0-~]  # another escape""",
    re.X,
)
"""What terminals take as orders, by ECMA-48. No string goes on over another order or a line's end: so much is scanned
once."""
_CONTROLS: Final = dict.fromkeys(
    [*range(9), *range(11, 32), *range(127, 160), 0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
) | dict.fromkeys([*range(11, 13), *range(28, 32), 0x85], " ")
"""Controls, and marks that turn the direction of writing; those that are white space become a space."""
_TAB: Final = "\x1f"
"""Stands for each column that a tab covers."""
_COVER: Final = "\ue000"
"""Stands for each character of an address."""
_SPACES: Final = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_NOTHING: Final = "\u00ad\u200b\u200c\u200d\u2060\ufe0e\ufe0f\ufeff\x08"
_PLAIN: Final = str.maketrans(
    dict.fromkeys([*_SPACES, *map(chr, range(9)), *map(chr, range(11, 32)), "\x7f", _COVER], " ")
    | dict.fromkeys(_NOTHING)
)
_GROUPED_BY_SPACE: Final = re.compile(f"(?<=[0-9])[{_SPACES}](?=[0-9]{{3}}(?![0-9]))")
_STAMP: Final = re.compile(
    r"""[\[(]?(?<![\d.])(?:
        \d{4}[-/]\d\d[-/]\d\d (?:[T ,]{0,2} \d\d:\d\d(?::\d\d(?:[.,]\d+)?)? (?:Z|[+-]\d\d:?\d\d)?)?
        |\d{1,2}[./]\d{1,2}[./]\d{4} (?:[ ,]{1,2} \d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?
        |(?:[A-Z][a-z]{2}[ ]+\d{1,2}[ ]+)? \d\d:\d\d:\d\d(?:[.,]\d+)?
        |\d{1,2}:\d\d[ ]?[-\u2013][ ]?\d{1,2}:\d\d
    )(?![\d:])[\])]?""",
    re.X,
)
_PERCENTAGE: Final = re.compile(r"(?<![\d.,])\d{1,3}(?:[.,]\d{1,6})?[ ]?%")
_PROGRESS: Final = re.compile("[\u2580-\u259f\u2501#=>.-]{3}")
_HOST: Final = re.compile(
    r"""(?: (?<![\d.]) (?P<address>\d{1,3}(?:\.\d{1,3}){3}) (?!\.?\d) | \b(?P<host>localhost)\b )
    (?: [ ]?:[ ]?(?P<a>\d{1,5})
      | ['"][ ]?,[ ]?(?P<b>\d{1,5})
      | ['"]?[ ]?,?[ ]?\(?['"]?port\b['"]?[ ]?[:=\#]?[ ]?(?P<c>\d{1,5})\)?
      | [ ]?\((?P<d>\d{4,5})\)
      | [\#/-](?P<e>\d{4,5})
      | [ ]?,[ ]?(?P<f>\d{4,5})(?![ ]?(?:[kmg]i?)?b|[ ]?[kmg]?bit|,\d{3}(?!\d))
    )?(?![\d]|\.\d)""",
    re.X | re.I,
)
_PORT: Final = re.compile(r"\bport['\"]?[ ]?[:=#]?[ ]?\d{1,5}\b(?![.,]\d)", re.I)


def clean(text: str) -> str:
    """Return text that may be shown on a terminal: without colours, cursor movements and all other controls.

    A carriage return begins a new line.
    """
    return _ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n").translate(_CONTROLS)


@dataclass(frozen=True)
class _Address:
    start: int
    end: int
    name: str


@dataclass
class _Line:
    """A line: as printed, with its tabs expanded, and also with addresses, dates and percentages covered.

    All positions are in the two with tabs expanded.
    """

    at_s: float
    text: str
    shown: str
    plain: str
    addresses: list[_Address]
    cells: list[tuple[int, int]]
    is_progress: bool
    number: int = 0
    """Which one it is, counted from 1."""
    numbers: list[_Number] = field(default_factory=list)
    parts: list[_Part] = field(default_factory=list)
    """What its numbers are by themselves."""
    lone: list[_Number] = field(default_factory=list)
    """The numbers of which only a heading may tell what they are."""

    def cell_of(self, position: int) -> int:
        """Return the index of the cell in which a position lies."""
        return max(0, bisect.bisect_right([start for start, _ in self.cells], position) - 1)

    @property
    def is_blank(self) -> bool:
        """Return whether it says nothing, as one of dashes."""
        return not re.search(rf"[\w{_COVER}]", self.plain)


def _line(at_s: float, raw: str) -> _Line:
    text = _expanded(_GROUPED_BY_SPACE.sub("_", raw))
    plain, addresses = text, []
    for hit in list(_HOST.finditer(text)):
        start, end = _with_quotes(text, *hit.span())
        port = next(filter(None, hit.group("a", "b", "c", "d", "e", "f")), None)
        addresses.append(_Address(start, end, ":".join(filter(None, (hit["address"] or hit["host"], port)))))
        plain = plain[:start] + _COVER * (end - start) + plain[end:]
    stamps = [hit.span() for hit in _STAMP.finditer(plain)]
    shown, plain = _blanked(text, stamps), _blanked(plain, stamps)
    plain = _blanked(plain, [hit.span() for hit in _PORT.finditer(plain)])
    shares = [hit.span() for hit in _PERCENTAGE.finditer(plain)]
    is_progress = bool(shares) and bool(_PROGRESS.search(plain))
    plain = _blanked(plain, shares)
    cells = _cells(plain)
    # a comma between cells is none of a number
    commas = [(a, b) for (_, a), (b, _) in itertools.pairwise(cells) if "," in plain[a:b]]
    for start, end in commas:
        plain = plain[:start] + plain[start:end].replace(",", ";") + plain[end:]
    return _Line(at_s, raw.translate(_PLAIN).strip(), shown, plain, addresses, cells, is_progress)


def _blanked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _expanded(raw: str) -> str:
    """Return a line with plain spaces only, and with `_TAB` for each column of a tab."""
    pieces = raw.split("\t")
    text = pieces[0].translate(_PLAIN)
    for piece in pieces[1:]:
        text += _TAB * (8 - len(text) % 8) + piece.translate(_PLAIN)
    return text


def _with_quotes(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span of an address with the quotes and brackets that are its own."""
    before, inside = text[start - 1 : start], text[start:end]
    if before and before in "'\"" and (text[end : end + 1] == before or inside.count(before) == 1):
        start, end = start - 1, end + (inside.count(before) != 1)
    if text[start - 1 : start] == "(" and text[end : end + 1] == ")":
        start, end = start - 1, end + 1
    return start, end


# 2. Cells and headings

_BAR: Final = re.compile(
    "[|\u00a6\uff5c\u2502\u2503\u2506\u2507\u250a\u250b\u250c-\u254b\u254e-\u2570\u2575\u2577\u2579\u257b]+"
)
_GAP: Final = re.compile(rf"(?:{_TAB}|\s{{2,}})[\s{_TAB}]*")
_LITERAL: Final = re.compile(r"\s*(?:\[.*\]|\(.*\)|\{.*\}),?\s*")
_TIGHT_COMMA: Final = re.compile(r"(?<=\S),(?=\S)")


def _cells(plain: str) -> list[tuple[int, int]]:
    """Return the spans of a line's cells. Where something else than space delimits them, cells may be empty."""
    if bars := list(_BAR.finditer(plain)):
        cells = _between(plain, [bar.span() for bar in bars])
        return [cell for number, cell in enumerate(cells) if cell[0] < cell[1] or 0 < number < len(cells) - 1]
    if _LITERAL.fullmatch(plain) and len(commas := _outer_commas(plain)) > 1:
        return _between(plain, [(at, at + 1) for at in commas], " ([{}])'\"")
    if plain.count(";") > 1:
        return _between(plain, [hit.span() for hit in re.finditer(";", plain)])
    tight = [hit.start() for hit in _TIGHT_COMMA.finditer(plain)]
    if len(tight) > 1 and any(not (plain[at - 1].isdigit() and plain[at + 1].isdigit()) for at in tight):
        return _between(plain, [(at, at + 1) for at in tight])
    gaps = [hit.span() for hit in _GAP.finditer(plain)] if plain.strip() else []
    if not any(plain[:start].strip() and plain[end:].strip() for start, end in gaps):
        gaps = [hit.span() for hit in re.finditer(r",\s+", plain)]
    return [cell for cell in _between(plain, gaps) if cell[0] < cell[1]]


def _between(plain: str, delimiters: Sequence[tuple[int, int]], trimmed: str = " ") -> list[tuple[int, int]]:
    cells, begin = [], 0
    for start, end in [*delimiters, (len(plain), len(plain))]:
        text = plain[begin:start]
        left = len(text) - len(text.lstrip(trimmed + _TAB))
        cells.append((begin + left, max(begin + left, begin + len(text.rstrip(trimmed + _TAB)))))
        begin = end
    return cells


def _outer_commas(plain: str) -> list[int]:
    """Return where the commas of a printed tuple, list or dict stand, not those in quotes or in a part of it."""
    found, depth, quote = [], 0, ""
    for at, char in enumerate(plain):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and depth == 1:
            found.append(at)
    return found


def _words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORDS: Final = {
    "interval": "interval time times duration elapsed period span seconds tid zeit",
    "start": "start begin beginning started",
    "end": "end stop finish ended until",
    "amount": "transfer transferred received sent amount data bytes size volume payload traffic delivered",
    "rate": "bandwidth rate throughput speed bitrate goodput bw",
    "name": "id client connection address addr host peer server port stream flow socket thread source destination "
    "remote local ip receiver sender conn worker from to",
}
"""What the words of headings and labels stand for."""
_KINDS: Final = {word: kind for kind, words in _WORDS.items() for word in words.split()}
_LONG_WORDS: Final = sorted(word for word in _KINDS if len(word) > 3)
_ALIKE: Final = 0.8
_QUANTITIES: Final = ("interval", "amount", "rate")
_MEASURES: Final = ("interval", "start", "end", "amount", "rate")
_BY_WEIGHT: Final = ("rate", "start", "end", "interval", "amount", "name")
"""Of several words in one title the first kind counts: "data rate" is a rate, "time sent" an interval."""
_FOREIGN: Final = _words_of(
    "min max minimum maximum peak limit target requested asked chunk chunks buffer block blocks packet packets rtt "
    "latency delay jitter timeout remaining eta left window cwnd mss mtu loss lost"
)
"""Quantities beside those of a row."""
_SUM: Final = re.compile(r"(?<![^\W_])(?:sum|total|all|aggregate|overall|together)(?![^\W_])", re.I)
_SUM_AT_EDGE: Final = re.compile(r"^(?:sum|total|overall)|(?<=\W)(?:sum|total|overall)$", re.I)
_PLANNED: Final = _words_of("for every each")
"""What stands before a time that is asked for."""

_PREFIX: Final = "(?:kilo|mega|giga|tera|[kmgt]i?)?"
_UNIT: Final = re.compile(
    rf"""(?:
    (?P<rate>{_PREFIX}[ ]?(?:bits?|bytes?|b)
        (?:ps|p/s|[ ]?/[ ]?s(?:e[ck][a-z]*)?|[ ](?:per|pr|pro)\.?[ ](?:s|se[ck][a-z]*)))
    |(?P<bits>{_PREFIX}bits?)
    |(?P<amount>{_PREFIX}(?:bytes?|octets?|b))
    |(?P<time>(?:milli|micro)?se[ck](?:s|onds?|under?|unden?)?|m?s)
    )(?-i:(?![a-z_\u00df-\u00ff])(?:(?<=[a-z])|(?![^\W\d_])))""",
    re.X | re.I,
)
_TIME_FACTORS: Final = {"m": 1e-3, "u": 1e-6}
_UNITS_AND_JOINTS: Final = re.compile(rf"(?:{_UNIT.pattern}|[\s\x1f\[\](){{}}|/,;:'\"-])+", re.X | re.I)
_NO_WORD: Final = re.compile(r"[\W\d_]+")


@dataclass(frozen=True)
class _Title:
    """What a heading or a label says: one of `_KINDS`, or "", and the unit in it."""

    kind: str = ""
    unit: str = ""


@lru_cache(maxsize=1024)
def _kind_of(word: str) -> str:
    """Return the kind that a word in lower case stands for, even if it is misspelt a little."""
    if word in _KINDS or len(word) < 4 or len(word) > 20:
        return _KINDS.get(word, "")
    best = process.extractOne(word, _LONG_WORDS, scorer=Indel.normalized_similarity, score_cutoff=_ALIKE)
    return _KINDS[best[0]] if best else ""


@lru_cache(maxsize=1024)
def _title(text: str) -> _Title:
    """Return what a heading or a label stands for."""
    spaced = text.replace("_", " ")
    units = [hit for hit in _UNIT.finditer(spaced) if not spaced[: hit.start()][-1:].isalnum()]
    unit, unit_kind = (units[-1][0], units[-1].lastgroup) if units else ("", "")
    words = [word.lower() for word in _NO_WORD.split(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", spaced)) if word]
    if any(word in _FOREIGN for word in words):
        return _Title()
    kinds = {_kind_of(word) for word in words}
    if (unit_kind in ("rate", "bits") and "amount" not in kinds - {""}) or unit_kind == "rate":
        kinds.add("rate")
    elif unit_kind == "time":
        kinds.add("interval")
    elif unit_kind == "amount":
        kinds.add("amount")
    kind = next((kind for kind in _BY_WEIGHT if kind in kinds), "")
    agrees = {"rate": ("rate", "bits", "amount"), "amount": ("amount", "bits")}.get(kind, ("time",))
    return _Title(kind, unit if unit_kind in agrees else "")


@dataclass(frozen=True)
class _Heading:
    """The columns of a table: where each stands, and what it says."""

    spans: tuple[tuple[int, int], ...]
    texts: tuple[str, ...]

    @property
    def titles(self) -> tuple[_Title, ...]:
        """Return what each column is."""
        return tuple(map(_title, self.texts))

    @property
    def measures(self) -> int:
        """Return how many of interval, amount and rate have a column."""
        kinds = {_quantity(title.kind) for title in self.titles if title.kind in _MEASURES}
        return len(kinds)

    def column_at(self, start: int, end: int) -> int:
        """Return the column that a span stands under, or is nearest to."""
        return min(range(len(self.spans)), key=lambda at: max(self.spans[at][0] - end, start - self.spans[at][1]))

    def continued(self, below: _Heading) -> _Heading:
        """Return it with the words of a second line under it."""
        texts = list(self.texts)
        for at, ((start, end), text) in enumerate(zip(below.spans, below.texts, strict=True)):
            column = at if len(below.texts) == len(texts) else self.column_at(start, end)
            texts[column] = f"{texts[column]} {text}"
        return replace(self, texts=tuple(texts))


def _quantity(kind: str) -> str:
    return "interval" if kind in ("start", "end") else kind


def _columns(line: _Line) -> _Heading | None:
    """Return the cells of a line that may be a heading, or a part of one: it has words and no numbers."""
    if line.numbers or line.addresses or not re.search(r"[^\W\d_]", line.plain):
        return None
    spans = line.cells
    if len(spans) == 1:
        spans = [hit.span() for hit in re.finditer(r"\S+(?:\s[\[(][^\s\])]*[\])])?", line.plain)]
    texts = tuple(line.plain[start:end] for start, end in spans)
    return _Heading(tuple(spans), texts)


def _is_heading(columns: _Heading, line: _Line) -> bool:
    """Return whether columns name two quantities of a row and are no sentence."""
    if columns.measures < 2:
        return False
    unknown = [text for text, title in zip(columns.texts, columns.titles, strict=True) if not title.kind]
    if len(line.cells) == 1:
        return len([text for text in unknown if re.search(r"\w", text)]) <= 1
    return all(len(text.split()) <= 4 for text in columns.texts)


# 3. Numbers

_RUN: Final = re.compile(
    r"(?P<clock>(?<![\d:.])\d:[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?![\d:]))"
    r"|(?P<word>[^\W\d]\w*(?:-(?:[^\W\d]\w*|\d+(?![\w.,])))*)"
    r"|(?P<run>(?:\d+(?:[.,_'\u2019]\d+)*|(?<![\w.])\.\d+)(?:[eE][-+]?\d{1,5}(?!\w))?)"
)
_NOT_FINITE: Final = re.compile(r"(?:inf|infinity|nan)", re.I)
_GROUPS: Final = re.compile(
    r"[1-9]\d{0,2}(?:([,_'\u2019])\d{3})(?:\1\d{3})*(?:\.\d+)?|[1-9]\d{0,2}(?:\.\d{3}){2,}(?:,\d+)?|[1-9]\d{0,2}\.\d{3},\d+"
)
_DECIMAL_COMMA: Final = re.compile(r"\d+,\d+")
_POINT: Final = re.compile(r"\d*\.?\d+")
_TO_UNIT: Final = re.compile(
    rf"(?P<gap>[ {_TAB}]*)['\"]?(?P<joint>[ {_TAB}]*(?:[\[(]|[|\u2502\u2503,;])?[ {_TAB}]*)['\"]?-?"
)
_AFTER_LONE_UNIT: Final = re.compile(rf"[ '\"\])}}]*(?:$|[|\u2502\u2503,;]|  |{_TAB})")
_LABEL_AFTER: Final = re.compile(r"['\")\]]*[ ]?[:=]")
_JOIN: Final = re.compile(
    rf"[\s{_TAB}'\"]*(?:-+>?|=>|\u2010|\u2011|\u2012|\u2013|\u2014|\u2015|\u2212|\u2500|\u2501|\u2190|\u2192|\u21d2|\u27f6|\u2794|\u279c"
    rf"|\.\.+|\u2026|~|(?:to|til|till|until|bis)\b)[\s{_TAB}'\"]*",
    re.I,
)
_BETWEEN: Final = re.compile(r"\bbetween\s+$", re.I)
_AND: Final = re.compile(r"\s+and\s+", re.I)
_PAIRED: Final = re.compile(r"['\"]?\s*[,;: ]\s*['\"]?")
_LONGEST_LABEL: Final = 60
_MOST_NUMBERS: Final = 160
"""Of digits in a row, with those of addresses: more are no rows, not even those of five connections on one line."""


@dataclass
class _Number:
    """A number on a line: where it stands, the end of its unit, and what the text around it says."""

    start: int
    end: int
    figure: Figure
    unit_kind: str = ""
    after: int = 0
    signed: bool = False
    label: _Title = _Title()
    label_text: str = ""
    is_labelled: bool = False
    """Whether a colon or an equals sign stands before it."""
    is_named: bool = False
    """Whether a label of words stands before that."""
    is_foreign: bool = False
    is_planned: bool = False
    is_counted: bool = False
    """Whether a word follows that says what is counted, or a dash that leads nowhere."""
    is_bracketed: bool = False

    @property
    def seconds(self) -> Figure:
        """Return it as a time."""
        return _scaled(self.figure, self.figure.unit if self.unit_kind == "time" else "")


def _scaled(value: Figure, unit: str) -> Figure:
    """Return a time in seconds, given its unit."""
    factor = _TIME_FACTORS.get(unit[:1].lower(), 1.0)
    return replace(value, value=value.value * factor, step=value.step * factor) if factor != 1.0 else value


def figure(text: str, unit: str = "") -> Figure:
    """A printed number. Raises ValueError."""
    return _figure(text, unit, decimal_comma=False)


def _figure(text: str, unit: str, *, decimal_comma: bool) -> Figure:
    digits, exponent_mark, exponent = text.lower().partition("e")
    sign = "-" if digits[:1] in "-\u2212" and digits else ""
    digits = digits.lstrip("+-\u2212")
    if _NOT_FINITE.fullmatch(digits):
        return Figure(float(sign + digits), 0.0, unit.strip())
    if _DECIMAL_COMMA.fullmatch(digits) and (decimal_comma or not _GROUPS.fullmatch(digits)):
        digits = digits.replace(",", ".")
    elif _GROUPS.fullmatch(digits):
        by_points = digits.count(".") > 1 or 0 <= digits.find(".") < digits.find(",")
        digits = digits.replace(".", "").replace(",", ".") if by_points else re.sub(r"[,_'\u2019]", "", digits)
    value = float(f"{sign}{digits.replace('_', '')}{exponent_mark}{exponent}")
    decimals = len(digits.partition(".")[2])
    # 0e999 is 0, and its last digit beyond all numbers
    has_step = math.isfinite(value) and len(exponent) <= 3
    return Figure(value, 10.0 ** (min(int(exponent or 0), 300) - decimals) if has_step else 0.0, unit.strip())


def _numbers(line: _Line) -> list[_Number]:
    """Return the numbers of a line, each with its unit and its label."""
    plain = line.plain
    decimal_comma = bool(re.search(r"(?<![\d.,])(?:0|\d+(?=,\d{1,2}(?!\d)|,\d{4})),\d+(?![\d.,])", plain))
    decimal_comma = decimal_comma and not re.search(r"\d\.\d", plain)
    found: list[_Number] = []
    at = 0
    while hit := _RUN.search(plain, at):
        at = hit.end()
        if hit.lastgroup == "word" and not _NOT_FINITE.fullmatch(hit[0]):
            continue
        pieces = _pieces(hit, decimal_comma)
        for start, end, value in pieces:
            number = _Number(start, end, value, after=end)
            if hit.lastgroup == "clock":
                number.unit_kind = "time"
            found.append(number)
        if pieces:
            _give_unit(found[-1], plain)
            at = max(at, found[-1].after)
    for number, before in zip(found, [None, *found], strict=False):
        _give_context(number, before, line)
    return found


def _pieces(hit: re.Match[str], decimal_comma: bool) -> list[tuple[int, int, Figure]]:
    """Return the numbers in a run of digits, points and commas: one as a rule, several where commas delimit them."""
    run, start = hit[0], hit.start()
    if hit.lastgroup == "clock":
        hours, minutes, seconds = run.split(":")
        step = figure(seconds).step
        return [(start, hit.end(), Figure(3600.0 * int(hours) + 60 * int(minutes) + float(seconds), step))]
    if value := _one(run, decimal_comma):
        return [(start, hit.end(), value)]
    pieces = []
    for piece in re.finditer(r"[^,]+", run):
        if (value := _one(piece[0], decimal_comma)) is None:
            return []
        pieces.append((start + piece.start(), start + piece.end(), value))
    return pieces


def _one(run: str, decimal_comma: bool) -> Figure | None:
    digits = run.lower().partition("e")[0]
    whole = (_POINT, _DECIMAL_COMMA, _GROUPS, _NOT_FINITE, re.compile(r"\d+(?:_\d+)+"))
    if not any(pattern.fullmatch(run if pattern is _NOT_FINITE else digits) for pattern in whole):
        return None
    return _figure(run, "", decimal_comma=decimal_comma)


def _give_unit(number: _Number, plain: str) -> None:
    gap = _TO_UNIT.match(plain, number.end)
    unit = gap and _UNIT.match(plain, gap.end())
    if not gap or not unit or number.unit_kind:
        return
    is_delimited = gap["joint"].strip(f" ([{_TAB}") != ""
    is_apart = is_delimited or len(gap["gap"]) > 1
    is_label = _LABEL_AFTER.match(plain, unit.end())
    if is_label and unit.start() > number.end and (is_apart or is_label[0][-2:].strip("'\")]") == "="):
        return
    if is_delimited and not _AFTER_LONE_UNIT.match(plain, unit.end()):
        return
    number.unit_kind, number.after = unit.lastgroup or "", unit.end()
    number.figure = replace(number.figure, unit=unit[0])
    if number.unit_kind == "amount" and re.fullmatch("[KMGT]b", unit[0]):
        number.unit_kind = "bits"


def _give_context(number: _Number, before: _Number | None, line: _Line) -> None:
    plain, cell = line.plain, line.cell_of(number.start)
    begin = max(before.after if before else 0, number.start - _LONGEST_LABEL)
    text = plain[begin : number.start]
    sign = re.search(r"(?:^|[\s\x1f\[({:=,'\"|])([-\u2212])$", plain[max(0, number.start - 2) : number.start])
    number.signed = bool(sign)
    label = re.split(rf"[,;|\u2502\u2503{{}}{_COVER}]|{_TAB}", text.rstrip(f" '\"[({_TAB}"))[-1]
    if not re.search(r"[^\W\d_]", label) and cell and not re.search(r"[^\W\d_]", text[line.cells[cell][0] - begin :]):
        start, end = line.cells[cell - 1]
        label = plain[start:end] if start >= begin else ""
    number.is_labelled = bool(re.search(r"[:=]\s*['\"\[(]*\s*[-+\u2212]?$", text))
    number.label_text = label
    words = re.findall(r"[^\W\d_]+", label.lower())[-3:]
    number.is_named = number.is_labelled and bool(words)
    after = re.match(r"[)\]]?[ -]?([^\W\d_]+)", plain[number.after : number.after + _LONGEST_LABEL])
    number.is_foreign = any(word in _FOREIGN for word in [*words, *([after[1].lower()] if after else [])])
    number.is_planned = bool(words) and words[-1] in _PLANNED
    counted = bool(after) and not _kind_of(after[1].lower() if after else "")
    goes_on = re.fullmatch(rf"{_JOIN.pattern}", plain[number.after : line.cells[cell][1]], re.I)
    number.is_counted = not number.unit_kind and (counted or bool(goes_on))
    number.is_bracketed = plain.rfind("(", 0, number.start) > plain.rfind(")", 0, number.start)
    is_ordinal = bool(re.match(r"[:)\].]\s", plain[number.end : number.end + 2] + " ")) and number.figure.step == 1
    ends_in_word = bool(words) and bool(_kind_of(words[-1]) or _UNIT.fullmatch(words[-1]))
    if number.is_labelled or (ends_in_word and not is_ordinal):
        number.label = _title(label.strip(" :=-'\"([" + _TAB))


@dataclass(frozen=True)
class _Part:
    """An interval, an amount or a rate on a line; "start" is an interval of which only the start is known.

    ``rank`` is 0, 1 for what has a label that nobody knows, or 2 for what is planned: the lowest counts.
    """

    kind: str
    start: int
    end: int
    figure: Figure = Figure(0.0, 0.0)
    start_s: float | None = None
    rank: int = 0
    is_bracketed: bool = False

    @property
    def is_span(self) -> bool:
        """Return whether it is an interval of which both ends are known."""
        return self.kind == "interval" and self.start_s is not None


def _intervals(line: _Line) -> list[tuple[_Number, _Number]]:
    """Return the pairs of numbers that are intervals by what stands between them."""
    scored = []
    for first, second in itertools.pairwise(line.numbers):
        if first.unit_kind not in ("", "time") or second.unit_kind not in ("", "time"):
            continue
        gap = line.plain[first.after : second.start]
        if len(gap) > 30:
            continue
        in_brackets = re.search(r"[\[(]['\"]?\s*$", line.plain[max(0, first.start - 4) : first.start]) and re.match(
            r"\s*['\"]?[\])]", line.plain[second.after : second.after + 4]
        )
        by_pair = bool(in_brackets and _PAIRED.fullmatch(gap))
        is_between = _AND.fullmatch(gap) and _BETWEEN.search(line.plain[max(0, first.start - 12) : first.start])
        if not by_pair and not is_between and not _JOIN.fullmatch(gap):
            continue
        even = (len(gap) - len(gap.lstrip()) > 0) == (len(gap) - len(gap.rstrip()) > 0)
        timed = first.unit_kind == "time" or second.unit_kind == "time"
        ordered = first.seconds.value <= second.seconds.value
        scored.append(((timed, ordered, bool(in_brackets), even), first, second))
    best = max((score for score, _, _ in scored), default=None)
    pairs = [(first, second) for score, first, second in scored if score == best]
    overlap = {id(second) for _, second in pairs} & {id(first) for first, _ in pairs}
    if overlap:
        pairs = [pair for pair in pairs if pair[0].figure.step == pair[1].figure.step]
        if {id(second) for _, second in pairs} & {id(first) for first, _ in pairs}:
            return []
    return pairs


_GROUP: Final = re.compile(r"[0-9]{3}(?:\.[0-9]+)?")


def _with_groups(line: _Line, taken: set[int]) -> list[_Number]:
    """Return the numbers of a line, those whose groups of three digits a plain space delimits as one.

    That is certain where the last group begins with 0, or where the line has its time elsewhere, and what stands before
    is no name that a number belongs to. A group that begins with 0 and has nothing to go with is no number to be read.
    """
    plain = line.plain
    has_time = bool(taken) or any(number.unit_kind == "time" for number in line.numbers)
    found: list[_Number] = []
    for number in line.numbers:
        text = plain[number.start : number.end]
        first = found[-1] if found else None
        is_group = (
            first is not None
            and plain[first.after : number.start] == " "
            and bool(_GROUP.fullmatch(text) and _GROUPS.fullmatch(f"{_digits_of(first, plain)}_000"))
            and id(number) not in taken
        )
        if not first or not is_group:
            found.append(number)
            continue
        is_measured = first.label.kind in ("amount", "rate")
        is_free = id(first) not in taken and (is_measured or not re.search(r"[^\W\d_]", first.label_text))
        is_behind = len(found) > 1 or bool(line.addresses)
        if is_free and (text[0] == "0" or is_measured or (has_time and is_behind)):
            value = replace(number.figure, value=1000 * first.figure.value + number.figure.value)
            found[-1] = replace(first, end=number.end, after=number.after, unit_kind=number.unit_kind, figure=value)
            found[-1].is_counted, found[-1].is_foreign = number.is_counted, first.is_foreign or number.is_foreign
            continue
        number.is_foreign = number.is_foreign or text[0] == "0"
        found.append(number)
    return found


def _digits_of(number: _Number, plain: str) -> str:
    return plain[number.start : number.end].replace(" ", "_")


def _look_at_numbers(line: _Line) -> None:
    """Find the numbers of a line, and what they are by themselves."""
    line.numbers = _numbers(line)
    pairs = _intervals(line)
    taken = {id(number) for pair in pairs for number in pair}
    line.numbers = _with_groups(line, taken)
    numbers = [number for number in line.numbers if id(number) not in taken]
    for number in numbers:
        if number.signed:
            number.figure = replace(number.figure, value=-number.figure.value)
    _settle_bits(numbers)
    parts = [_span(first, second) for first, second in pairs]
    for number in numbers:
        if number.is_foreign:
            continue
        if number.unit_kind:
            parts.append(_by_unit(number))
        elif number.label.kind in _MEASURES:
            parts.append(_given(number, number.label))
        elif not number.is_counted and not number.is_named:
            line.lone.append(number)
    line.parts = _joined(parts)


def _parts(line: _Line, heading: _Heading | None) -> list[_Part]:
    """Return the parts of rows on a line below a heading, in order."""
    if not line.lone:
        return line.parts
    more = (
        _by_heading(line, heading, line.parts, line.lone) if heading else _by_elimination(line, line.parts, line.lone)
    )
    return _joined([*line.parts, *more])


def _span(first: _Number, second: _Number) -> _Part:
    # a unit stands at the end for both
    start = first.seconds if first.unit_kind else _scaled(first.figure, second.figure.unit)
    # no -0.0, which would be printed
    start_s = 0.0 - start.value if first.signed else start.value
    return _Part("interval", first.start, second.after, second.seconds, start_s)


def _settle_bits(numbers: Sequence[_Number]) -> None:
    """Settle whether "Mbit" is an amount or a rate: it is what the line does not have otherwise."""
    kinds = {number.unit_kind for number in numbers}
    for number in numbers:
        if number.unit_kind == "bits":
            by_default = "rate" if "amount" in kinds or "bit" in number.figure.unit.lower() else "amount"
            by_context = "amount" if "rate" in kinds else by_default
            number.unit_kind = number.label.kind if number.label.kind in ("amount", "rate") else by_context


def _by_unit(number: _Number) -> _Part:
    kind, label = number.unit_kind.replace("time", "interval"), number.label.kind
    is_otherwise = number.is_named and _quantity(label) != kind and not _SUM.search(number.label_text)
    rank = 2 if number.is_planned else int(is_otherwise)
    if kind == "interval" and label in ("start", "end"):
        kind = label
    value = number.seconds if number.unit_kind == "time" else number.figure
    return _Part(kind, number.start, number.after, value, None, rank, number.is_bracketed)


def _given(number: _Number, title: _Title) -> _Part:
    """Return a number as what its label or its heading says."""
    value = replace(number.figure, unit=title.unit)
    value = _scaled(value, title.unit) if _quantity(title.kind) == "interval" else value
    return _Part(title.kind, number.start, number.after, value, None, 0, number.is_bracketed)


def _joined(parts: Sequence[_Part]) -> list[_Part]:
    """Return parts in which each start and the end, or the length, that follows it are one interval."""
    found: list[_Part] = []
    open_start: _Part | None = None
    for part in sorted(parts, key=lambda part: part.start):
        if part.kind == "start":
            open_start = part
        elif part.kind in ("end", "interval") and part.start_s is None and open_start:
            end_s = part.figure.value + (open_start.figure.value if part.kind == "interval" else 0.0)
            value = replace(part.figure, value=end_s)
            found.append(_Part("interval", open_start.start, part.end, value, open_start.figure.value))
            open_start = None
        else:
            found.append(part)
    return [*found, open_start] if open_start else found


def _by_heading(line: _Line, heading: _Heading, parts: Sequence[_Part], lone: Sequence[_Number]) -> list[_Part]:
    """Return the numbers without units as what the columns above them are."""
    titles = heading.titles
    found = {_quantity(part.kind) for part in parts}
    if len(line.cells) == len(titles):
        columns = [line.cell_of(number.start) for number in lone]
        given = [(number, titles[column]) for number, column in zip(lone, columns, strict=True)]
        if len(set(columns)) == len(columns):
            return _completed(_wanted(given, found), found, given, titles)
    missing = [title for title in titles if title.kind in _MEASURES and _quantity(title.kind) not in found]
    # an address stands in the column of names
    free = ("",) if line.addresses else ("", "name")
    others = [title for title in titles if title in missing or title.kind in free]
    without_port = [number for number in lone if not _is_port(number, line)]
    for numbers, wanted in itertools.product((without_port, lone), (missing, others)):
        for expanded in (wanted, _expanded_interval(wanted)):
            if len(expanded) == len(numbers):
                return _wanted(list(zip(numbers, expanded, strict=True)), found)
    at = [heading.column_at(number.start, number.after) for number in lone]
    return _wanted([(number, titles[column]) for number, column in zip(lone, at, strict=True)], found)


def _wanted(given: Iterable[tuple[_Number, _Title]], found: Iterable[str]) -> list[_Part]:
    return [
        _given(number, title)
        for number, title in given
        if title.kind in _MEASURES and _quantity(title.kind) not in found
    ]


def _completed(
    parts: list[_Part], found: set[str], given: Sequence[tuple[_Number, _Title]], titles: Sequence[_Title]
) -> list[_Part]:
    """Return parts with the one that is missing taken from the one column that is not known."""
    missing = set(_QUANTITIES) - found - {_quantity(part.kind) for part in parts}
    unknown = [number for number, title in given if not title.kind]
    named = {_quantity(title.kind) for title in titles}
    if len(missing) == len(unknown) == 1 and not missing & named and missing != {"interval"}:
        return [*parts, _given(unknown[0], _Title(missing.pop()))]
    return parts


def _expanded_interval(titles: Sequence[_Title]) -> list[_Title]:
    """Return titles with two columns, start and end, for the one of the interval."""
    found: list[_Title] = []
    for title in titles:
        is_interval = title.kind == "interval"
        found += [_Title("start", title.unit), _Title("end", title.unit)] if is_interval else [title]
    return found


def _by_elimination(line: _Line, parts: Sequence[_Part], lone: Sequence[_Number]) -> list[_Part]:
    """Return what numbers in cells of their own must be, in a table without a heading: what the row lacks."""
    missing = set(_QUANTITIES) - {_quantity(part.kind) for part in parts}
    cells = [line.cells[line.cell_of(number.start)] for number in lone]
    alone = all(
        re.fullmatch(r"['\"+-]*", line.plain[start : number.start]) and number.end + 1 >= end
        for number, (start, end) in zip(lone, cells, strict=True)
    )
    numbers = [number for number in lone if not _is_port(number, line)]
    if len(line.cells) < 3 or not alone or len(missing) != 1 or line.cell_of(lone[0].start if lone else 0) == 0:
        return []
    if missing == {"interval"}:
        is_pair = len(numbers) == 2 and numbers[0].figure.value <= numbers[1].figure.value
        if is_pair and line.cell_of(numbers[1].start) == line.cell_of(numbers[0].start) + 1:
            return [_given(numbers[0], _Title("start")), _given(numbers[1], _Title("end"))]
        return []
    # a rate stands behind the others, and an amount behind one of them
    behind = max if missing == {"rate"} else min
    fits = len(numbers) == 1 and numbers[0].start > behind(part.start for part in parts)
    return [_given(numbers[0], _Title(*missing))] if fits else []


def _is_port(number: _Number, line: _Line) -> bool:
    """Return whether it is a port in a column of its own, right of an address."""
    value = number.figure.value
    is_one = number.figure.step == 1 and 1024 <= value <= 65535 and not number.unit_kind
    before = [address for address in line.addresses if address.end <= number.start]
    return is_one and bool(before) and not line.plain[before[-1].end : number.start].strip(f" ,|\u2502\u2503'\"){_TAB}")


# 4. Rows

_ALIKE_FACTORS: Final = (1.0, 8.0, 1.024, 1.048576, 1.073741824, 8 * 1.024, 8 * 1.048576)
"""Between one quantity in several units, as honest and less honest programs print it."""
_ALIKE_SHARE: Final = 0.02
_NUMBERED: Final = re.compile(r"\W*([^\W\d_]{2,})\W{0,3}\d{1,3}\W*")
_LABELLED: Final = re.compile(r"\W*[^\W\d_][^:=]{0,40}[:=]")
_FILLERS: Final = _words_of(
    "in at of for over after with took was is and between avg average mean second sec "
    "result results summary statistics stats report"
)
_TRACED: Final = re.compile(r"\s+File \"[^\"]+\", line \d+")
"""Of a traceback: the program's own source stands on the next line."""
_LONGEST_NAME: Final = 60
_MOST_LINES: Final = 3
"""That a row may be wrapped over."""
_EDGES: Final = f" \t'\"[](){{}}|,:;=-\u2013\u2014\u2502\u2503{_TAB}{_COVER}"


@dataclass(frozen=True)
class _Found:
    """A row, or what there is of one: at most one part of each kind."""

    line: str
    at_s: float
    table: int
    parts: tuple[_Part, ...]
    name: str = ""
    sum_by: str = ""
    """What says that it is a sum: its "name", a "label" of one of its numbers, or nothing."""

    @property
    def is_whole(self) -> bool:
        """Return whether it has all that a row needs."""
        return {part.kind for part in self.parts} >= set(_QUANTITIES)

    def row(self) -> Row:
        """Return the row that a whole one is."""
        by_kind = {part.kind: part for part in self.parts}
        span, amount, rate = (by_kind[kind] for kind in _QUANTITIES)
        times = (span.start_s, span.figure.value, span.figure.step)
        return Row(self.line, self.name, *times, amount.figure, rate.figure, self.sum_by == "name", self.at_s)


def _settled(parts: Sequence[_Part]) -> tuple[_Part, ...] | None:
    """Return one part of each kind; None where two of a kind differ and nothing tells which of them counts."""
    chosen = []
    for kind in _QUANTITIES:
        same = [part for part in parts if (part.kind, kind) in ((kind, kind), ("end", "interval"))]
        rank = min((part.rank for part in same), default=0)
        same = [part for part in same if part.rank == rank]
        for reject in (_is_duration, _is_in_bytes_a_second, _is_in_brackets):
            same = [part for part in same if not reject(part)] or same
        if not all(_alike(same[0], part) for part in same[1:]):
            return None
        chosen += [replace(part, kind=kind) for part in same[:1]]
    return tuple(chosen)


def _below_their_headings(parts: Sequence[_Part], line: _Line, heading: _Heading | None) -> list[_Part]:
    """Return parts without those below another heading, where there are others of the kind."""
    if not heading or len(parts) == len({_quantity(part.kind) for part in parts}):
        return list(parts)
    by_index = len(line.cells) == len(heading.titles)
    columns = [line.cell_of(part.start) if by_index else heading.column_at(part.start, part.end) for part in parts]
    titled = [_quantity(heading.titles[column].kind) for column in columns]
    right = [part for part, kind in zip(parts, titled, strict=True) if _quantity(part.kind) == kind]
    kinds = {_quantity(part.kind) for part in right}
    return [part for part in parts if part in right or _quantity(part.kind) not in kinds]


def _is_duration(part: _Part) -> bool:
    return part.kind == "interval" and part.start_s is None


def _is_in_bytes_a_second(part: _Part) -> bool:
    return part.kind == "rate" and label_says_bytes(part.figure)


def _is_in_brackets(part: _Part) -> bool:
    return part.is_bracketed


def _alike(first: _Part, second: _Part) -> bool:
    """Return whether two parts of a kind say the same, in other units or with other digits."""
    if first.kind == "interval":
        return not first.is_span and first.figure.value == second.figure.value
    (one, step), (other, other_step) = (
        (part.figure.value * scale, part.figure.step * scale)
        for part in (first, second)
        for scale in (unit_bytes(part.figure.unit),)
    )
    larger, smaller, slack = max(one, other), min(one, other), step + other_step
    factors = _ALIKE_FACTORS if first.figure.unit != second.figure.unit else (1.0,)
    return any(abs(larger - smaller * factor) <= slack * factor + _ALIKE_SHARE * larger for factor in factors)


_Mark = tuple[int, str, _Part | None]


def _split(line: _Line, parts: Sequence[_Part]) -> list[tuple[int, int, list[_Part]]]:
    """Return the rows that ran together on a line, each with its span; none where that is not certain."""
    marks: list[_Mark] = [(part.start, part.kind, part) for part in parts]
    marks += [(one.start, "name", None) for one in line.addresses]
    marks.sort(key=lambda mark: mark[0])
    groups: list[list[_Mark]] = [[]]
    kinds: set[str] = set()
    for mark in marks:
        if mark[1] == marks[0][1] and kinds >= set(_QUANTITIES):
            groups.append([])
            kinds = set()
        groups[-1].append(mark)
        kinds.add(_quantity(mark[1]))
    begun = [any(kind == "name" or (part and part.is_span) for _, kind, part in group) for group in groups]
    if len(groups) == 1 or not any(begun[1:]):
        return [(0, len(line.plain), list(parts))]
    by_span = all(any(part and part.is_span for _, _, part in group) for group in groups)
    by_name = all(any(kind == "name" for _, kind, _ in group) for group in groups)
    if not kinds >= set(_QUANTITIES) or not (by_span or by_name):
        return []
    ends = [max(part.end for _, _, part in group if part) for group in groups]
    if marks[-1][1] == "name" != marks[0][1]:
        ends = [group[-1][0] + 1 for group in groups]
    limits = [0, *ends[:-1], len(line.plain)]
    return [
        (start, end, [part for _, _, part in group if part])
        for (start, end), group in zip(itertools.pairwise(limits), groups, strict=True)
    ]


def _named(line: _Line, span: tuple[int, int], parts: Sequence[_Part], heading: _Heading | None) -> tuple[str, str]:
    """Return the name of a row within a span of a line, and what says that it is a sum (see `_Found`)."""
    start, end = span
    lead = line.shown[start : min((part.start for part in parts), default=end)]
    addresses = [one for one in line.addresses if start <= one.start < end]
    if addresses:
        if end - start < len(line.plain):
            first_part = min(part.start for part in parts)
            addresses = [one for one in addresses if one.start < first_part][-1:] or addresses[:1]
        names = dict.fromkeys(_with_port(one, line) for one in addresses)
        return " - ".join(names), ""
    is_cell = len(line.cells) > 2 and any(cell[1] <= start + len(lead) and cell[0] >= start for cell in line.cells)
    name = _identity(lead, is_cell=is_cell) or _name_in_cells(line, parts, heading)
    hit = _SUM.search(lead) or _SUM.search(name)
    if not hit or (re.search(r"\d", name) and not re.match(rf"\W*{hit[0]}", lead)):
        return name, ""
    return name, "name" if _SUM.search(name) else "label"


def _with_port(address: _Address, line: _Line) -> str:
    right = next((number for number in line.numbers if number.start >= address.end), None)
    if right and ":" not in address.name and _is_port(right, line):
        return f"{address.name}:{right.figure.value:.0f}"
    return address.name


def _identity(lead: str, *, is_cell: bool) -> str:
    """Return who a row is of, from the text before its numbers, without what is a label of the first of them."""
    name = lead.strip(_EDGES)
    while hit := re.search(r"(?:^|(?<=[\W_]))([^\W\d_]+)(?:\W{0,3}\d{1,4})?$", name):
        word, is_unit = hit[1].lower(), bool(_UNIT.fullmatch(hit[1]))
        if _kind_of(word) not in _MEASURES and word not in _FILLERS and not is_unit:
            break
        name = name[: hit.start()].strip(_EDGES + "_")
    if hit := re.match(r"([^\W\d_]+)['\"]?\s*[:=]", name):
        name = name[hit.end() :].strip(_EDGES) if _kind_of(hit[1].lower()) == "name" else name
    if any(word in _FOREIGN for word in re.findall(r"[^\W\d_]+", name.lower())):
        return ""
    told = is_cell or bool(re.search(r"\d", name)) or bool(_SUM.search(name))
    return re.sub(r"\s+", " ", name)[:_LONGEST_NAME] if told else ""


def _name_in_cells(line: _Line, parts: Sequence[_Part], heading: _Heading | None) -> str:
    """Return the name in a column that is not the first: the one under such a heading, or the first with words only."""
    if len(line.cells) < 3:
        return ""
    texts = [line.shown[start:end].strip(_EDGES) for start, end in line.cells]
    if heading and len(texts) == len(heading.texts):
        for text, title, (start, end) in zip(texts, heading.titles, line.cells, strict=True):
            if title.kind == "name" and not any(start <= part.start < end for part in parts):
                return text
    return next(
        (
            text
            for text in texts
            if re.fullmatch(r"[^\W\d_][^:=]*", text)
            and not _title(text).kind
            and not re.search(r"\d", text)
            and not _is_unit(text)
        ),
        "",
    )


def _is_unit(text: str) -> bool:
    return bool(_UNIT.fullmatch(text))


class _Reader:
    """Takes lines in order and collects the rows on them, and those that it takes several lines to print."""

    def __init__(self) -> None:
        self._heading: _Heading | None = None
        self._table = 0
        self._is_below_heading = False
        self._rows: list[_Found] = []
        self._unread: dict[int, str] = {}
        self._count = 0
        self._is_source_next = False
        self._name = ""
        self._upright: list[tuple[list[_Part], _Line]] = []
        self._lacks_column = False
        self._begun: list[_Line] = []

    def add(self, at_s: float, text: str) -> None:
        """Take a line."""
        self._count += 1
        is_source, self._is_source_next = self._is_source_next, bool(_TRACED.match(text))
        if is_source or self._is_source_next:
            return
        if len(text) > _LONGEST_LINE or len(re.findall(r"\d+", text)) > _MOST_NUMBERS:
            self._forget()
            return
        line = _line(at_s, text)
        line.number = self._count
        if line.is_blank or line.is_progress:
            return
        _look_at_numbers(line)
        if not self._takes_heading(line) and not self._takes_rows(line) and not self._takes_end_of_row(line):
            self._note(line)
            self._takes_values(line)

    def reading(self) -> Reading:
        """Return what has been found."""
        rows = [
            found.row()
            for found in _without_counters(_of_only_connection(_with_own_totals(_last_of_growing(self._rows))))
        ]
        return Reading(tuple(rows), tuple(self._unread.values()))

    def _forget(self) -> None:
        self._forget_values()
        self._begun = []

    def _takes_heading(self, line: _Line) -> bool:
        columns = _columns(line)
        is_below, self._is_below_heading = self._is_below_heading, False
        if columns is None:
            return False
        if is_below and self._heading and _goes_on(columns):
            self._heading = self._heading.continued(columns)
            return True
        if not _is_heading(columns, line):
            return False
        self._heading, self._is_below_heading = columns, True
        self._table += 1
        self._forget()
        return True

    def _takes_rows(self, line: _Line) -> bool:
        found = self._found(line)
        if not found or not all(one.is_whole for one in found):
            return False
        self._forget()
        for one in found:
            self._keep(one)
        return True

    def _found(self, line: _Line) -> list[_Found]:
        """Return the rows on a line, whole or not; none where it has more than one reading."""
        rows = []
        for start, end, parts in _split(line, _parts(line, self._heading)):
            settled = _settled(_below_their_headings(parts, line, self._heading))
            if settled is None:
                return []
            name, sum_by = _named(line, (start, end), settled, self._heading)
            is_alone = end - start == len(line.plain)
            text = line.text if is_alone else line.shown[start:end].strip(f" {_TAB}").replace(_TAB, " ")
            rows.append(_Found(text, line.at_s, self._table, settled, name, sum_by))
        return rows

    def _keep(self, found: _Found) -> None:
        if found.name:
            self._name = ""
        by_above = replace(found, name=self._name, sum_by=_sum_above(self._name))
        self._rows.append(found if found.name or found.sum_by else by_above)

    def _takes_end_of_row(self, line: _Line) -> bool:
        """Take a line that ends the row that the lines above have begun, if it does."""
        begun, self._begun = self._begun, []
        if begun and _may_end_row(line):
            lines = [*begun, line]
            both = _wrapped(lines)
            if self._takes_rows(both):
                self._read(lines)
                return True
            self._begun = lines if len(lines) < _MOST_LINES else []
        elif _may_begin_row(line):
            self._begun = [line]
        return False

    def _note(self, line: _Line) -> None:
        """Keep the line if it looks like a row, and the name that it gives to rows below it."""
        parts = _parts(line, self._heading)
        kinds = {part.kind.replace("end", "interval") for part in parts if part.rank < 2} - {"start"}
        lone = [number for number in line.lone if not _is_port(number, line)]
        has_span = any(part.is_span for part in parts)
        is_bare = bool(line.addresses) and not any(map(_is_unknown, _words(line)))
        if len(kinds) > 1 or (has_span and len(lone) > 1) or (is_bare and len(lone) > 2):
            self._unread[line.number] = line.text

    def _takes_values(self, line: _Line) -> None:
        """Take a line with one or two of the numbers of a row, as a list set upright has them."""
        parts = _parts(line, None)
        if any(part.kind == "interval" for part in parts) or len(parts) > 1:
            parts = list(_settled(parts) or ())
        if 0 < len(parts) < 3 and all(part.rank < 2 for part in parts):
            self._add_values(parts, line)
        elif not parts and (name := _name_alone(line)):
            self._forget()
            self._name = name
        elif parts or not _LABELLED.match(line.plain):
            self._forget_values()
            self._name = ""

    def _forget_values(self) -> None:
        self._upright, self._lacks_column = [], False

    def _add_values(self, parts: list[_Part], line: _Line) -> None:
        kinds = {part.kind for part in parts}
        if len(parts) > 1:
            # below a table without rates, the average of all is none of its last row
            self._lacks_column = any(kinds == {part.kind for part in others} for others, _ in self._upright)
            self._upright = []
        for at, (others, _) in reversed(list(enumerate(self._upright))):
            if kinds & {part.kind for part in others}:
                self._upright = self._upright[at + 1 :]
                break
        self._upright.append((parts, line))
        in_order = [replace(part, start=at) for at, (some, _) in enumerate(self._upright) for part in some]
        settled = _settled(_joined(in_order)) or ()
        if {part.kind for part in settled} == set(_QUANTITIES) and not self._lacks_column:
            self._take_upright(settled)

    def _take_upright(self, parts: tuple[_Part, ...]) -> None:
        """Take the row that the lines of a list make."""
        lines = [line for _, line in self._upright]
        named = [_named(line, (0, len(line.plain)), _parts(line, None), None) for line in lines]
        name = self._name or next((name for name, by in named if name and not by), "")
        sum_by = "label" if not name and any(by for _, by in named) else _sum_above(name)
        self._rows.append(_Found(_text_of(lines), lines[-1].at_s, self._table, parts, name, sum_by))
        self._read(lines)

    def _read(self, lines: Iterable[_Line]) -> None:
        """Note that lines are parts of a row."""
        for line in lines:
            self._unread.pop(line.number, None)
        self._forget()


def _text_of(lines: Sequence[_Line]) -> str:
    return " ".join(line.text for line in lines)


def _goes_on(columns: _Heading) -> bool:
    """Return whether what stands below a heading are its units, or further words of it."""
    words = [text for text in columns.texts if re.search(r"\w", text)]
    return bool(words) and all(_UNITS_AND_JOINTS.fullmatch(text) or _title(text).kind for text in words)


def _words(line: _Line) -> list[str]:
    """Return the words of a line that are no units, in lower case."""
    plain = line.plain
    for number in line.numbers:
        plain = plain[: number.start] + " " * (number.after - number.start) + plain[number.after :]
    words = re.findall(r"[^\W\d_]+", plain.replace(_COVER, " "))
    return [word.lower() for word in words if not _UNIT.fullmatch(word)]


def _is_unknown(word: str) -> bool:
    return not _kind_of(word) and not _SUM.fullmatch(word)


def _may_begin_row(line: _Line) -> bool:
    """Return whether a line has an address or an interval, and no words that a table does not have."""
    unknown = list(filter(_is_unknown, _words(line)))
    return (
        (bool(line.addresses) or any(part.is_span for part in line.parts)) and bool(line.numbers) and len(unknown) <= 1
    )


def _may_end_row(line: _Line) -> bool:
    """Return whether a line has numbers and nothing else, or no more than a cell that goes on."""
    return not _words(line) and not line.addresses and (bool(line.numbers) or len(line.cells) > 2)


def _wrapped(lines: Sequence[_Line]) -> _Line:
    """Return lines as one: cell by cell where bars delimit as many cells, else one after the other."""
    if _BAR.search(lines[0].plain) and len({len(line.cells) for line in lines}) == 1:
        cells = zip(*([line.shown[start:end] for start, end in line.cells] for line in lines), strict=True)
        joined = "| " + " | ".join(" ".join(cell).strip() for cell in cells) + " |"
    else:
        joined = "  ".join(line.shown.strip() for line in lines)
    line = _line(lines[-1].at_s, joined.replace(_TAB, " "))
    line.text = _text_of(lines)
    _look_at_numbers(line)
    return line


def _name_alone(line: _Line) -> str:
    """Return the name on a line with nothing else: a connection's address, or its word and number, or one of a sum."""
    words = _words(line)
    others = [number for number in line.numbers if not _is_port(number, line)]
    if len(line.addresses) == 1 and not others and all(_kind_of(word) == "name" or word in _FILLERS for word in words):
        return _with_port(line.addresses[0], line)
    text = line.text.strip(_EDGES)
    label = re.match(r"([^\W\d_]+)\s*[:=]", text)
    if label and _kind_of(label[1].lower()) == "name":
        text = text[label.end() :].strip(_EDGES)
    hit = _NUMBERED.fullmatch(text)
    return text if _SUM.fullmatch(text) or (hit and _kind_of(hit[1].lower()) == "name") else ""


def _sum_above(name: str) -> str:
    """Return what says that a row below a name is a sum: "Total" may also be the title of an only connection's."""
    return "label" if _SUM.fullmatch(name) else ""


def _last_of_growing(rows: Sequence[_Found]) -> list[_Found]:
    """Return rows without the earlier states of a table that is printed anew, heading and all, one row longer."""
    tables = [
        [replace(row, at_s=0.0, table=0) for row in group]
        for _, group in itertools.groupby(rows, lambda row: row.table)
    ]
    grows = len(tables) > 1 and all(
        later[: len(earlier)] == earlier and len(later) > len(earlier) for earlier, later in itertools.pairwise(tables)
    )
    return [row for row in rows if row.table == rows[-1].table] if grows else list(rows)


def _with_own_totals(rows: Sequence[_Found]) -> list[_Found]:
    """Return rows in which "Total Client 1" is a row of "Client 1", where there are others of that name."""
    names = {row.name for row in rows if row.name and not row.sum_by}
    found = []
    for row in rows:
        own = next((name for name in _without_sum(row.name) if name in names), "")
        found.append(replace(row, name=own, sum_by="") if own else row)
    return found


def _without_sum(name: str) -> list[str]:
    """Return what may be left of a name without a word for a sum before or behind it, even one that is glued to it."""
    return [name[hit.end() :].strip(_EDGES) or name[: hit.start()].strip(_EDGES) for hit in _SUM_AT_EDGE.finditer(name)]


def _of_only_connection(rows: Sequence[_Found]) -> list[_Found]:
    """Return rows in which those without a name are the only connection's that has one, or sums over several."""
    names = {row.name for row in rows if row.name and not row.sum_by}
    only = next(iter(names)) if len(names) == 1 else ""
    found = []
    for row in rows:
        if row.sum_by == "label":
            found.append(replace(row, sum_by="name") if len(names) > 1 else replace(row, name=only, sum_by=""))
        else:
            found.append(row if row.name else replace(row, name=only))
    return found


def _without_counters(rows: Sequence[_Found]) -> list[_Found]:
    """Return rows without names that only number them: each has another, and begins where the one above ends."""
    plain = [row for row in rows if not row.sum_by]
    names = [row.name for row in plain]
    spans = [next(part for part in row.parts if part.kind == "interval") for row in plain]
    joins = all(
        later.start_s is not None and abs(later.start_s - earlier.figure.value) <= max(earlier.figure.step, _ROUNDED_S)
        for earlier, later in itertools.pairwise(spans)
    )
    counted = (
        len(names) > 1
        and len(set(names)) == len(names)
        and all(re.search(r"\d", name) and "." not in name for name in names)
    )
    return [replace(row, name="") if counted and joins and not row.sum_by else row for row in rows]


_PREFIXES: Final = {"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
_ROUNDED_S: Final = 0.06
"""How far a row may seem to begin before the end of the one above: some print 2.02 as an end and 2.0 as a begin."""


def unit_bytes(unit: str, default: str = "B") -> float:
    """How many bytes a unit of amounts is: B, KB, MB, in any spelling, or bits; always decimal."""
    bits = 8.0 if "bit" in (unit or default).lower() else 1.0
    return _PREFIXES.get((unit or default)[:1].lower(), 1.0) / bits


def rate_mbps(rate: Figure) -> float:
    """A printed rate in Mbit/s, whether its label says bits or bytes (MBps is often meant as Mbit/s)."""
    return rate.value * _unit_mbps(rate)


def rate_step_mbps(rate: Figure) -> float:
    """The last digit of a printed rate, in Mbit/s as `rate_mbps` has it."""
    return rate.step * _unit_mbps(rate)


def _unit_mbps(rate: Figure) -> float:
    return _PREFIXES.get(rate.unit[:1].lower(), 1.0) / 1e6 if rate.unit else 1.0


def label_says_bytes(rate: Figure) -> bool:
    """Whether the label reads as bytes per second: a capital B, or the word."""
    return "byte" in rate.unit.lower() or "B" in rate.unit


def amount_bytes(row: Row, default_unit: str = "B") -> float:
    """The amount in bytes, by its label."""
    return row.amount.value * unit_bytes(row.amount.unit, default_unit)


def amount_step(row: Row, default_unit: str = "B") -> float:
    """The last digit of the amount, in bytes."""
    return max(1.0, row.amount.step * unit_bytes(row.amount.unit, default_unit))


def intervals(lines: Sequence[str]) -> dict[str, tuple[Sample, ...]]:
    """The rows of ``-i`` by connection, without the totals, from what a client has printed so far.

    Any layout that the checks understand will do. A row that begins before the one above it has ended is a total. Of a
    client without ``-i`` it is the totals, for they are all there is.
    """
    return by_connection(plain_rows(lines))


def by_connection(found_rows: Sequence[Row]) -> dict[str, tuple[Sample, ...]]:
    """As `intervals`, of rows."""
    found: dict[str, tuple[Sample, ...]] = {}
    for row in found_rows:
        before = found.get(row.name, ())
        slack_s = max(row.time_step_s, _ROUNDED_S)
        if not before or (row.start_s is not None and row.start_s >= before[-1].end_s - slack_s):
            found[row.name] = (*before, sample(row))
    return found


def told_apart(found_rows: Sequence[Row], connections: int) -> list[Row]:
    """The rows, with names of their own where all connections have one name, as that of the server's address.

    Each connection has a row in each round then, over about the same time. Left as they are where that is not so.
    """
    names = {row.name for row in found_rows}
    rounds = [found_rows[start : start + connections] for start in range(0, len(found_rows), connections)]
    if connections == 1 or len(names) != 1 or not all(_is_round(one, connections) for one in rounds):
        return list(found_rows)
    return [replace(row, name=f"{row.name} #{number % connections + 1}") for number, row in enumerate(found_rows)]


def _is_round(found_rows: Sequence[Row], connections: int) -> bool:
    starts_s = [row.start_s or 0.0 for row in found_rows]
    together = max(starts_s) - min(starts_s) < min(row.duration_s for row in found_rows) / 2
    return len(found_rows) == connections and together


def totals(found_rows: Sequence[Row]) -> dict[str, Row]:
    """The last row of each connection: its total, once the program has come to its end."""
    return {row.name: row for row in found_rows}


def total_mbps(lines: Sequence[str]) -> float | None:
    """What all connections carried together by their last rows, in Mbit/s; None if no row was printed."""
    last = totals(plain_rows(lines))
    return math.fsum(rate_mbps(row.rate) for row in last.values()) if last else None


def plain_rows(lines: Sequence[str]) -> list[Row]:
    """The rows of single connections, in order, without those whose numbers are none."""
    return [row for row in read((0.0, line) for line in lines).rows if not row.is_sum and row.is_possible]


def sample(row: Row) -> Sample:
    """A row as an interval."""
    return Sample(row.start_s or 0.0, row.end_s, rate_mbps(row.rate))
