"""Whether a measurement is the one that was asked for: wanted flows are compared with found ones, field by field.

A check says as data what it wants::

    wanted = [Wanted(TcpFlow, ("h1", "h3"), (exactly("congestion", "cubic"), at_least("duration_s", 40)))]
    run = require_run("the run", given, wanted, "store what measure.run_together returns")

Each ``require_...`` and ``refuse_...`` raises `Refuse` where the measurement is another one. The check in it has
failed: "TcpFlow h1-h3 has congestion='reno'", with the hint "write congestion='cubic'".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, TypeVar

from linklab.course import course_network
from linklab.grade.check import Refuse, a_kind, counted, listed
from linklab.grade.questions import is_missing
from linklab.measure import Run, ToolResult
from linklab.measure.flows import Flow, FlowOf
from linklab.measure.tool import ResultT
from linklab.network import End, Network, NetworkState, Shape

Kind = TypeVar("Kind")
Problem = tuple[str, str]
"""What is wrong, and what to do."""
Others = Mapping[type[Flow], str]
"""The kinds of flows of which a run must have no others than the wanted ones, and what to do about one."""

OWN_NETWORK: Final = "start the lab with linklab.start(linklab.course_network()), and measure again"
_LABS_NETWORK: Final = "start the lab with the network that its first cells make, and measure again"


# --- What is wanted


@dataclass(frozen=True)
class Field:
    """One field, whether a value of it is right, and the step to take where it is not.

    It may be a field of a flow, of the flow's result, or of an interface's shape. ``slips`` say what a wrong value is.
    """

    name: str
    is_right: Callable[[Any], bool]
    step: str
    slips: Mapping[Any, str] = field(default_factory=dict)


def exactly(name: str, value: object, step: str = "") -> Field:
    """Want this value. The step is to write it, unless another one is given."""
    return Field(name, lambda found: found == value, step or f"write {name}={value!r}")


def at_least(name: str, least: float, step: str = "") -> Field:
    """Want this value or a larger one."""
    return Field(name, lambda found: found >= least, step or f"write {name}={least:g}")


def at_most(name: str, most: float, step: str = "") -> Field:
    """Want this value or a smaller one."""
    return Field(name, lambda found: found <= most, step or f"write {name}={most:g}")


@dataclass(frozen=True)
class Wanted(Generic[ResultT]):
    """One flow that a measurement must have: its class, or several of which it is one, its ends, and its fields.

    With ``connections`` any number of flows between the ends will do: they must have so many connections in all, and
    each of them must have the fields. With ``either_way`` the ends may be exchanged. ``step`` says what to do where the
    flow is missing; empty stands for adding it to the list.
    """

    kind: type[FlowOf[ResultT]] | tuple[type[FlowOf[ResultT]], ...]
    ends: tuple[str, str]
    fields: tuple[Field, ...] = ()
    connections: int = 0
    either_way: bool = False
    step: str = ""

    @property
    def title(self) -> str:
        """Its class and its ends: ``"TcpFlow h1-h3"``."""
        kinds = self.kind if isinstance(self.kind, tuple) else (self.kind,)
        return f"{' or '.join(kind.__name__ for kind in kinds)} {'-'.join(self.ends)}"

    @property
    def call(self) -> str:
        """How to write it: ``TcpFlow("h1", "h3", ...)``."""
        kind = self.kind[0] if isinstance(self.kind, tuple) else self.kind
        source, destination = self.ends
        return f'{kind.__name__}("{source}", "{destination}", ...)'

    def fits(self, flow: Flow) -> bool:
        """Return whether a flow is of this kind and between these ends, whatever its other fields are."""
        ends = (flow.source, flow.destination)
        return isinstance(flow, self.kind) and (ends == self.ends or (self.either_way and ends == self.ends[::-1]))


# --- What is found


def titled(flow: Flow) -> str:
    """Return a flow's class and its ends: ``"TcpFlow h1-h3"``."""
    return f"{type(flow).__name__} {flow.name}"


def wrong_field(fields: Iterable[Field], *parts: object) -> Problem | None:
    """Return the first wrong field with its value, as ``"congestion='reno'"``; None where all are right.

    The value is that of the first part which has the field: a flow, say, and then its result.
    """
    for one in fields:
        value = next(getattr(part, one.name) for part in parts if hasattr(part, one.name))
        if not one.is_right(value):
            slip = one.slips.get(value, "") if one.slips else ""
            return f"{_shown(one.name, value)}{f': {slip}' if slip else ''}", one.step
    return None


def _shown(name: str, value: object) -> str:
    if isinstance(value, tuple):
        return f"{len(value) or 'no'} {name}"
    return f"{name}={value:.6g}" if isinstance(value, float) else f"{name}={value!r}"


