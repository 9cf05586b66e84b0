"""Carries a notebook's values into a lab: functions and classes of its own as source text, all else by pickle.

Compiled code does not run on another minor version of Python, and a lab's Python need not be the notebook's. So what
the lab's Python cannot find by name goes as the text of the statement that it was written in, with what the function
uses: variables of its module, of the functions around it, default values. The lab compiles the text and takes the
function's code out of it, without running the statement: a function is what it is in the notebook, whatever decorators
did to it, and its tracebacks show the user's file, lines and text.

Reading needs no more than pickle. Writing imports the compiler's tools within functions: a guest only reads, and would
pay for them.
"""

from __future__ import annotations

import bisect
import builtins
import contextlib
import enum
import functools
import io
import linecache
import marshal
import os
import pickle
import sys
import types
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, MutableSet
from typing import Any, NamedTuple

from linklab.errors import LabError

_ANNOTATIONS_AS_TEXT = 0x1000000  # the compiler's flag for ``from __future__ import annotations``
_TOP_LEVEL_AWAIT = 0x2000  # notebooks allow it
_INLINED = ("<listcomp>.", "<setcomp>.", "<dictcomp>.")
"""Comprehensions are functions of their own before Python 3.12, which the names of functions in them show."""
_MADE_BY_PYTHON = frozenset(
    {
        *("__dict__", "__weakref__", "__module__", "__qualname__", "__slots__", "__orig_bases__", "__annotations__"),
        *("__annotations_cache__", "__annotate__", "__annotate_func__", "__firstlineno__", "__static_attributes__"),
        *("_abc_impl", "__abstractmethods__", "__dataclass_fields__", "__dataclass_params__"),
    }
)
_CachedFunction = type(functools.lru_cache(len))
_Key = tuple[str, int, int]
"""A code object in a text: its qualified name, its first line, and which one of several such, in reading order."""


def found_inside(module_name: str) -> bool:
    """Return True if the lab's Python finds this module by its name: Linklab's own, the standard library's, Mininet's,
    an installed one.
    """
    if module_name == "__main__":  # its file may be an installed program's, what it defines is the user's
        return False
    if module_name.partition(".")[0] in (*sys.stdlib_module_names, "mininet"):
        return True
    module = sys.modules.get(module_name)
    files = [getattr(module, "__file__", None) or "", *getattr(module, "__path__", ())]
    return any(file.startswith(_installed_places()) for file in files)


@functools.cache
def _installed_places() -> tuple[str, ...]:
    import site

    linklab = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return tuple(os.path.join(place, "") for place in (*site.getsitepackages(), "/usr/lib/python3", linklab))


def packed(value: Any, python: tuple[int, int] = sys.version_info[:2]) -> bytes:
    """Return a value as bytes from which `unpacked` makes it again in a lab whose Python has the version `python`.

    Raises `LabError` that names what cannot go into a lab, and the variable that holds it.
    """
    packer = _Packer(python)
    try:
        packer.dump(value)
    except Exception as failure:
        raise packer.refusal(failure) from None
    return packer.bytes()


def unpacked(data: bytes) -> Any:
    """Return the value that `packed` made bytes of. Raises `LabError` where the lab's Python lacks a module for it."""
    try:
        return pickle.loads(data)
    except ModuleNotFoundError as error:
        raise LabError(
            f"the lab's Python has no module {error.name!r}, which what came from the notebook uses: use in it only "
            "Python's own modules, and those that labs have"
        ) from None


# --- in the notebook


class _As:
    """Stands for something that is made anew inside, by a function and its arguments; the same one each time."""

    def __init__(self, make: Callable[..., Any], *arguments: Any) -> None:
        self._made = make, arguments

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self._made


