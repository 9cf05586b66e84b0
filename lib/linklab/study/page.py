"""What a study's page is made of: parts, each Markdown with pictures, and numbers written as a page has them."""

from __future__ import annotations

import functools
import io
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import cleandoc
from typing import TYPE_CHECKING, Final

from linklab.errors import MeasurementError
from linklab.published import About, Claim, Inconsistency
from linklab.study.claims import Claims, Judge, JudgedClaim, Tables, Verdict, both, judged
from linklab.study.table import StudyTable, Values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from linklab.show.figure import Drawing

_SALT: Final = "linklab"
_MEANINGS: Final[Mapping[Verdict, str]] = {
    "reproduced": "it holds: in more than half of all repeats that there could be, by the interval of that share; or "
    "the interval of a difference lies above nothing; or it holds by means of the repeats, where these are compared",
    "not reproduced": "it does not hold, by the same",
    "open": "the interval leaves both possible",
    "the paper's own numbers agree": "the paper's text stands beside its own numbers, and nothing that we measured",
    "the paper's own numbers disagree": "the same, and its numbers say otherwise",
    "decided by construction": "an emulation, or arithmetic, cannot come out otherwise, for the reason given; so the "
    "numbers behind it show that it is so, and say nothing of the paper's machines",
    "not testable here": "nothing that is at hand can judge it",
}
_ORIGIN: Final = (
    "- A *digest* is the beginning of a table's SHA-256. *Image, code* are keys of what the labs were made of and of "
    "what measured: equal keys give equal digits, and *unknown* was measured before keys were kept. A *seed* draws all "
    "that is chance in a lab. *The labs' own time* is virtual, *wall time* the machine's, each the sum of all labs"
)


@dataclass(frozen=True)
class PagePart:
    """A part of a page: Markdown, and the SVG of its pictures by their files' names. A notebook shows it."""

    text: str
    pictures: Mapping[str, str] = field(default_factory=dict)

    def _repr_markdown_(self) -> str:
        """Return the Markdown with the pictures in it."""
        text = self.text
        for file, picture in self.pictures.items():
            text = text.replace(f"({file})", f"(data:image/svg+xml;base64,{b64encode(picture.encode()).decode()})")
        return text


def say(*parts: str | PagePart) -> PagePart:
    """Return paragraphs, tables and figures one below the other. Texts may be indented as the code is."""
    said = [PagePart(cleandoc(part)) if isinstance(part, str) else part for part in parts]
    pictures = {file: picture for part in said for file, picture in part.pictures.items()}
    return PagePart("\n\n".join(part.text for part in said), pictures)


def table(rows: Iterable[Sequence[object]], columns: Sequence[str], note: str = "") -> PagePart:
    """Return a table; ``note`` stands below it. None is an empty cell, and `Values` are written by `spread`.

    Raises MeasurementError for a row of another length than ``columns``.
    """
    lines = [_line(columns), _line(["---"] * len(columns))]
    for row in rows:
        if len(row) != len(columns):
            raise MeasurementError(f"a row of this table has {len(row)} cells for {len(columns)} columns: {row}")
        lines.append(_line(["" if it is None else spread(it) if isinstance(it, Values) else str(it) for it in row]))
    return PagePart("\n".join(lines) + (f"\n\n{note}" if note else ""))


