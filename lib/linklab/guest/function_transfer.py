"""Send values, functions and classes from a notebook into a lab.

The lab's Python finds by name what Linklab, the standard library and installed packages define: that travels as a
reference. A function or class of the notebook, or of a file beside it, travels as the text of its cell or file with the
global variables that it names. The lab compiles the text, so tracebacks show the user's file and lines. Everything
else travels by pickle.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import io
import linecache
import os
import pickle
import sys
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

from linklab.errors import LabError
from linklab.guest import is_sent

_ANNOTATIONS_AS_TEXT = 0x1000000  # the compiler's flag for ``from __future__ import annotations``
_TOP_LEVEL_AWAIT = 0x2000  # notebooks allow it
_LOCAL_VARIABLES = 1  # the flag of a function's code; the code of a module or of a class statement has none
_GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS", "STORE_GLOBAL", "DELETE_GLOBAL")


def packed(value: Any) -> bytes:
    """Return a value as bytes, from which `unpacked` makes it again inside a lab.

    Raises `LabError` that names what cannot go into a lab, why, and what to do.
    """
    packer = _Packer()
    try:
        packer.dump(value)
    except LabError:
        raise
    except Exception as failure:
        where = next((name for name, used in reversed(packer.variables) if _fails(used)), "an argument")
        raise _refusal(where, f"{failure}; make it in the function, or hand over what it is made of") from None
    return packer.file.getvalue()


def unpacked(data: bytes) -> Any:
    """Return the value that `packed` made bytes of. Raises `LabError` where the lab's Python lacks a module for it."""
    try:
        return pickle.loads(data)
    except ModuleNotFoundError as error:
        raise LabError(
            f"the lab's Python has no module {error.name!r}, which what came from the notebook uses: use in it only "
            "Python's own modules, and those that labs have"
        ) from None


# In the notebook


class _Packer(pickle.Pickler):
    """A pickler that sends functions and classes as text where the lab does not find them by name."""

    def __init__(self) -> None:
        self.file = io.BytesIO()
        super().__init__(self.file, protocol=5)
        self.variables: list[tuple[str, Any]] = []
        """What the functions and classes use so far, with words for people."""
        self._space = functools.cache(lambda module: {"__name__": module})  # all functions of a module share one

    def reducer_override(self, thing: Any) -> Any:
        """Return how to make a thing inside, as ``object.__reduce__`` does; NotImplemented leaves it to pickle."""
        if isinstance(thing, types.ModuleType):
            if _found_inside(thing.__name__):
                return importlib.import_module, (thing.__name__,)
            raise _refusal(thing.__name__, f"it is a file of your own; write from {thing.__name__} import ... instead")
        module = getattr(thing, "__module__", None)
        if not hasattr(thing, "__qualname__") or not isinstance(module, str) or _found_inside(module):
            return NotImplemented
        if isinstance(thing, types.FunctionType):
            return self._function(thing)
        if isinstance(thing, type):
            return self._class(thing)
        if isinstance(thing, types.MethodType):
            return NotImplemented
        raise _refusal(thing.__qualname__, "a decorator made it; write it without one")

    def _function(self, function: types.FunctionType) -> tuple[Any, ...]:
        """Make the function, and then add the global variables that it reads, which may lead back to it."""
        code, name = function.__code__, function.__qualname__
        if code.co_name == "<lambda>":
            raise _refusal(f"the lambda of line {code.co_firstlineno}", "write it as a function, with def")
        _refuse_closure(code)
        source, place = _source(code), (code.co_qualname, code.co_firstlineno)
        used = self._used(set().union(*_globals_of(_codes(*source)[place])), function.__globals__, name)
        space, defaults = self._space(function.__module__), (function.__defaults__, function.__kwdefaults__)
        self.variables.append((f"a default value of {name}", defaults))
        return _make_function, (*source, *place, space, *defaults), (space, used), None, None, _add_globals

    def _class(self, kind: type) -> tuple[Any, ...]:
        """Run the class's body with the global variables that it reads, and then add those that its methods read."""
        name = kind.__qualname__
        methods = [value for value in vars(kind).values() if _is_method_in_text(value, kind)]
        sources = [_source(method.__code__) for method in methods]
        if not methods:
            return _as_values(kind)
        first, source, space = methods[0].__code__, sources[0], self._space(kind.__module__)
        line = max(line for owner, line in _codes(*source) if owner == name and line < first.co_firstlineno)
        body = _codes(*source)[name, line]
        if source[0].split("\n")[line - 1].lstrip().startswith("@"):
            raise _refusal(name, "it is a decorated class; write it without a decorator, or hand over a dictionary")
        _refuse_closure(body)
        at_once, later = _globals_of(body)
        needed, used = (self._used(names, methods[0].__globals__, name) for names in (at_once - {name}, later))
        bases = (NamedTuple,) if "_field_defaults" in vars(kind) else kind.__bases__
        made = _make_class, ((*source, name, line, space), needed, type(kind), bases)
        return *made, (space, used), None, None, _add_globals

    def _used(self, names: set[str], space: dict[str, Any], user: str) -> dict[str, Any]:
        """Return those of the names that are global variables, with their values."""
        used = {name: space[name] for name in sorted(names) if name in space}
        self.variables += [(f"{name} (used in {user})", value) for name, value in used.items()]
        return used


