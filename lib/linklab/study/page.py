"""Make a study's page from measured tables: Markdown from a template, claims with verdicts, tables and figures.

A template (Jinja2, undefined names are errors) has the prose, and looks up every measured number where it stands:

{{ value("mtu", "bandwidth_max_mbps", form="direct", sending="greedy") | fixed(2) }}  the mean over repeats
{{ spread("video", "jitter_ms_mean", link_mbps=2) }}            mean (least to largest) over repeats
{{ values.worst }}, {{ grid("rtt") }}, {{ figure("jitter") }}   what the page's own functions make of the tables
{{ claims() }}, {{ verdict("mtu-settles") }}, {{ because("mtu-settles") }}, {{ published.X }}, {{ provenance() }}
"""

from __future__ import annotations

import functools
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import jinja2
import pandas

from linklab.errors import MeasurementError
from linklab.files import write_whole
from linklab.published import Claim
from linklab.study.claims import Judge, JudgedClaim, Tables, both, compared, judged
from linklab.study.declare import Metric, Study
from linklab.study.table import StudyTable, Values, read_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from linklab.show.figure import Drawing

_SALT: Final = "linklab"
_PICTURE: Final = re.compile(r"!\[[^]]*\]\(([^()/\s]+\.svg)\)")
_OVERVIEW: Final = Path(__file__).with_name("overview.md")
_NOTE: Final = "Mean over repeats; where they differ, the least and the largest in brackets."
_Thing = TypeVar("_Thing")


@dataclass(frozen=True)
class Grid:
    """A table of texts; each row has a text for each column. ``note`` stands below it.

    Raises MeasurementError for a row of another length.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise MeasurementError(
                    f"a row of this table has {len(row)} cells for {len(self.columns)} columns: {row}"
                )


@dataclass(frozen=True)
class Picture:
    """A figure of a page. ``name`` is the file name without ending; ``alt_text`` says in words what it shows."""

    name: str
    caption: str
    alt_text: str
    draw: Callable[[], Figure]

    @classmethod
    def of(cls, name: str, caption: str, drawing: Drawing) -> Picture:
        """Return the figure of a drawing, with the drawing's alt text."""
        return cls(name, caption, drawing.alt_text, lambda: drawing)


@dataclass(frozen=True)
class Page:
    """A page, as data. ``name`` is the file name without ending.

    ``judges`` has a judge for each claim that can be judged. ``grids``, ``figures`` and ``values`` are functions of the
    tables, by the names that the template uses; the template finds ``published`` under that name. ``printed`` are
    tables of the numbers that the paper printed of its own hardware, by the study's name.
    """

    name: str
    title: str
    studies: tuple[Study, ...]
    template: Path
    claims: tuple[Claim, ...] = ()
    judges: Mapping[str, Judge] = field(default_factory=dict)
    grids: Mapping[str, Callable[[Tables], Grid]] = field(default_factory=dict)
    figures: Mapping[str, Callable[[Tables], Picture]] = field(default_factory=dict)
    values: Mapping[str, Callable[[Tables], str]] = field(default_factory=dict)
    published: Mapping[str, Any] = field(default_factory=dict)
    printed: Tables = field(default_factory=dict)


def read_tables(page: Page, folder: Path) -> dict[str, StudyTable]:
    """Return the tables of a page's studies, by name. Raises MeasurementError if one is missing or damaged."""
    return {study.name: read_table(study, folder) for study in page.studies}


def make_page(page: Page, tables: Tables, hardware: Tables | None = None, *, partial: bool = False) -> dict[str, str]:
    """Return the files of a page, by name: NAME.md, and NAME-PICTURE.svg for each picture.

    The same tables give the same files, byte for byte. `hardware` are a researcher's own tables, by the study's name;
    see `linklab.study.claims.judged` for them and for `partial`. A page of tables with missing points says so below its
    title. Pure, but for reading the template.
    Raises MeasurementError if the tables lack what the page needs, or if the template uses an unknown name.
    """
    return _Making(page, tables, hardware or {}, partial).files()


