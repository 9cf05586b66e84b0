"""Send values, functions and classes from a notebook into a lab, by pickle.

What the lab's Python can import goes by name: Linklab's own, Python's, and what is installed. A function or class of
the notebook, or of a file beside it, as a host class that a student's Topo names, goes as the text of its definition,
with the global variables that it reads.
"""

from __future__ import annotations
import __future__

import functools
import importlib
import io
import linecache
import pickle
import sys
import textwrap
import types
from typing import Any

from linklab.errors import LabError
from linklab.guest import is_sent


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
        raise _refusal("an argument", f"{failure}; make it in the function, or hand over what it is made of") from None
    return packer.file.getvalue()


def unpacked(data: bytes) -> Any:
    """Return the value that `packed` made bytes of. Raises `LabError` for what the lab's Python does not find."""
    try:
        return pickle.loads(data)
    except (ImportError, AttributeError) as error:
        raise LabError(
            f"the lab's Python does not find what came from the notebook ({error}): use in it only Python's own "
            "modules, those that labs have, and your own functions and classes"
        ) from None


# In the notebook


class _Packer(pickle.Pickler):
    """A pickler that writes functions and classes as text where the lab cannot import them."""

    def __init__(self) -> None:
        self.file = io.BytesIO()
        super().__init__(self.file, protocol=5)
        self._space = functools.cache(lambda module: {"__name__": module})  # all functions of a module share one

    def reducer_override(self, thing: Any) -> Any:
        """Return how to make a thing inside, as ``object.__reduce__`` does; NotImplemented leaves it to pickle."""
        if isinstance(thing, types.ModuleType):
            return importlib.import_module, (thing.__name__,)
        if not isinstance(thing, types.FunctionType | type) or _found_inside(thing.__module__):
            return NotImplemented
        function = _method_of(thing) if isinstance(thing, type) else thing
        if isinstance(thing, type) and function is None:  # nothing says where its text stands
            return _as_values(thing)
        assert function is not None
        text, file, line = _definition(thing, function.__code__)
        at_once, later = (
            {name: function.__globals__[name] for name in sorted(names) if name in function.__globals__}
            for names in _names_in(_compiled(text, file, line))
        )
        space = self._space(thing.__module__)
        return _define, (text, file, line, thing.__name__, space, at_once), (space, later), None, None, _add_globals


def _refusal(what: str, why: str) -> LabError:
    return LabError(f"{what} cannot go into a lab: {why}")


@functools.cache
def _found_inside(module: str) -> bool:
    """Return True if the lab's Python can import this module: Python's own, an installed one, or one of Linklab's."""
    import site

    package, _, room = module.partition(".")
    if package in (*sys.stdlib_module_names, "mininet"):
        return True
    if package == "linklab":
        return is_sent(room)
    places = (*site.getsitepackages(), site.getusersitepackages())
    return (getattr(sys.modules.get(module), "__file__", None) or "").startswith(places)


def _method_of(kind: type) -> types.FunctionType | None:
    """Return a method that stands in the text of a class; None if it has none."""
    name = f"{kind.__qualname__}."
    return next(
        (
            value
            for value in vars(kind).values()
            if isinstance(value, types.FunctionType) and value.__code__.co_qualname.startswith(name)
        ),
        None,
    )


def _as_values(kind: type) -> tuple[Any, ...]:
    """Return how to make a class without methods, which needs no text."""
    values = {name: value for name, value in vars(kind).items() if name not in ("__dict__", "__weakref__")}
    if type(kind) is not type or any(isinstance(value, types.FunctionType) for value in values.values()):
        raise _refusal(kind.__qualname__, "Python wrote its methods (@dataclass, Enum, ...); hand over a dictionary")
    return type, (kind.__name__, kind.__bases__, values)


def _definition(thing: types.FunctionType | type, code: types.CodeType) -> tuple[str, str, int]:
    """Return the text of a function or class, its cell or file, and its first line there.

    `code` is the function's, or that of a method. Raises `LabError` for a lambda or a closure, and if there is no text.
    """
    import ast

    name, file = thing.__qualname__, code.co_filename
    if code.co_freevars and code.co_freevars != ("__class__",):
        names = ", ".join(code.co_freevars)
        raise _refusal(name, f"it is a closure over {names}; write it outside, and hand over what it uses")
    linecache.checkcache(file)
    lines = linecache.getlines(file)
    try:
        nodes = list(ast.walk(ast.parse("".join(lines))))
    except SyntaxError:
        nodes = []
    for node in reversed(nodes):  # the innermost first
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == thing.__name__:
            line, end = min(it.lineno for it in (node, *node.decorator_list)), node.end_lineno
            if line <= code.co_firstlineno <= (end or line):
                return textwrap.dedent("".join(lines[line - 1 : end])), file, line
    raise _refusal(
        name, "its text is not found; write it with def or class in a notebook's cell (without %%time) or in a file"
    )


def _names_in(code: types.CodeType) -> tuple[set[str], set[str]]:
    """Return the global variables that a definition reads when it is run, and those that its functions read later."""
    import dis

    at_once, later, codes = set[str](), set[str](), [code]
    for each in codes:
        names = later if each.co_flags & _LOCAL_VARIABLES else at_once
        names.update(step.argval for step in dis.get_instructions(each) if step.opname in _READS)
        codes += [constant for constant in each.co_consts if isinstance(constant, types.CodeType)]
    return at_once, later


_LOCAL_VARIABLES = 1
"""The flag of a function's code; the code of a class statement has none."""
_READS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")


# In the lab


def _compiled(text: str, file: str, line: int) -> types.CodeType:
    """Compile a definition such that tracebacks show its lines in the user's file."""
    code: types.CodeType = compile(
        "\n" * (line - 1) + text, file, "exec", __future__.annotations.compiler_flag, dont_inherit=True
    )
    return code


def _define(text: str, file: str, line: int, name: str, space: dict[str, Any], needed: dict[str, Any]) -> Any:
    """Run a definition, and return the function or class that it makes."""
    space.update(needed)
    made: dict[str, Any] = {}
    exec(_compiled(text, file, line), space, made)
    return made[name]


def _add_globals(_: object, state: tuple[dict[str, Any], dict[str, Any]]) -> None:
    """Add the global variables that a function reads, which may lead back to it."""
    space, used = state
    space.update(used)