class Page:
    """A page that is being made. ``tables`` has ours and, by `linklab.study.claims.compared`, the hardware's.

    `linklab.study.claims.judged` says what ``partial`` means.
    """

    def __init__(
        self,
        name: str,
        ours: Mapping[str, StudyTable],
        hardware: Mapping[str, StudyTable] | None = None,
        argued: Claims | None = None,
        *,
        partial: bool = False,
    ) -> None:
        self.name, self.ours, self.hardware = name, ours, hardware or {}
        self.tables = both(ours, self.hardware)
        self._argued, self._partial = argued or Claims(), partial
        self._pictures: dict[str, str] = {}

    def __getitem__(self, study: str) -> StudyTable:
        """Return the table of a study. Raises MeasurementError if the page has none."""
        return self.tables[study]

    def figure(self, name: str, caption: str, drawing: Drawing, alt_text: str = "") -> PagePart:
        """Return a figure with its caption; ``alt_text`` stands in for the drawing's own.

        Raises MeasurementError for another figure of that name.
        """
        file, words = f"{self.name}-{name}.svg", alt_text or drawing.alt_text
        if self._pictures.setdefault(file, text := _svg(drawing, words)) != text:
            raise MeasurementError(f"two pictures of page {self.name} are called {file}: name them apart")
        return PagePart(f"![{_cell(words)}]({file})\n\n*{caption}*", {file: text})

    def judge(self, says: str, *, about: About, where: str = "ours") -> Callable[[Judge], Judge]:
        """Make a function the judge of a claim of your own, whose id is the function's name.

        Its docstring says what would show the claim: it is the reason where no table of hardware is there.
        """

        def add(judge: Judge) -> Judge:
            name, it = getattr(judge, "__name__", ""), self._argued
            claim = Claim(name, says, where, about, cleandoc(judge.__doc__ or "needs measurements of it"))
            self._argued = replace(it, claims=(*it.claims, claim), judges={**it.judges, name: judge})
            return judge

        return add

    def claims(self) -> PagePart:
        """Return all claims, with their verdicts."""
        rows = [
            (f"{it.claim.says} ({it.claim.where})", it.claim.about, it.verdict, it.because)
            for it in self._judged.values()
        ]
        return table(rows, ("claim", "about", "verdict", "measured"))

    def how_judged(self) -> PagePart:
        """Return what decides each claim, and in words what the verdicts mean that the page has."""
        there = {it.verdict for it in self._judged.values()}
        meanings = "\n".join(f"- *{verdict}*: {told}." for verdict, told in _MEANINGS.items() if verdict in there)
        rows = [(it.claim.says, _decided_by(it.claim)) for it in self._judged.values() if it.claim.test != it.because]
        return say(
            "What decides, by metrics of the tables; `linklab study show STUDY` says what each is:",
            table(rows, ("claim", "decided by")),
            "A threshold has to hold for all of its numbers in a repeat, or, where it says so, for most (nine in "
            "ten) or any, or in more than half of the runs of each thing (each, apart). A repeat is the same run "
            "with another seed. *Alike with every seed*: no number changed from repeat to repeat. Intervals are "
            "those of Clopper and Pearson (shares of repeats) and of Welch (differences). The "
            f"verdicts:\n\n{meanings}",
        )

    def verdict(self, claim: str) -> str:
        """Return the verdict on a claim. Raises MeasurementError for an unknown one."""
        return self._of(claim).verdict

    def because(self, claim: str) -> str:
        """Return the reason of a claim's verdict. Raises MeasurementError for an unknown one."""
        return self._of(claim).because

    def provenance(self) -> PagePart:
        """Return where the numbers come from: name, digest, date, seeds and durations of each table, and what the labs
        ran on.
        """
        return provenance(self.ours, self.hardware)

    def files(self, parts: Sequence[PagePart]) -> dict[str, str]:
        """Return the page's files by name: NAME.md, and NAME-PICTURE.svg for each picture.

        A page of tables with missing points says so below its title.
        """
        whole = say(*parts)
        title = re.search(r"^# .*\n", whole.text, re.MULTILINE)
        below = title.end() if title else 0
        text = whole.text[:below] + _missing_points(self.ours) + whole.text[below:]
        return {f"{self.name}.md": text + "\n", **whole.pictures}

    @functools.cached_property
    def _judged(self) -> dict[str, JudgedClaim]:
        found = judged(self._argued, self.ours, self.hardware, partial=self._partial)
        return {each.claim.id: each for each in found}

    def _of(self, claim: str) -> JudgedClaim:
        if claim not in self._judged:
            raise MeasurementError(f"page {self.name} has no claim {claim!r}")
        return self._judged[claim]


def _decided_by(claim: Claim) -> str:
    """Return what would show a claim, and its thresholds."""
    each = (
        f"{it.quantity} {it.relation} {it.threshold}{'' if it.of == 'all' else f', {it.of}'}" for it in claim.thresholds
    )
    return "; ".join((claim.test, *each))


