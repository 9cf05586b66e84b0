"""Runs that were measured, altered as tests need them: other flows, other results, another network read back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from linklab.measure import Run


def changed(run: Run, kind: type, **values: Any) -> Run:
    """Return the run with its flows of a kind changed."""
    results = (replace(it, flow=replace(it.flow, **values)) if isinstance(it, kind) else it for it in run.results)
    return replace(run, results=tuple(results))


def given(run: Run, kind: type, **values: Any) -> Run:
    """Return the run with its results of a kind changed."""
    results = (replace(it, **values) if isinstance(it, kind) else it for it in run.results)
    return replace(run, results=tuple(results))


def without(run: Run, *kinds: type) -> Run:
    """Return the run without its results of these kinds."""
    return replace(run, results=tuple(it for it in run.results if not isinstance(it, kinds)))


def read_back(run: Run, *interfaces: str, **values: Any) -> Run:
    """Return the run with the shapes of some interfaces read back otherwise."""
    results = []
    for it in run.results:
        state = it.origin.network
        assert state is not None
        nodes = tuple(
            replace(
                node,
                interfaces=tuple(
                    replace(face, shape=replace(face.shape, **values)) if face.name in interfaces else face
                    for face in node.interfaces
                ),
            )
            for node in state.nodes
        )
        results.append(replace(it, origin=replace(it.origin, network=replace(state, nodes=nodes))))
    return replace(run, results=tuple(results))
