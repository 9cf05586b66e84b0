"""The form of a prediction in a page: a curve to draw, or numbers to type.

The cell's next run writes them into the cell. So the notebook holds what was predicted, and a run from
scratch needs no form.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import traitlets

from linklab.grade.questions import Value, as_number, is_missing
from linklab.record import cells_run, kernels_shell
from linklab.show.widgets.widget import Widget


class PredictionForm(Widget):
    """What a student draws or types for one prediction: points ``(x, y)`` or numbers, and how sure in percent.

    ``touched`` says that the student changed something since the cell was run. The page counts in ``asked`` how often
    the cell is to be run, and runs it when ``heard`` is the same: then the kernel has all that was typed before.
    """

    about = traitlets.Dict().tag(sync=True)
    points: traitlets.List[Any] = traitlets.List().tag(sync=True)
    numbers: traitlets.List[Any] = traitlets.List().tag(sync=True)
    sure = traitlets.Float(None, allow_none=True).tag(sync=True)
    touched = traitlets.Bool(False).tag(sync=True)
    asked = traitlets.Int(0).tag(sync=True)
    heard = traitlets.Int(0).tag(sync=True)

    @traitlets.observe("asked")
    def _hear(self, _change: object) -> None:
        self.heard = self.asked

    def still(self) -> Mapping[str, str]:
        """Return nothing: the prediction itself stands below the form, in words."""
        return {"text/html": "", "text/plain": ""}


_forms: Final[dict[tuple[str, str], PredictionForm]] = {}
"""The form that the page shows of each prediction, by lab and name."""


def filled_in(lab: str, name: str, asked: Any, given: object, sure: object) -> tuple[object, object]:
    """Show the form of a prediction, and return what is predicted and how sure: as the student changed it in the form.

    ``asked`` is the prediction's numbers or sketch. What the student changed since the last run is written into the
    cell that runs.
    """
    before = _forms.pop((lab, name), None)
    if before is not None and before.touched:
        given, sure = _given(before, asked, given), before.sure
        _write(name, given, sure)
    if before is not None:
        before.end()
    form = PredictionForm(widget="prediction", about=_about(lab, name, asked), sure=_number(sure))
    form.points = [list(point) for point in given] if isinstance(given, list) else []
    form.numbers = [_number(number) for number in _numbers(asked, given)]
    _forms[lab, name] = form
    form._ipython_display_()
    return given, sure


def _about(lab: str, name: str, asked: Any) -> dict[str, Any]:
    if isinstance(asked, Sequence):
        fields = [{"label": question.what, "unit": question.expected.unit} for question in asked]
        return {"title": f"{lab}, {name.replace('_', ' ')}", "fields": fields}
    axes = {
        axis: {"label": label, "low": span[0], "high": span[1]}
        for axis, label, span in (("x", asked.x, asked.x_span), ("y", asked.y, asked.y_span))
    }
    return {"title": asked.what, **axes}


def _numbers(asked: Any, given: object) -> list[object]:
    if not isinstance(asked, Sequence):
        return []
    return [given.get(question.key) if isinstance(given, Mapping) else given for question in asked]


def _number(value: object) -> float | None:
    return None if is_missing(value) or not isinstance(value, int | float) else float(value)


def _given(form: PredictionForm, asked: Sequence[Value] | Any, given: object) -> object:
    """Return what the form holds in the shape that the cell gives it in."""
    if not isinstance(asked, Sequence):
        return [(as_number(x), as_number(y)) for x, y in form.points] or None
    if isinstance(given, Mapping):
        return {**given, **{question.key: it for question, it in zip(asked, form.numbers, strict=True)}}
    return form.numbers[0]


def _write(name: str, given: object, sure: object) -> None:
    """Put a prediction into the cell that runs."""
    cells, shell = cells_run(), kernels_shell()
    source = rewritten(cells[-1], name, given, sure) if cells else ""
    if source:
        shell.set_next_input(source, replace=True)
    else:
        print(f"Write this into the cell yourself: {_text(given)}, sure={_text(sure)}")


def rewritten(source: str, name: str, given: object, sure: object) -> str:
    """Return a cell's source with other values for ``predict(name, given, sure)``; empty if it has no such call.

    A value that has a name (``sure = None``, then ``predict("rtt", rtt, sure)``) is changed where it gets the name.
    """
    tree = ast.parse(source)
    calls = [it for it in ast.walk(tree) if isinstance(it, ast.Call) and _predicts(it, name)]
    if len(calls) != 1:
        return ""
    call, keywords = calls[0], {it.arg: it.value for it in calls[0].keywords}
    named = {
        target.id: it.value
        for it in tree.body
        if isinstance(it, ast.Assign) and it.lineno < call.lineno
        for target in it.targets
        if isinstance(target, ast.Name)
    }
    places = [*call.args[1:], *(keywords[key] for key in ("given", "sure") if key in keywords)]
    if len(places) != 2:
        return ""
    changes = [*_changes(places[0], given, named), *_changes(places[1], sure, named)]
    lines = source.encode().splitlines(keepends=True)
    begins = [sum(map(len, lines[:number])) for number in range(len(lines))]
    changed = source.encode()
    for node, text in sorted(changes, key=lambda it: (it[0].lineno, it[0].col_offset), reverse=True):
        first = begins[node.lineno - 1] + node.col_offset
        last = begins[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        changed = changed[:first] + text.encode() + changed[last:]
    return changed.decode()


def _predicts(call: ast.Call, name: str) -> bool:
    function, given = call.func, call.args[:1]
    is_predict = isinstance(function, ast.Attribute) and function.attr == "predict"
    return is_predict and all(isinstance(it, ast.Constant) and it.value == name for it in given) and bool(given)


def _changes(node: ast.expr, value: object, named: Mapping[str, ast.expr]) -> Iterator[tuple[ast.expr, str]]:
    """Yield the expressions to replace so that this one has the value, each with its new text."""
    while isinstance(node, ast.Name) and node.id in named:
        node = named[node.id]
    if isinstance(node, ast.Dict) and isinstance(value, Mapping) and len(node.values) == len(value):
        for inside, number in zip(node.values, value.values(), strict=True):
            yield from _changes(inside, number, named)
    else:
        yield node, _text(value)


def _text(value: object) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key!r}: {_text(it)}' for key, it in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(f'({_text(x)}, {_text(y)})' for x, y in value)}]"
    return repr(value).removesuffix(".0")