def _missing_points(tables: Tables) -> str:
    """Return a paragraph that says which tables have missing points; an empty string if none has."""
    lacking = [table for table in tables.values() if table.missing]
    if not lacking:
        return ""
    told = "; ".join(
        f"{len(table.missing)} of {len(table.study.points())} points of {table.study.name} (`{table.study.command}`)"
        for table in lacking
    )
    return f"\n**Not measured in full: {told} are missing. No claim that needs them is judged.**\n"


def fixed(value: float, digits: int) -> str:
    """Return a number with so many digits behind the point; never ``-0``."""
    return f"{round(value, digits) + 0.0:.{digits}f}"


def significant(value: float, digits: int = 3) -> str:
    """Return a number with so many significant digits, and no zeros at its end behind the point."""
    text = f"{value + 0.0:.{digits}g}"
    return f"{value:.0f}" if "e+" in text else text


def spread(values: Values, digits: int = 4) -> str:
    """Return ``"9.5 (6.7 to 9.9)"``, mean, least and largest of repeats; the mean alone if all are the same."""
    mean, low, high = (significant(each, digits) for each in (values.mean, values.low, values.high))
    return mean if low == high else f"{mean} ({low} to {high})"


def inconsistencies(found: Iterable[Inconsistency]) -> PagePart:
    """Return where a paper contradicts itself."""
    return table([(it.where, it.what) for it in found], ("section", "what"))


def provenance(tables: Tables, hardware: Tables) -> PagePart:
    """Return as Markdown where a page's numbers come from: name, digest, date, seeds and durations of each table, then
    what the labs ran on.
    """
    rows = [_origin(name, table) for name, table in tables.items()]
    rows += [(*_place(name, table), "given by its owner", *"----") for name, table in hardware.items()]
    columns = (
        "table", "rows", "digest", "measured", "made by image, code", "seeds", "the labs' own time",
        "wall time",
    )  # fmt: skip
    ran = {
        ", ".join(f"{what} {version}" for what, version in lab.items() if what not in ("clock", "seed"))
        for table in tables.values()
        for lab in table.about.get("labs", ())
        if lab
    }
    versions = sorted({str(table.about["linklab"]) for table in tables.values() if "linklab" in table.about})
    note = "\n".join([f"- Linklab {', '.join(versions) or 'unknown'}", *(f"- Labs: {each}" for each in sorted(ran))])
    commands = " && ".join(str(table.about.get("command", table.study.command)) for table in tables.values())
    return table(rows, columns, f"{note}\n{_ORIGIN}\n- Measured again by: `{commands}`")


def _origin(name: str, table: StudyTable) -> tuple[str, ...]:
    about = table.about
    seeds = sorted({int(lab["seed"]) for lab in about.get("labs", ()) if "seed" in lab})
    return (
        *_place(name, table),
        str(about.get("date", "unknown"))[:10],
        ", ".join(about.get("made_by", {}).get(part, "unknown") for part in ("image", "code")),
        _range(seeds),
        _duration(about.get("lab_s_of_all_points")),
        _duration(about.get("wall_s_of_all_points")),
    )


def _place(name: str, table: StudyTable) -> tuple[str, str, str]:
    file = table.files[0].name.removesuffix(".xz") if table.files else name
    return file, str(len(table)), table.digest


def _range(numbers: Sequence[int]) -> str:
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]} to {numbers[-1]}"
    return ", ".join(map(str, numbers)) or "unknown"


def _duration(seconds: float | None) -> str:
    return "unknown" if seconds is None else f"{seconds:.0f} s"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _svg(figure: Figure, title: str) -> str:
    import matplotlib

    # names of parts come from the salt and not from chance, and there is no date in it
    with matplotlib.rc_context({"svg.hashsalt": _SALT}):
        stream = io.StringIO()
        figure.savefig(stream, format="svg", bbox_inches="tight", metadata={"Date": None, "Title": title})
    return stream.getvalue()