def _refusal(what: str, why: str) -> LabError:
    return LabError(f"{what} cannot go into a lab: {why}")


def _refuse_closure(code: types.CodeType) -> None:
    if code.co_freevars:
        names = ", ".join(code.co_freevars)
        raise _refusal(code.co_qualname, f"it is a closure over {names}; write it outside, and hand over what it uses")


@functools.cache
def _found_inside(module: str) -> bool:
    """Return True where the lab's Python finds a module of this name: Python's own, an installed one, Linklab's.

    The labs that an instructor has added lie elsewhere.
    """
    import site

    package, _, room = module.partition(".")
    if package in (*sys.stdlib_module_names, "mininet"):
        return True
    if package == "linklab":
        return is_sent(room)
    places = (*site.getsitepackages(), site.getusersitepackages())
    return (getattr(sys.modules.get(module), "__file__", None) or "").startswith(places)


def _fails(value: Any) -> bool:
    try:
        _Packer().dump(value)
    except Exception:
        return True
    return False


def _as_values(kind: type) -> tuple[Any, ...]:
    """Return how to make a class without methods, which needs no text."""
    values = {name: value for name, value in vars(kind).items() if name not in ("__dict__", "__weakref__")}
    if type(kind) is not type or any(isinstance(value, types.FunctionType) for value in values.values()):
        raise _refusal(kind.__qualname__, "Python wrote its methods (@dataclass, Enum, ...); hand over a dictionary")
    return type, (kind.__name__, kind.__bases__, values)


def _is_method_in_text(value: Any, kind: type) -> bool:
    """Return False for what somebody assigned later, and for what Python adds to named tuples and dataclasses."""
    return (
        isinstance(value, types.FunctionType) and value.__code__.co_qualname == f"{kind.__qualname__}.{value.__name__}"
    )


def _source(code: types.CodeType) -> tuple[str, str, int]:
    """Return the text of the cell or file that a code was compiled from, its name, and the compiler's flags.

    Raises `LabError` where the text is another one now.
    """
    linecache.checkcache(code.co_filename)
    text = sys.intern("".join(linecache.getlines(code.co_filename)))  # pickle writes one object once
    source = text, code.co_filename, code.co_flags & _ANNOTATIONS_AS_TEXT
    try:
        found = _codes(*source).get((code.co_qualname, code.co_firstlineno))
    except SyntaxError:
        found = None
    # no cell changes; a notebook compiles its statements one by one, and pytest writes its own words into a function
    may_differ = not os.path.exists(code.co_filename) or any(name.startswith("@") for name in code.co_varnames)
    if found is None or (found != code and not may_differ):
        raise _refusal(
            code.co_qualname,
            "its text is not to be found, or was edited after it was run; write it in a notebook's cell (without "
            "%%time) or in a file, and run it again",
        )
    return source


def _globals_of(code: types.CodeType) -> tuple[set[str], set[str]]:
    """Return the global variables that a code reads when it runs, and those that functions in it read later."""
    import dis

    at_once, later = set[str](), set[str]()
    for each in (code, *_within(code)):
        names = later if each.co_flags & _LOCAL_VARIABLES else at_once
        names.update(step.argval for step in dis.get_instructions(each) if step.opname in _GLOBAL)
    return at_once, later


def _within(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _within(constant)


# In the lab


@functools.lru_cache
def _codes(text: str, file: str, flags: int) -> dict[tuple[str, int], types.CodeType]:
    """Return the codes of all functions and classes in a text, by their names and lines."""
    whole = compile(text, file, "exec", flags | _TOP_LEVEL_AWAIT, dont_inherit=True)
    return {(code.co_qualname, code.co_firstlineno): code for code in _within(whole)}


def _make_function(
    text: str,
    file: str,
    flags: int,
    name: str,
    line: int,
    space: dict[str, Any],
    defaults: Any = None,
    keyword_defaults: Any = None,
) -> types.FunctionType:
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file  # for tracebacks
    function = types.FunctionType(_codes(text, file, flags)[name, line], space, None, defaults)
    function.__kwdefaults__ = keyword_defaults
    return function


def _make_class(about: tuple[Any, ...], needed: dict[str, Any], metaclass: type, bases: tuple[Any, ...]) -> Any:
    body = _make_function(*about)
    body.__globals__.update(needed)
    return builtins.__build_class__(body, body.__name__, *bases, metaclass=metaclass)


def _add_globals(_: object, state: tuple[dict[str, Any], dict[str, Any]]) -> None:
    space, used = state
    space.update(used)
