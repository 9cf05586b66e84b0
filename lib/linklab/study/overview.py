"""Pages that nobody wrote: all values and series of a study, and a researcher's own numbers next to ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from linklab.errors import MeasurementError
from linklab.study.claims import Claims
from linklab.study.declare import Metric, Study
from linklab.study.page import Page, PagePart, say, spread, table
from linklab.study.table import StudyTable, Values

if TYPE_CHECKING:
    import pandas

_NOTE: Final = "Mean over repeats; where they differ, the least and the largest in brackets."


def overview_name(study: Study) -> str:
    """Return the name of a study's overview: never that of a page which somebody wrote about the study."""
    return f"{study.name}-values"


def overview(key: str, ours: StudyTable, hardware: Mapping[str, StudyTable], argued: Claims) -> dict[str, str]:
    """Return the files of a page with all values and series of a study that has no page of its own, or has own levels.

    `key` is the table's name among the tables that judges ask for; `argued` are claims that the table can judge.
    Raises MeasurementError for a table without rows.
    """
    study = ours.study
    if not len(ours):
        raise MeasurementError(f"the table of study {study.name} has no rows, since all points failed: {study.command}")
    page = Page(overview_name(study), {key: ours}, hardware, argued, partial=True)
    claims = (say("## A paper's claims, judged by these values"), page.claims()) if argued.claims else ()
    return page.files([
        say(f"# {study.title}", _what(ours), "## Values"), values_table(ours), *_series(page, ours), *claims,
        say("## Where the numbers come from"), page.provenance(), *compared_parts(page),
    ])  # fmt: skip


def values_table(ours: StudyTable) -> PagePart:
    """Return all values of a study apart from series, with a row for each combination of levels that differ.

    If there are more metrics than combinations, each metric has a row instead: the table has to fit a page's width.
    """
    factors = _differing(ours)
    found = _values_at(ours, factors)
    metrics = [metric for metric in ours.study.metrics if any(metric.name in values for values in found.values())]
    things = ("of",) if any(of for *_, of in found) else ()
    rows = []
    for (*levels, of), values in found.items():
        texts = (spread(values[metric.name]) if metric.name in values else "-" for metric in metrics)
        rows.append((*levels, *(of or "-" for _ in things), *texts))
    columns = (*factors, *things, *(f"{metric.name} ({metric.unit})" for metric in metrics))
    if len(metrics) <= len(rows):
        return table(rows, columns, _NOTE)
    known = len(factors) + len(things)
    settings = (" ".join(row[:known]) or "value" for row in rows)
    return table(list(zip(columns, *rows, strict=True))[known:], ("metric", *settings), _NOTE)


def compared_parts(page: Page) -> list[PagePart]:
    """Return the end of a page that has a researcher's own tables: their values and series next to ours."""
    if not page.hardware:
        return []
    names = ", ".join(path.name for each in page.hardware.values() for path in each.files)
    pairs = [(ours, page.hardware[name]) for name, ours in page.ours.items() if name in page.hardware]
    rows = [row for ours, theirs in pairs for row in _compared_rows(ours, theirs)]
    values = table(rows, ("metric", "at", "given", "ours", "given above ours"), _NOTE)
    return [say(f"## Compared with {names}"), values, *(it for pair in pairs for it in _compared_series(page, *pair))]


def _compared_rows(ours: StudyTable, theirs: StudyTable) -> Iterator[tuple[object, ...]]:
    """Yield a row for each metric and combination of theirs."""
    units = {metric.name: metric.unit for metric in ours.study.metrics}
    factors = list(ours.study.factors)
    here = _values_at(ours, factors)
    for (*levels, of), given in _values_at(theirs, factors).items():
        at = " ".join(f"{factor}={level}" for factor, level in zip(factors, levels, strict=True))
        for metric, values in given.items():
            mine = here.get((*levels, of), {}).get(metric)
            off = "-" if mine is None or mine.mean == 0 else f"{100 * (values.mean / mine.mean - 1):+.1f} %"
            name = f"{metric} ({units[metric]}){' of ' + of if of else ''}"
            yield name, at, values, mine or "not measured", off


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


def _series(page: Page, ours: StudyTable) -> Iterator[PagePart]:
    """Yield a figure for each metric that is a series."""
    numbered = set(ours.frame[ours.frame["number"].notna()]["metric"])
    for metric in ours.study.metrics:
        if metric.name in numbered:
            lines = _lines(ours, metric, _differing(ours))
            yield _figure(page, metric, metric.name.replace("_", "-"), lines)


def _compared_series(page: Page, ours: StudyTable, theirs: StudyTable) -> Iterator[PagePart]:
    """Yield a figure for each series of theirs, with ours at the same levels."""
    factors = [factor for factor in ours.study.factors if factor in {*_differing(ours), *_differing(theirs)}]
    for metric in ours.study.metrics:
        given, mine = _lines(theirs, metric, factors), _lines(ours, metric, factors)
        pairs = [(f"given, {key}", line) for key, line in given.items()]
        pairs += [(f"ours, {key}", mine[key]) for key in given if key in mine]
        if pairs:
            yield _figure(page, metric, f"compared-{metric.name.replace('_', '-')}", dict(pairs))


def _lines(table: StudyTable, metric: Metric, factors: Sequence[str]) -> dict[str, pandas.Series[float]]:
    """Return a series for each combination of levels: the metric's mean over repeats, by number."""
    rows = table.frame[(table.frame["metric"] == metric.name) & table.frame["number"].notna()]
    return {
        " ".join(map(_level, key)).strip(): group.groupby(group["number"].astype(int))["value"].mean()
        for key, group in rows.groupby([*factors, "of"], sort=False)
    }


def _figure(page: Page, metric: Metric, name: str, lines: Mapping[str, pandas.Series[float]]) -> PagePart:
    from linklab.show.chart import LINES, add_lines, chart, legend, spans

    shown = {name: (line.index.to_list(), line.to_list()) for name, line in list(lines.items())[: len(LINES)]}
    label = f"{metric.name} ({metric.unit})"
    figure, axes = chart(f"{label}: {spans(shown)}", x="number", y=label)
    add_lines(axes, shown)
    legend(axes, columns=2)
    left_out = f" The first {len(shown)} of {len(lines)} combinations." if len(lines) > len(shown) else ""
    return page.figure(name, f"{metric.meaning}, mean over repeats.{left_out}", figure)