class _Packer(pickle.Pickler):
    """A pickler that knows functions, classes and modules which have no name inside, and notes what it came by."""

    def __init__(self, python: tuple[int, int]) -> None:
        self._file = io.BytesIO()
        super().__init__(self._file, protocol=5)
        self._python = python
        self._spaces: dict[int, Any] = {}
        self._cells: dict[int, _As] = {}
        self._variables: list[tuple[str, Any]] = []
        self._last: Any = None

    def bytes(self) -> bytes:
        """Return what was written."""
        return self._file.getvalue()

    def reducer_override(self, thing: Any) -> Any:
        """Return how to make a thing inside, as ``object.__reduce__`` does; NotImplemented where pickle knows."""
        self._last = thing
        if isinstance(thing, types.FunctionType):
            return NotImplemented if _has_name_inside(thing) else self._function(thing)
        if isinstance(thing, type):
            return NotImplemented if _has_name_inside(thing) or not _made_by_class(thing) else self._class(thing)
        if isinstance(thing, types.ModuleType):
            return (_module if found_inside(thing.__name__) else _new_module), (thing.__name__,)
        if isinstance(thing, types.CodeType):
            return self._code(thing)
        if isinstance(thing, _CachedFunction):
            known = _has_name_inside(thing)
            return NotImplemented if known else (_cached, (thing.cache_parameters(), thing.__wrapped__))
        if isinstance(thing, staticmethod | classmethod):
            return type(thing), (thing.__func__,)
        if type(thing) is property:
            return property, (thing.fget, thing.fset, thing.fdel)
        if isinstance(thing, functools.cached_property):
            return _cached_property, (thing.func, thing.attrname)
        if type(thing) is types.MappingProxyType:
            return _read_only, (dict(thing),)
        if (type(thing).__module__, type(thing).__name__) == ("typing", "TypeVar"):
            return type(thing), (thing.__name__, *thing.__constraints__)
        return NotImplemented

    def _function(self, function: types.FunctionType) -> tuple[Any, ...]:
        """How a function is made: first without what may lead back to it, then filled."""
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        made = {name: self._cells.setdefault(id(cell), _As(_cell)) for name, cell in cells.items()}
        space_name = str(function.__globals__.get("__name__", "__main__"))
        around = {name: cell.cell_contents for name, cell in cells.items() if _filled(cell)}
        named, attributes = _names_used(function.__code__)
        used: dict[str, Any] = {}
        if found_inside(space_name) and function.__globals__ is vars(sys.modules[space_name]):
            space = self._spaces.setdefault(id(function.__globals__), _As(_space, space_name))
        else:
            space = self._spaces.setdefault(id(function.__globals__), {"__name__": space_name})
            used = {
                name: function.__globals__[name]
                for name in named
                if name in function.__globals__ and not name.startswith("@")
            }
        for name, value in (used | around).items():
            self._variables.append((f"{name} (used in {function.__qualname__})", value))
        modules = list(_own_modules((used | around).values(), attributes))
        self._variables += [
            (f"{module.__name__}.{name} (used in {function.__qualname__})", value)
            for module, values in modules
            for name, value in values.items()
        ]
        defaults = function.__defaults__, function.__kwdefaults__
        self._variables.append((f"a default value of {function.__qualname__}", defaults))
        names = function.__name__, function.__qualname__, function.__module__
        filling = [(made[name], value) for name, value in around.items()]
        state = used, filling, defaults, function.__dict__, modules
        return _made_function, (function.__code__, space, made, names), state, None, None, _fill_function

    def _code(self, code: types.CodeType) -> tuple[Any, ...]:
        """A code object as its place in the text that it was compiled from, which has to be this very code."""
        source = _source(code)
        if source is not None:
            return _compiled, source
        if self._python == sys.version_info[:2]:
            return marshal.loads, (marshal.dumps(code),)
        raise LabError(
            f"{code.co_qualname} cannot go into a lab: its source is not to be found, or was edited after it was run, "
            f"and the lab's Python {self._python[0]}.{self._python[1]} is another one than this: write it in a "
            "notebook's cell (without %%time) or in a file, and run it again"
        )

    def _class(self, kind: type) -> tuple[Any, ...]:
        """How a class is made: with its bases alone, then filled with its attributes as they are now."""
        at_once = ("__module__", "__slots__", "__orig_bases__")
        body = {"__qualname__": kind.__qualname__, **{name: vars(kind)[name] for name in at_once if name in vars(kind)}}
        attributes = {name: value for name, value in vars(kind).items() if _is_written(kind, name, value)}
        self._variables += [(f"{kind.__qualname__}.{name}", value) for name, value in attributes.items()]
        after: Any = None
        made: tuple[Any, ...]
        if isinstance(kind, enum.EnumMeta):
            members: Mapping[str, Any] = kind.__members__
            values = {name: member._value_ for name, member in members.items()}
            made = _made_class, (type(kind), kind.__name__, kind.__bases__, body | values)
            after = _fill_members, {name: _own_state(member) for name, member in members.items()}
        elif _is_named_tuple(kind):
            fields: Any = kind
            made = _made_named_tuple, (kind.__name__, fields._fields, fields._field_defaults, body)
        else:
            made = _made_class, (type(kind), kind.__name__, kind.__bases__, body)
            if "__dataclass_fields__" in vars(kind):
                after = _become_dataclass, _dataclass_parts(kind)
        make, arguments = made
        identity = _identities.setdefault(kind, os.urandom(16))
        return _same_class, (identity, make, arguments), (attributes, after), None, None, _fill_class

    def refusal(self, failure: Exception) -> LabError:
        """Say in one line what could not be written, and which variable holds it."""
        if isinstance(failure, RecursionError):
            return LabError("this cannot go into a lab: it is nested too deeply; hand over a flat list or dictionary")
        for where, value in reversed(self._variables):
            if isinstance(value, types.FunctionType | types.ModuleType | type):
                continue  # what they use stands in the list itself
            packer = _Packer(self._python)
            try:
                packer.dump(value)
            except Exception as error:
                return packer._refused(error, where)
        return self._refused(failure, "an argument")

    def _refused(self, failure: Exception, where: str) -> LabError:
        kind = type(self._last)
        if isinstance(failure, LabError):
            if isinstance(self._last, types.CodeType):
                return failure
            return LabError(f"{where} cannot go into a lab: {failure}")
        name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        if isinstance(self._last, io.IOBase):
            return LabError(f"{where} cannot go into a lab: an open file ({name}) stays here; open it in the function")
        why = "" if isinstance(failure, TypeError) and "cannot pickle" in str(failure) else f" ({failure})"
        return LabError(
            f"{where} cannot go into a lab: an object of {name} stays here{why}; make it in the function, or hand over "
            "the data that it is made of"
        )


