"""What a notebook's cells define runs in another Python as it does here; what cannot is refused in one clear line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

from linklab.errors import LabError
from linklab.guest import function_transfer
from linklab.guest.function_transfer import packed, unpacked
from linklab.runtime.client import LabProcess

WRITE = """
import ast, base64, json, linecache, sys, traceback, __future__
from linklab.guest.function_transfer import packed

written = {}
for name, cells in json.load(sys.stdin).items():
    notebook = {"__name__": "__main__"}
    for number, cell in enumerate(cells):
        file = f"/cells/{name}/{number}.py"
        linecache.cache[file] = len(cell), None, cell.splitlines(keepends=True), file
        flags = __future__.annotations.compiler_flag if "__future__" in cell else 0
        for statement in ast.parse(cell).body:  # one by one, as notebooks do
            exec(compile(ast.Module([statement], []), file, "exec", flags, True), notebook)
    try:
        data = packed((notebook["ask"], notebook.get("arguments", ())))
    except Exception:
        data = packed((str, [traceback.format_exc()]))
    written[name] = base64.b64encode(data).decode()
print(json.dumps(written))
"""
READ = """
import base64, json, sys, traceback
from linklab.guest.function_transfer import unpacked

answers = {}
for name, data in json.load(sys.stdin).items():
    try:
        function, arguments = unpacked(base64.b64decode(data))
        answers[name] = function(*arguments)
    except BaseException:
        answers[name] = traceback.format_exc()
print(json.dumps(answers))
"""
HELPERS = """\
import math

SCALE = 3
LOG = open(__file__)  # nothing that goes along uses it


class Speed:
    def __init__(self, mbps):
        self.mbps = mbps

    def scaled(self):
        return scaled(self.mbps)


def scaled(number):
    return _whole(number) * SCALE


def _whole(number):
    return math.floor(number)
"""
CASES: dict[str, tuple[Any, str]] = {
    "a variable that is set": (
        [1, 2],
        """
        total = 0
        def add():
            global total
            total += 1
            return total
        def ask(): return [add(), total + 1]
        """,
    ),
    "names that are no variables": (
        [1, 3],
        """
        lab = real = open("helpers.py")
        class A: lab = 1
        def ask(a=1): return [A.lab, (3).real]
        """,
    ),
    "functions that call each other": (
        [True, False],
        """
        def even(n): return n == 0 or odd(n - 1)
        def odd(n): return n != 0 and even(n - 1)
        def ask(): return [even(10), even(7)]
        """,
    ),
    "comprehensions, and a function in a function": (
        [[3, 6], [4]],
        """
        factor = 3
        def plus(n): return n + factor
        def ask():
            def inner(): return [plus(n) for n in (1, 2) if n < factor - 1]
            return [[n * factor for n in (1, 2)], inner()]
        """,
    ),
    "a function that another one made": (
        4,
        """
        def made():
            def other(): return 3
            def ask(): return 4
            return ask
        ask = made()
        """,
    ),
    "annotations as text": (1, "from __future__ import annotations\ndef ask(a: nothing = 1): return a"),
    "a file's function": (9, "from helpers import scaled\nask, arguments = scaled, (3.5,)"),
    "a file's class": (6, "import helpers\nask = helpers.Speed(2.5).scaled"),
    "a class, its base, super": (
        ["Dog Rex", 4, "static", "Dog", True, 2],
        """
        legs = 4
        class Animal:
            legs: int = legs
            def __init__(self, name): self.name = name
            def __repr__(self): return f"{type(self).__name__} {self.name}"
            @staticmethod
            def fixed(): return "static"
        class Dog(Animal):
            def __init__(self): super().__init__("Rex"); self.__hidden = 2
            @classmethod
            def of(cls): return cls.__name__
            @property
            def hidden(self): return self.__hidden
        def ask():
            dog = Dog()
            return [repr(dog), dog.legs, dog.fixed(), dog.of(), isinstance(dog, Animal), dog.hidden]
        """,
    ),
    "classes without methods": (
        ["wrong", 3],
        """
        class Wrong(Exception):
            number = 3
        class Worse(Wrong): pass
        def ask():
            try: raise Worse("wrong")
            except Wrong as error: return [str(error), error.number]
        """,
    ),
    "an enumeration and a named tuple": (
        ["nice RED", True, 3],
        """
        from enum import Enum
        from typing import NamedTuple
        class Colour(Enum):
            RED = 1
            def praise(self): return f"nice {self.name}"
        class Point(NamedTuple):
            x: int
            y: int = 2
            def sum(self): return self.x + self.y
        first = Colour.RED
        def ask(): return [first.praise(), first is Colour(1), Point(1).sum()]
        """,
    ),
}

LABS_PYTHON = 3, 13


def _python() -> str:
    """Return a Python of the labs' version: this one, one on the path, or one that pyenv has."""
    name = "python{}.{}".format(*LABS_PYTHON)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for candidate in (sys.executable, shutil.which(name), *pyenv.glob(f"{name[6:]}.*/bin/{name}")):
        asked = [candidate or "false", "-c", "import sys; print(sys.version_info[:2])"]
        if subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip() == str(LABS_PYTHON):
            return str(candidate)
    pytest.skip(f"needs {name}, on the path or from pyenv")