def write_page(name: str, files: Mapping[str, str], folder: Path) -> tuple[Path, ...]:
    """Write a page's files, and return their paths. Pictures that only the page's old version had are removed.

    Raises MeasurementError for a folder that cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        page = folder / f"{name}.md"
        before = _PICTURE.findall(page.read_text("utf-8", errors="replace")) if page.exists() else []
        for file, text in files.items():
            write_whole(folder / file, text)
        for old in before:
            if old.startswith(f"{name}-") and old not in files:
                (folder / old).unlink(missing_ok=True)
    except OSError as error:
        raise MeasurementError(f"{folder} cannot be written to: {error.strerror}; choose another --output") from None
    return tuple(folder / file for file in files)


class _Making:
    """Makes one page; its methods are what the template can call."""

    def __init__(self, page: Page, tables: Tables, hardware: Tables, partial: bool) -> None:
        self._page, self._tables, self._hardware, self._partial = page, tables, hardware, partial
        self._both = both(tables, hardware)
        self._pictures: dict[str, str] = {}

    def files(self) -> dict[str, str]:
        page = self._page
        environment = jinja2.Environment(
            undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
        )
        environment.filters |= {"fixed": fixed, "significant": significant}
        known = {
            "title": page.title,
            "value": lambda study, metric, /, **levels: self._lookup(study, metric, levels).mean,
            "largest": lambda study, metric, /, **levels: self._lookup(study, metric, levels).high,
            "least": lambda study, metric, /, **levels: self._lookup(study, metric, levels).low,
            "spread": lambda study, metric, /, digits=4, **levels: spread(self._lookup(study, metric, levels), digits),
            "values": _Values(self),
            "grid": lambda name: as_markdown(self.made(page.grids, name, "grid")),
            "figure": lambda name: self._shown(self.made(page.figures, name, "figure")),
            "claims": self._claims,
            "verdict": lambda claim: self._of(claim).verdict,
            "because": lambda claim: self._of(claim).because,
            "inconsistencies": inconsistencies,
            "published": page.published,
            "provenance": lambda: provenance(self._tables, self._hardware),
        }
        try:
            text = environment.from_string(page.template.read_text("utf-8")).render(known)
        except (jinja2.TemplateError, OSError) as wrong:
            raise MeasurementError(f"{page.template.name} of page {page.name} cannot be used: {wrong}") from None
        title = re.search(r"^# .*\n", text, re.MULTILINE)
        below = title.end() if title else 0
        text = text[:below] + _missing_points(self._tables) + text[below:]
        text = text.rstrip() + self._compared() + "\n"
        return {f"{page.name}.md": text, **self._pictures}

    def made(self, functions: Mapping[str, Callable[[Tables], _Thing]], name: str, kind: str) -> _Thing:
        """Call one of the page's functions with the tables, and return its result."""
        if name not in functions:
            raise MeasurementError(f"page {self._page.name} has no {kind} {name!r}: {', '.join(functions) or 'none'}")
        return functions[name](self._both)

    def value(self, name: str) -> str:
        """Return one of the page's values."""
        return self.made(self._page.values, name, "value")

    def _compared(self) -> str:
        """Return the section that compares a researcher's own numbers with ours; it ends a page made with such."""
        if not self._hardware:
            return ""
        names = ", ".join(path.name for table in self._hardware.values() for path in table.files)
        parts = [f"## Compared with {names}", as_markdown(compared_grid(self._both))]
        return "\n\n".join(["", *parts, *map(self._shown, _compared_pictures(self._both))])

    def _shown(self, picture: Picture) -> str:
        """Return a picture as Markdown, and add its file to the page's files."""
        file = f"{self._page.name}-{picture.name}.svg"
        if self._pictures.setdefault(file, text := _svg(picture)) != text:
            raise MeasurementError(f"two pictures of page {self._page.name} are called {file}: name them apart")
        return f"![{_cell(picture.alt_text)}]({file})\n\n*{picture.caption}*"

    def _claims(self) -> str:
        """Return all claims with their verdicts as Markdown."""
        rows = tuple((f"{it.claim.says} ({it.claim.where})", it.claim.about, it.verdict, it.because)
                     for it in self._judged.values())  # fmt: skip
        return as_markdown(Grid(("claim", "about", "verdict", "measured"), rows))

    @functools.cached_property
    def _judged(self) -> dict[str, JudgedClaim]:
        page = self._page
        all_of = judged(
            page.claims, page.judges, self._tables, self._hardware, printed=page.printed, partial=self._partial
        )
        return {each.claim.id: each for each in all_of}

    def _of(self, claim: str) -> JudgedClaim:
        if claim not in self._judged:
            raise MeasurementError(f"page {self._page.name} has no claim {claim!r}")
        return self._judged[claim]

    def _lookup(self, study: str, metric: str, levels: Mapping[str, Any]) -> Values:
        if study not in self._tables:
            raise MeasurementError(f"page {self._page.name} has no table of a study {study!r}")
        return self._tables[study].lookup(metric, **levels)


