"""The last state of widgets, as outputs without them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

STATE_MIME: Final = "application/vnd.jupyter.widget-state+json"
_DEPTH: Final = 12
_CHILD: Final = "IPY_MODEL_"
_IMAGE_TYPES: Final = {"png", "jpeg", "gif", "webp"}


def states_of(book: Any) -> dict[str, Any]:
    """The widgets' states that a notebook was saved with, by their ids; empty where it was saved without."""
    saved = book.metadata.get("widgets")
    own = saved.get(STATE_MIME) if isinstance(saved, Mapping) else None
    states = own.get("state") if isinstance(own, Mapping) else None
    return dict(states) if isinstance(states, Mapping) else {}


def last_state(view: object, states: Mapping[str, Any], where: str) -> list[dict[str, Any]]:
    """What a widget and those in it showed last, as the data of outputs; empty where nothing of it was saved."""
    name = view.get("model_id") if isinstance(view, Mapping) else None
    return list(_parts(name, states, _DEPTH)) if isinstance(name, str) else []


def _parts(name: str, states: Mapping[str, Any], depth: int) -> list[dict[str, Any]]:
    saved = states.get(name)
    state = saved.get("state") if isinstance(saved, Mapping) else None
    # A widget may hold itself: nothing in a notebook is to be trusted.
    if not isinstance(saved, Mapping) or not isinstance(state, Mapping) or depth == 0:
        return []
    kind = str(saved.get("model_name", ""))
    found: list[dict[str, Any]] = []
    if kind == "OutputModel":
        for output in _list(state.get("outputs")):
            found += _output(output)
    elif kind == "ImageModel":
        found += _image(saved, state)
    elif kind in ("HTMLModel", "HTMLMathModel"):
        found.append({"text/html": _text(state.get("value"))})
    else:
        found += [{"text/plain": line} for line in [_line(kind, state)] if line]
    for child in _list(state.get("children")):
        if isinstance(child, str):
            found += _parts(child.removeprefix(_CHILD), states, depth - 1)
    return found


def _line(kind: str, state: Mapping[str, Any]) -> str:
    """Label and value of a simple widget; nothing for boxes, layouts and buttons."""
    value = state.get("value")
    if kind == "ButtonModel" or value is None or isinstance(value, Mapping):
        return ""
    label = _text(state.get("description"))
    said = f"{value} of {state['max']}" if "Progress" in kind and "max" in state else f"{value}"
    return f"{label}: {said}" if label else said


def _output(output: object) -> list[dict[str, Any]]:
    if not isinstance(output, Mapping):
        return []
    if output.get("output_type") == "stream":
        return [{"text/plain": _text(output.get("text"))}]
    if output.get("output_type") == "error":
        return [{"text/plain": f"{output.get('ename')}: {output.get('evalue')}"}]
    data = output.get("data")
    return [dict(data)] if isinstance(data, Mapping) else []


def _image(saved: Mapping[str, Any], state: Mapping[str, Any]) -> list[dict[str, Any]]:
    # A widget's binary values are saved beside its state.
    kind = state.get("format", "png")
    for buffer in _list(saved.get("buffers")):
        if isinstance(buffer, Mapping) and buffer.get("encoding") == "base64" and kind in _IMAGE_TYPES:
            return [{f"image/{kind}": buffer.get("data")}]
    return []


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str:
    joined = "".join(map(str, value)) if isinstance(value, list) else value
    return joined if isinstance(joined, str) else ""