_identities: MutableMapping[type, bytes] = weakref.WeakKeyDictionary()
"""By which a lab knows a class that it got before: what it kept of it is still an instance."""


def _has_name_inside(thing: Any) -> bool:
    """Return True if this very function or class is found inside by its module and name."""
    name = getattr(thing, "__module__", None)
    if not isinstance(name, str) or not found_inside(name):
        return False
    found: Any = sys.modules.get(name)
    for part in getattr(thing, "__qualname__", "<unnamed>").split("."):
        found = getattr(found, part, None)
    return found is thing


def _made_by_class(kind: type) -> bool:
    """Return True for a class that Python code made, False for one of C."""
    return bool(kind.__flags__ & 1 << 9) and kind.__module__ != "builtins"


def _filled(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


@functools.lru_cache(1024)
def _names_used(code: types.CodeType) -> tuple[list[str], list[str]]:
    """Return the variables of its module that a code uses, with what is defined in it, and all names of attributes."""
    import dis

    named: set[str] = set()
    attributes: set[str] = set()
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS", "STORE_GLOBAL", "DELETE_GLOBAL"):
            named.add(step.argval)
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "IMPORT_FROM"):
            attributes.add(step.argval)
    for within in code.co_consts:
        if isinstance(within, types.CodeType):
            inner = _names_used(within)
            named.update(inner[0])
            attributes.update(inner[1])
    return sorted(named), sorted(attributes)


def _own_modules(values: Iterable[Any], attributes: Iterable[str]) -> Iterator[tuple[types.ModuleType, dict[str, Any]]]:
    """Yield each module among the values that has no name inside, with those of its attributes that are used."""
    waiting, seen = list(values), set()
    while waiting:
        module = waiting.pop()
        if isinstance(module, types.ModuleType) and module not in seen and not found_inside(module.__name__):
            seen.add(module)
            used = {name: vars(module)[name] for name in attributes if name in vars(module)}
            waiting += used.values()
            yield module, used


class _Text(NamedTuple):
    """A file or a notebook's cell as it was read last."""

    lines: list[str]
    statements: list[tuple[int, int]]
    """From which to which line each outermost statement reaches."""


_texts: dict[str, _Text] = {}


def _source(code: types.CodeType) -> tuple[str, str, int, int, _Key] | None:
    """Return the text of the outermost statement around a code, its file, its first line, the compiler's flags, and
    which of the text's codes it is; None where there is no text, or where the text gives other code.
    """
    name, line = code.co_filename, code.co_firstlineno
    linecache.checkcache(name)
    lines = linecache.getlines(name)
    if name not in _texts or _texts[name].lines is not lines:
        _texts[name] = _Text(lines, _statements(lines))
    statements = _texts[name].statements
    index = bisect.bisect_right(statements, (line, sys.maxsize)) - 1
    if index < 0 or line > statements[index][1]:
        return None
    start, end = statements[index]
    text, flags = "".join(lines[start - 1 : end]), code.co_flags & _ANNOTATIONS_AS_TEXT
    # A notebook compiles each statement alone, a module's file is compiled as a whole, and whether a name is seen to be
    # an imported module's changes the code that uses it.
    for first, compiled_text in (start, text), (1, "".join(lines)):
        with contextlib.suppress(SyntaxError):
            for key, compiled in _codes(compiled_text, name, first, flags).items():
                if key[1] == line and (
                    (compiled == code and compiled.co_linetable == code.co_linetable)
                    or (
                        _rewritten(code)
                        and (compiled.co_name, compiled.co_freevars) == (code.co_name, code.co_freevars)
                    )
                ):
                    return text, name, start, flags, key
    return None