class _Values:
    """A page's values, as the template looks them up by name."""

    def __init__(self, making: _Making) -> None:
        self._making = making

    def __getitem__(self, name: str) -> str:
        return self._making.value(name)


def overview(study: Study, key: str, table: StudyTable, paper: Page | None = None) -> Page:
    """Return a page with all values and series of a study that has no page of its own, or has own levels.

    `key` is the table's name among the tables; `paper` is a page whose claims the table can judge.
    Raises MeasurementError for a table without rows.
    """
    if not len(table):
        raise MeasurementError(f"the table of study {study.name} has no rows, since all points failed: {study.command}")
    numbered = table.frame[table.frame["number"].notna()]["metric"].unique()
    metrics = [metric for metric in study.metrics if metric.name in numbered]
    return Page(
        study.name,
        study.title,
        (study,),
        _OVERVIEW,
        claims=paper.claims if paper else (),
        judges=paper.judges if paper else {},
        grids={"values": functools.partial(values_grid, key)},
        figures={metric.name: functools.partial(_series_of, key, metric) for metric in metrics},
        values={"what": lambda tables: _what(tables[key])},
        published={"figures": [metric.name for metric in metrics], "claims": bool(paper and paper.claims)},
        printed=paper.printed if paper else {},
    )


def values_grid(study: str, tables: Tables) -> Grid:
    """Return all values of a study apart from series, with a row for each combination of levels that differ.

    If there are more metrics than combinations, each metric has a row instead: the table has to fit a page's width.
    """
    table = tables[study]
    factors = _differing(table)
    found = _values_at(table, factors)
    metrics = [metric for metric in table.study.metrics if any(metric.name in values for values in found.values())]
    things = ("of",) if any(of for *_, of in found) else ()
    rows = []
    for (*levels, of), values in found.items():
        texts = (spread(values[metric.name]) if metric.name in values else "-" for metric in metrics)
        rows.append((*levels, *(of or "-" for _ in things), *texts))
    columns = (*factors, *things, *(f"{metric.name} ({metric.unit})" for metric in metrics))
    if len(metrics) <= len(rows):
        return Grid(columns, tuple(rows), _NOTE)
    known = len(factors) + len(things)
    settings = (" ".join(row[:known]) or "value" for row in rows)
    return Grid(("metric", *settings), tuple(zip(columns, *rows, strict=True))[known:], _NOTE)


def compared_grid(tables: Tables) -> Grid:
    """Return a researcher's own values next to ours, with a row for each metric and combination of theirs."""
    rows = []
    units = {metric.name: metric.unit for table in tables.values() for metric in table.study.metrics}
    for ours, theirs in _pairs(tables):
        factors = list(ours.study.factors)
        here = _values_at(ours, factors)
        for (*levels, of), given in _values_at(theirs, factors).items():
            at = " ".join(f"{factor}={level}" for factor, level in zip(factors, levels, strict=True))
            for metric, values in given.items():
                mine = here.get((*levels, of), {}).get(metric)
                off = "-" if mine is None or mine.mean == 0 else f"{100 * (values.mean / mine.mean - 1):+.1f} %"
                rows.append((f"{metric} ({units[metric]}){' of ' + of if of else ''}", at,
                             spread(values), spread(mine) if mine else "not measured", off))  # fmt: skip
    columns = ("metric", "at", "given", "ours", "given above ours")
    return Grid(columns, tuple(rows), _NOTE)


def _pairs(tables: Tables) -> list[tuple[StudyTable, StudyTable]]:
    """Return our table and a researcher's of each study that has both."""
    return [(ours, tables[compared(name)]) for name, ours in tables.items() if compared(name) in tables]


