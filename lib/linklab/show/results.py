"""Any result of `linklab.measure`, or several of one run: each quantity of their rows over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from linklab.errors import MeasurementError
from linklab.measure.results import Results, records
from linklab.show.chart import label_axes, legend, panels, told_apart

if TYPE_CHECKING:
    from linklab.show.figure import Drawing

_UNITS: Final = {"ms": "ms", "mbps": "Mbit/s", "percent": "%", "packets": "packets", "segments": "segments"}
_NO_QUANTITY: Final = ("stream", "packet", "start_s", "end_s")
_PANEL_INCHES: Final = 2.4
_FEW: Final = 30
"""Fewer points than that are marked, since a single one would draw no line."""
Lines = dict[str, tuple[list[float], list[float]]]


def measured(results: Results) -> Drawing:
    """Return a figure of what was measured: a panel for each quantity, a line for each flow and connection.

    The quantities are the columns of `linklab.measure.to_dataframe` that end in a unit (``rtt_ms``, ``cwnd_segments``).
    A tool needs nothing for it but its rows. Raises MeasurementError for what is no result, where there is no such
    quantity, or for more flows and connections than can be told apart.
    """
    rows = [
        {**row, "line": " ".join(str(row[key]) for key in ("flow", "stream", "connection") if row.get(key) is not None)}
        for row in records(results)
    ]
    names = dict.fromkeys(name for row in rows for name, value in row.items() if value is not None)
    quantities = {name: unit for name in names if (unit := _unit(name)) and name not in _NO_QUANTITY}
    shown = {name: _lines(rows, name) for name in quantities}
    if not shown:
        raise MeasurementError("there is no quantity to draw: no row of these results has a value with a unit")
    words = "; ".join(
        f"{line}, {name.rpartition('_')[0]}: {min(values):.4g} to {max(values):.4g} {quantities[name]}"
        for name, lines in shown.items()
        for line, (_, values) in lines.items()
    )
    figure, axes_of = panels(f"What was measured. {words}.", len(shown), height_inches=1 + _PANEL_INCHES * len(shown))
    styles = {line: style for line, _, style in told_apart({line: None for lines in shown.values() for line in lines})}
    handles = {}
    for axes, (name, lines) in zip(axes_of, shown.items(), strict=True):
        timed = any(row.get("start_s") is not None and row.get(name) is not None for row in rows)
        label = name.rpartition("_")[0].replace("_", " ")
        label_axes(axes, "seconds since the start" if timed else "packet", f"{label} ({quantities[name]})")
        for line, (at, values) in lines.items():
            marker = "o" if len(at) < _FEW else ""
            (handles[line],) = axes.plot(at, values, label=line, marker=marker, markersize=4, **styles[line])
        axes.set_ylim(bottom=0)
    legend(axes_of[0], 2, handles=list(handles.values()))
    return figure


def _unit(name: str) -> str | None:
    return _UNITS.get(name.rpartition("_")[2])


def _lines(rows: list[dict[str, object]], name: str) -> Lines:
    """Return for each line when (s, or the packet's number) and what; rows without a value are left out."""
    found: Lines = {}
    for row in rows:
        value = row.get(name)
        at = row["packet"] if row.get("start_s") is None else row["start_s"]
        if isinstance(value, int | float) and isinstance(at, int | float):
            moments, values = found.setdefault(str(row["line"]), ([], []))
            moments.append(float(at))
            values.append(float(value))
    return found