def _rewritten(code: types.CodeType) -> bool:
    """Return True for code with names that no text can have: pytest puts such in, to tell more of an assertion."""
    return any(name.startswith("@") for name in (*code.co_varnames, *code.co_names))


def _statements(lines: list[str]) -> list[tuple[int, int]]:
    """Return the first and last line of each outermost statement; those that share a line are taken for one."""
    import ast

    try:
        body = ast.parse("".join(lines)).body
    except (SyntaxError, ValueError):
        return []
    found: list[tuple[int, int]] = []
    for statement in body:
        decorators = [each.lineno for each in getattr(statement, "decorator_list", ())]
        start, end = min([statement.lineno, *decorators]), statement.end_lineno or statement.lineno
        if found and start <= found[-1][1]:
            start, end = found[-1][0], max(end, found.pop()[1])
        found.append((start, end))
    return found


def _is_written(kind: type, name: str, value: Any) -> bool:
    """Return True for an attribute of a class that somebody wrote, False for one that making the class gives it."""
    if name in _MADE_BY_PYTHON or isinstance(value, types.MemberDescriptorType | types.GetSetDescriptorType):
        return False
    if isinstance(kind, enum.EnumMeta):
        function = getattr(value, "__func__", getattr(value, "fget", value))
        own = isinstance(function, types.FunctionType) and not _has_name_inside(function)
        return name == "__doc__" or (own and not name.startswith("__new") and name != "_generate_next_value_")
    if _is_named_tuple(kind):
        like = _generated(kind).get(name)
        return like is None or (isinstance(value, types.FunctionType) and value.__code__ != like.__code__)
    if "__dataclass_fields__" in vars(kind):
        function = value
        while hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        generated = isinstance(function, types.FunctionType) and function.__code__.co_filename == "<string>"
        replaced = name == "__replace__" and getattr(value, "__module__", "") == "dataclasses"
        return not (generated or replaced or name == "__match_args__")
    return True


def _own_state(member: enum.Enum) -> dict[str, Any]:
    """Return what an enumeration's own ``__init__`` set on a member."""
    python_s = ("_value_", "_name_", "__objclass__", "_sort_order_")
    return {name: value for name, value in vars(member).items() if name not in python_s}


def _is_named_tuple(kind: type) -> bool:
    return kind.__bases__ == (tuple,) and "_fields" in vars(kind) and "_field_defaults" in vars(kind)


def _generated(kind: Any) -> Mapping[str, Any]:
    """Return what Python itself gives a named tuple of these fields."""
    return vars(_made_named_tuple(kind.__name__, kind._fields, kind._field_defaults, {}))


def _dataclass_parts(kind: Any) -> tuple[dict[str, Any], list[tuple[str, bool, dict[str, Any]]]]:
    """Return the options of a dataclass, and its own fields: name, whether for ``__init__`` alone, options."""
    import dataclasses

    own = vars(kind).get("__annotations__", {})
    wanted = ("default", "default_factory", "init", "repr", "hash", "compare", "metadata", "kw_only")
    fields = []
    for field in kind.__dataclass_fields__.values():
        if field.name in own and field._field_type is not dataclasses._FIELD_CLASSVAR:  # type: ignore[attr-defined]
            options = {name: getattr(field, name) for name in wanted}
            given = {name: value for name, value in options.items() if value is not dataclasses.MISSING}
            for_init = field._field_type is dataclasses._FIELD_INITVAR  # type: ignore[attr-defined]
            fields.append((field.name, for_init, given))
    params = kind.__dataclass_params__
    return {name: getattr(params, name) for name in ("init", "repr", "eq", "order", "unsafe_hash", "frozen")}, fields


# --- in the lab


def _module(name: str) -> types.ModuleType:
    __import__(name)
    return sys.modules[name]


def _new_module(name: str) -> types.ModuleType:
    return types.ModuleType(name)


def _space(name: str) -> dict[str, Any]:
    return vars(_module(name))


def _cell() -> types.CellType:
    return types.CellType()


def _read_only(values: dict[Any, Any]) -> Mapping[Any, Any]:
    return types.MappingProxyType(values)