def _values_at(table: StudyTable, factors: Sequence[str]) -> dict[tuple[str, ...], dict[str, Values]]:
    """Return the values apart from series: by the levels of factors and what they belong to, then by metric."""
    rows = table.frame[table.frame["number"].isna()]
    found: dict[tuple[str, ...], dict[str, Values]] = {}
    for (*levels, of, metric), values in rows.groupby([*factors, "of", "metric"], sort=False)["value"]:
        found.setdefault((*map(_level, levels), str(of)), {})[str(metric)] = Values(tuple(values))
    return found


def _level(level: object) -> str:
    return str(int(level)) if isinstance(level, float) and level.is_integer() else str(level)


def _differing(table: StudyTable) -> list[str]:
    several = [factor for factor in table.study.factors if table.frame[factor].nunique() > 1]
    return several or list(table.study.factors)[:1]


def _what(table: StudyTable) -> str:
    study = table.study
    levels = "; ".join(f"{factor} {', '.join(map(str, table.levels(factor)))}" for factor in study.factors)
    repeats = table.frame["repeat"].nunique()
    return f"{study.source + '. ' if study.source else ''}Levels: {levels}. Repeats: {repeats}."


def _series_of(study: str, metric: Metric, tables: Tables) -> Picture:
    return _picture(metric, metric.name.replace("_", "-"), _lines(tables[study], metric, _differing(tables[study])))


def _compared_pictures(tables: Tables) -> Iterator[Picture]:
    """Yield a figure for each series of a researcher's own values, with ours at the same levels."""
    for ours, theirs in _pairs(tables):
        factors = [factor for factor in ours.study.factors if factor in {*_differing(ours), *_differing(theirs)}]
        for metric in ours.study.metrics:
            given, mine = _lines(theirs, metric, factors), _lines(ours, metric, factors)
            pairs = [(f"given, {key}", line) for key, line in given.items()]
            pairs += [(f"ours, {key}", mine[key]) for key in given if key in mine]
            if pairs:
                yield _picture(metric, f"compared-{metric.name.replace('_', '-')}", dict(pairs))


def _lines(table: StudyTable, metric: Metric, factors: Sequence[str]) -> dict[str, pandas.Series[float]]:
    """Return a series for each combination of levels: the metric's mean over repeats, by number."""
    rows = table.frame[(table.frame["metric"] == metric.name) & table.frame["number"].notna()]
    return {
        " ".join(map(_level, key)).strip(): group.groupby(group["number"].astype(int))["value"].mean()
        for key, group in rows.groupby([*factors, "of"], sort=False)
    }


def _picture(metric: Metric, name: str, lines: Mapping[str, pandas.Series[float]]) -> Picture:
    from linklab.show.chart import LINES, add_lines, chart, legend, spans

    shown = {name: (line.index.to_list(), line.to_list()) for name, line in list(lines.items())[: len(LINES)]}
    label = f"{metric.name} ({metric.unit})"
    figure, axes = chart(f"{label}: {spans(shown)}", x="number", y=label)
    add_lines(axes, shown)
    legend(axes, columns=2)
    left_out = f" The first {len(shown)} of {len(lines)} combinations." if len(lines) > len(shown) else ""
    return Picture.of(name, f"{metric.meaning}, mean over repeats.{left_out}", figure)


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


def inconsistencies(found: Sequence[Any]) -> str:
    """Return where a paper contradicts itself (`linklab.published.Inconsistency`) as Markdown."""
    return as_markdown(Grid(("section", "what"), tuple((it.where, it.what) for it in found)))


def as_markdown(grid: Grid) -> str:
    """Return a grid as Markdown."""
    lines = [_line(grid.columns), _line(["---"] * len(grid.columns)), *map(_line, grid.rows)]
    return "\n".join(lines) + (f"\n\n{grid.note}" if grid.note else "")


def provenance(tables: Tables, hardware: Tables) -> str:
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
    return as_markdown(Grid(columns, tuple(rows), f"{note}\n- Measured again by: `{commands}`"))


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


def _svg(picture: Picture) -> str:
    import matplotlib

    # names of parts come from the salt and not from chance, and there is no date in it
    with matplotlib.rc_context({"svg.hashsalt": _SALT}):
        stream = io.StringIO()
        picture.draw().savefig(
            stream, format="svg", bbox_inches="tight", metadata={"Date": None, "Title": picture.alt_text}
        )
    return stream.getvalue()