def _run(python: str, program: str, given: Any, folder: Path) -> Any:
    library = Path(function_transfer.__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": f"{library}{os.pathsep}{folder}"}
    command, text = [python, "-c", program], json.dumps(given)
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, cwd=folder, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What all cases answer where this Python writes and the labs' reads, in a folder without the helpers."""
    notebooks, elsewhere = (tmp_path_factory.mktemp(name) for name in ("notebooks", "elsewhere"))
    (notebooks / "helpers.py").write_text(HELPERS)
    cells = {name: [dedent(cell)] for name, (_, cell) in CASES.items()}
    failing = {"traced": [TRACED], "lacks": ["import helpers\ndef ask(): return helpers.scaled(1)"]}
    written = _run(sys.executable, WRITE, cells | failing, notebooks)
    return _run(_python(), READ, written, elsewhere)


TRACED = "# comment\n\ndef ask():\n    return (\n        [1][7]\n    )\n"


@pytest.mark.parametrize("name", CASES)
def test_it_answers_in_the_labs_python_as_here(answers: Any, name: str) -> None:
    assert answers[name] == CASES[name][0]


def test_tracebacks_name_the_users_lines(answers: Any) -> None:
    assert 'File "/cells/traced/0.py", line 5, in ask' in answers["traced"]


def test_what_the_lab_lacks_is_named(answers: Any) -> None:
    assert (
        "LabError: the lab's Python does not find what came from the notebook (No module named 'helpers')"
        in (answers["lacks"])
    )


def test_what_is_installed_goes_by_name() -> None:
    for thing in (np.linspace, Path, json.dumps, packed, np.random.default_rng, LabError, np):
        assert unpacked(packed(thing)) is thing
    assert unpacked(packed(np.arange(3))).tolist() == [0, 1, 2]


def test_cells_of_a_notebook_go_as_they_were_run_last(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # the shell puts its own there
    shell = InteractiveShell.instance()
    request.addfinalizer(InteractiveShell.clear_instance)
    waits = "import asyncio\nawait asyncio.sleep(0)\ndef twice():\n    return 2 * rate()"
    for cell in ("def rate(): return 1", waits, "def rate(): return 4", "%time 1"):
        assert shell.run_cell(cell, store_history=True).success  # type: ignore[no-untyped-call]
    data = packed(shell.user_ns["twice"])
    assert b"return 4" in data
    assert b"return 1" not in data
    assert unpacked(data)() == 8


def _made_by_exec() -> Any:
    space: dict[str, Any] = {"__name__": "__main__"}
    exec("def without_text(): return 7", space)
    return space["without_text"]


def _closure() -> Callable[[], str]:
    rate = "rate"

    def measure() -> str:
        return rate

    return measure


class _Names(Enum):
    RED = 1


@pytest.mark.parametrize(
    ("thing", "says"),
    [
        (lambda: 1, r".*<lambda> cannot go into a lab: .* def"),
        (_closure(), r".*measure cannot go into a lab: it is a closure over rate; .* hand over"),
        (_Names, "_Names cannot go into a lab: Python wrote its methods .* hand over a dictionary"),
        (_made_by_exec(), "without_text cannot go into a lab: its text is not found; .* notebook's cell"),
        (LabProcess.__new__(LabProcess), "a running lab cannot go into a lab: .* net as its first argument"),
        ([{"a": threading.Lock()}], "an argument cannot go into a lab: .*lock.* make it in the function"),
    ],
)
def test_what_cannot_go_is_told_in_one_line(thing: Any, says: str) -> None:
    with pytest.raises(LabError, match=rf"^{says}") as refused:
        packed((print, [thing]))
    assert "\n" not in str(refused.value)