@functools.lru_cache(64)
def _codes(text: str, file_name: str, line: int, flags: int) -> Mapping[_Key, types.CodeType]:
    """Return all codes in a text that begins at this line of its file."""
    whole = compile("\n" * (line - 1) + text, file_name, "exec", flags | _TOP_LEVEL_AWAIT, dont_inherit=True)
    found: dict[_Key, types.CodeType] = {}
    counts: dict[tuple[str, int], int] = {}
    for code in _within(whole):
        name = code.co_qualname
        for inlined in _INLINED:
            name = name.replace(f"{inlined}<locals>.", "").replace(inlined, "")
        head = name, code.co_firstlineno
        counts[head] = counts.get(head, -1) + 1
        found[*head, counts[head]] = code
    return found


def _within(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield the codes in a code in the order of their text."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _within(constant)


def _compiled(text: str, file_name: str, line: int, flags: int, key: _Key) -> types.CodeType:
    """Return one code of a text, and let tracebacks find the text."""
    known = linecache.cache.get(file_name)
    shown = known[2] if known is not None and len(known) == 4 and known[1] is None else []
    lines = [each + "\n" for each in text.split("\n")]
    shown += ["\n"] * (line - 1 - len(shown))
    shown[line - 1 : line - 1 + len(lines)] = lines
    linecache.cache[file_name] = len(shown), None, shown, file_name
    return _codes(text, file_name, line, flags)[key]


def _made_function(
    code: types.CodeType, space: dict[str, Any], cells: Mapping[str, types.CellType], names: tuple[str, str, str]
) -> types.FunctionType:
    space.setdefault("__builtins__", builtins)
    function = types.FunctionType(code, space, names[0], None, tuple(cells[name] for name in code.co_freevars))
    _, function.__qualname__, function.__module__ = names
    return function


def _fill_function(function: types.FunctionType, state: tuple[Any, ...]) -> None:
    used, filling, (function.__defaults__, function.__kwdefaults__), attributes, modules = state
    function.__globals__.update(used)
    for cell, value in filling:
        cell.cell_contents = value
    vars(function).update(attributes)
    for module, values in modules:
        vars(module).update(values)


def _cached(options: dict[str, Any], function: Callable[..., Any]) -> Any:
    return functools.lru_cache(**options)(function)


def _cached_property(function: Callable[..., Any], name: str) -> Any:
    made: Any = functools.cached_property(function)
    made.attrname = name
    return made


_classes: dict[bytes, type] = {}


def _same_class(identity: bytes, make: Callable[..., type], arguments: tuple[Any, ...]) -> type:
    """Return the class that came before under this identity, or make it."""
    if identity not in _classes:
        _classes[identity] = make(*arguments)
    return _classes[identity]


def _made_class(kind: Callable[..., Any], name: str, bases: tuple[type, ...], body: Mapping[str, Any]) -> type:
    def fill(space: MutableMapping[str, Any]) -> None:
        space.update(body)

    return types.new_class(name, bases, {"metaclass": kind}, fill)


def _made_named_tuple(name: str, fields: tuple[str, ...], defaults: dict[str, Any], body: Mapping[str, Any]) -> type:
    import collections

    made: type = collections.namedtuple(name, fields, defaults=tuple(defaults.values()))  # type: ignore[misc]
    for key, value in body.items():
        if key != "__slots__":
            setattr(made, key, value)
    return made


_finished: MutableSet[type] = weakref.WeakSet()


def _fill_class(kind: type, state: tuple[dict[str, Any], tuple[Callable[..., None], Any] | None]) -> None:
    attributes, after = state
    for name, value in attributes.items():
        type.__setattr__(kind, name, value)
    if after is not None and kind not in _finished:
        _finished.add(kind)
        after[0](kind, after[1])
    if hasattr(kind, "__abstractmethods__"):
        import abc

        abc.update_abstractmethods(kind)


def _fill_members(kind: Any, states: Mapping[str, dict[str, Any]]) -> None:
    for name, state in states.items():
        vars(kind.__members__[name]).update(state)


def _become_dataclass(kind: Any, parts: tuple[dict[str, Any], list[tuple[str, bool, dict[str, Any]]]]) -> None:
    """Let dataclasses write the methods that it wrote in the notebook."""
    import dataclasses

    options, fields = parts
    slots = {name: value for name, value in vars(kind).items() if isinstance(value, types.MemberDescriptorType)}
    kind.__annotations__ = {}
    for name, for_init, given in fields:
        kind.__annotations__[name] = dataclasses.InitVar[object] if for_init else object
        type.__setattr__(kind, name, dataclasses.field(**given))
    dataclasses.dataclass(**options)(kind)
    for name, value in slots.items():
        type.__setattr__(kind, name, value)