def mismatch(
    results: Sequence[ToolResult], wanted: Iterable[Wanted[Any]], others: Others | None = None
) -> Problem | None:
    """Return the first difference of results from the wanted flows; None where there is none.

    Results of other flows are ignored, unless ``others`` has their kind.
    """
    left = list(results)
    for one in wanted:
        found: list[Any] = [it for it in left if one.fits(it.flow)]
        if not found:
            return _missing(one, [it.flow for it in left])
        problems = [wrong_field(one.fields, it.flow, it) for it in found]
        if not one.connections:  # one flow: the first that is right, or else the first
            chosen = problems.index(None) if None in problems else 0
            found, problems = found[chosen : chosen + 1], problems[chosen : chosen + 1]
        for it, problem in zip(found, problems, strict=True):
            if problem is not None:
                return f"{titled(it.flow)} has {problem[0]}", problem[1]
        if one.connections:
            streams = sum(it.flow.streams for it in found)
            if streams != one.connections:
                return f"{one.title} has {counted(streams, 'connection')}", f"write streams={one.connections}"
        left = [it for it in left if not any(it is each for each in found)]
    for it in left:
        for kind, step in (others or {}).items():
            if isinstance(it.flow, kind):
                return f"{titled(it.flow)} does not belong here", step
    return None


def _missing(wanted: Wanted[Any], left: Sequence[Flow]) -> Problem:
    turned = [flow for flow in left if replace(wanted, ends=wanted.ends[::-1]).fits(flow)]
    if turned:
        step = f"write {wanted.call}, the source first: each direction of a link has a queue of its own"
        return f"{titled(turned[0])} was measured in the opposite direction", step
    near = [titled(flow) for flow in left if isinstance(flow, wanted.kind)]
    instead = f", but {listed(near, ', ')}" if near else ""
    step = wanted.step or f"put {wanted.call} into the list: flows share only if they run at the same time"
    return f"there is no {wanted.title}{instead}", step


# --- Refusing what is another measurement


def require_type(what: str, value: object, kind: type[Kind] | tuple[type[Kind], ...], hint: str, expected: str) -> Kind:
    """Return ``value`` if it is of type ``kind``; else refuse it: nothing was measured yet, or it is something else."""
    if isinstance(value, kind):
        return value
    if is_missing(value):
        raise Refuse(what, "not measured yet", hint, expected, "None")
    raise Refuse(what, f"this is {a_kind(value)}", hint, expected, type(value).__name__)


def require_run(what: str, value: object, wanted: Sequence[Wanted[Any]], how: str, others: Others | None = None) -> Run:
    """Return ``value`` if it is a whole run of the wanted flows; ``how`` tells the student how to get one."""
    expected = ", ".join(one.title for one in wanted)
    run = require_type(what, value, Run, how, expected)
    refuse_stopped(what, run)
    problem = mismatch(run.results, wanted, others)
    if problem is not None:
        raise Refuse(what, *problem, expected, listed((titled(it.flow) for it in run.results), ", "))
    return run


def require_result(what: str, value: object, wanted: Wanted[ResultT], how: str) -> ResultT:
    """Return ``value`` if it is the whole result of the wanted flow; ``how`` tells the student how to get one."""
    result = require_type(what, value, ToolResult, how, wanted.title)
    if not isinstance(result.flow, wanted.kind):
        raise Refuse(what, f"this is {a_kind(result)}", how, wanted.title, titled(result.flow))
    refuse_stopped(what, result)
    problem = mismatch([result], [replace(wanted, step=wanted.step or f"measure {wanted.call}")])
    if problem is not None:
        raise Refuse(what, *problem, wanted.title, titled(result.flow))
    return result  # type: ignore[return-value]  # its flow is of the wanted kind


def require_fields(what: str, flow: Flow, *fields: Field) -> None:
    """Refuse a run for the fields of one flow in it that depend on another one, such as their times."""
    problem = wrong_field(fields, flow)
    if problem is not None:
        raise Refuse(what, f"{titled(flow)} has {problem[0]}", problem[1])


def require_shape(what: str, state: NetworkState | None, end: End, fields: Sequence[Field]) -> None:
    """Refuse a network in which an interface had another shape when it was read back: rate, delay, loss or queue."""
    face = None if state is None else state.interface(end.node, end.interface)
    problem = wrong_field(fields, face.shape if face is not None else Shape())
    if problem is not None:
        raise Refuse(what, f"before the run {end.interface} had {problem[0]}", problem[1])


def refuse_stopped(what: str, run: ToolResult | Run) -> None:
    """Refuse a run that was stopped before its end: the missing part may be the one that matters."""
    if run.interrupted:
        raise Refuse(what, "it was stopped before its end", "run the cell again and let it finish")


def refuse_another_network(
    what: str, state: NetworkState | None, network: Network | None = None, hint: str = ""
) -> None:
    """Refuse a ``state`` that was read back from another network than the student's own.

    The student's own is the course network, unless another ``network`` is given. ``hint`` says how to start that one,
    where it is not the one that the lab's first cells make. Only addresses are compared: exercises
    change rates, delays and queues, and theory uses the values read back. Missing interfaces are left to other checks.
    """
    if state is None:
        return
    for link in (network or course_network()).links:
        for end in link.ends:
            interface = state.interface(end.node, end.interface) if end.address is not None else None
            if interface is None or not interface.addresses or end.address in interface.addresses:
                continue
            found = ", ".join(interface.addresses)
            reason = f"{end.interface} had {found} there, and {end.address} in yours"
            hint = hint or (OWN_NETWORK if network is None else _LABS_NETWORK)
            wanted = f"{end.interface} with {end.address}"
            raise Refuse(what, f"this was measured on another network: {reason}", hint, wanted, found)
