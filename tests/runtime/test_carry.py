"""Functions and values go from one Python to another: what a notebook's cells define runs there as it does here."""

from __future__ import annotations

import json
import linecache
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

from linklab.errors import LabError
from linklab.runtime import carry
from linklab.runtime.client import LabProcess

LIBRARY = Path(carry.__file__).parents[2]
VERSIONS = [(3, 11), (3, 12), (3, 13)]
HERE = sys.version_info[:2]

WRITE = """
from __future__ import annotations
import ast, base64, json, linecache, sys, traceback
from linklab.runtime import carry

written = {}
asked = json.load(sys.stdin)
for name, cells in asked["cases"].items():
    notebook = {"__name__": "__main__", "__builtins__": __builtins__}
    for number, cell in enumerate(cells):
        file_name = f"/cells/{name}/{number}.py"
        linecache.cache[file_name] = len(cell), None, cell.splitlines(keepends=True), file_name
        for statement in ast.parse(cell).body:  # one by one, as notebooks do
            flags = annotations.compiler_flag if "__future__" in cell else 0
            exec(compile(ast.Module([statement], []), file_name, "exec", flags, True), notebook)
    try:
        data = carry.packed((notebook["ask"], notebook.get("arguments", ())), python=tuple(asked["python"]))
    except Exception:
        data = carry.packed((str, [traceback.format_exc()]))
    written[name] = base64.b64encode(data).decode()
print(json.dumps(written))
"""
READ = """
import base64, json, sys, traceback
from linklab.runtime import carry

imported = {"ast", "dis", "inspect"} & set(sys.modules)
answers = {"imported": sorted(imported)}
for name, data in json.load(sys.stdin).items():
    try:
        function, arguments = carry.unpacked(base64.b64decode(data))
        answers[name] = function(*arguments)
    except BaseException:
        answers[name] = traceback.format_exc()
print(json.dumps(answers))
"""
FILES = {
    "helpers.py": """
        import math
        from functools import lru_cache

        SCALE = 3
        LOG = open(__file__)  # is not used by what goes along


        def scaled(number):
            return _whole(number) * SCALE


        def _whole(number):
            return math.floor(number)


        @lru_cache(maxsize=8)
        def halved(number):
            return number / 2
    """,
    "course/__init__.py": """
        from course.speeds import Speed
    """,
    "course/speeds.py": """
        from course import units


        class Speed:
            def __init__(self, mbps):
                self.mbps = mbps

            def in_bits(self):
                return units.bits(self.mbps)
    """,
    "course/units.py": """
        MEGA = 10**6


        def bits(mega):
            return mega * MEGA
    """,
}


@dataclass(frozen=True)
class Case:
    """Cells of a notebook, the last of which names `ask`, and what that answers."""

    name: str
    expected: Any
    cells: tuple[str, ...]


def case(name: str, expected: Any, *cells: str) -> Case:
    """Return a case; cells are dedented."""
    return Case(name, expected, tuple(_dedented(cell) for cell in cells))


def _dedented(text: str) -> str:
    lines = text.removeprefix("\n").rstrip().split("\n")
    indent = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    return "\n".join(line[indent:] for line in lines) + "\n"


CASES = [
    case("function", 5, "def ask(): return 5"),
    case("arguments", [[1, 2], {"a": 3}], "def ask(a, b): return [a, b]\narguments = [1, 2], {'a': 3}"),
    case("lambda", 6, "ask = lambda: 2 * 3"),
    case("two lambdas on a line", [1, 2], "a, b = (lambda: 1), (lambda: 2)\nask = lambda: [a(), b()]"),
    case("lambdas of equal code", [7, 8], "a, b = (lambda x: x), (lambda x: x)\nask = lambda: [a(7), b(8)]"),
    case("lambda in a lambda", 3, "add = lambda a: lambda b: a + b\nask = add(1)\narguments = (2,)"),
    case(
        "lambda over lines",
        [2, 4],
        """
        table = {
            "even": (
                lambda numbers: [number
                                 for number in numbers if number % 2 == 0]
            ), "odd": lambda numbers: [],
        }
        ask, arguments = table["even"], ([1, 2, 3, 4],)
        """,
    ),
    case("two statements on a line", 3, "text = '''\n'''; ask = lambda: 3 + len(text) - 1"),
    case(
        "closure",
        [1, 2, 3],
        """
        def counter():
            count = 0

            def up():
                nonlocal count
                count += 1
                return count

            def ask():
                return [up(), up(), count + 1]

            return ask

        ask = counter()
        """,
    ),
    case("default values", [1, 2, 3, 4], "x = [1]\ndef ask(a=x, *, b=(2, 3), c=4): return [a[0], *b, c]\nx = None"),
    case(
        "nested functions",
        "outer inner",
        '''
        def ask():
            """Answers."""

            def inner():
                text = """
        inner"""
                return text.strip()

            return f"outer {inner()}"
        ''',
    ),
    case("recursion", 120, "def ask(n=5): return n * ask(n - 1) if n else 1"),
    case(
        "mutual recursion",
        [True, False],
        "def even(n): return n == 0 or odd(n - 1)",
        "def odd(n): return n != 0 and even(n - 1)",
        "ask = lambda: [even(10), even(7)]",
    ),
    case(
        "recursion within a function",
        8,
        """
        def made():
            def power(n):
                return 2 * power(n - 1) if n else 1
            return power
        ask, arguments = made(), (3,)
        """,
    ),
    case(
        "a global that is set",
        [1, 2],
        """
        total = 0
        def add():
            global total
            total += 1
            return total
        def ask():
            return [add(), total + 1]
        """,
    ),
    case(
        "class, base, super",
        ["base Dog", "Dog", 3, True, "static", "class Dog"],
        """
        class Animal:
            legs = 4
            def __init__(self, name): self.name = name
            def __repr__(self): return f"base {self.name}"
            @property
            def title(self): return self.name
            @staticmethod
            def fixed(): return "static"
            @classmethod
            def of(cls): return f"class {cls.__name__}"
        class Dog(Animal):
            def __init__(self, *, __secret=1):
                super().__init__("Dog")
                self.__hidden = 2
            def __repr__(self): return super().__repr__()
            def hidden(self): return self.__hidden + 1
        def ask():
            dog = Dog()
            return [repr(dog), dog.title, dog.hidden(), isinstance(dog, Animal), dog.fixed(), dog.of()]
        """,
    ),
    case(
        "an object's method",
        [4, 11],
        """
        class Meter:
            def __init__(self, start): self.value = start
            def read(self, more): return [self.value, self.value + more]
        ask, arguments = Meter(4).read, (7,)
        """,
    ),
    case(
        "slots and an abstract base",
        [3, "TypeError", "no dict"],
        """
        from abc import ABC, abstractmethod
        class Shape(ABC):
            __slots__ = ()
            @abstractmethod
            def area(self): ...
        class Square(Shape):
            __slots__ = ("side",)
            def area(self): return self.side + 1
        def ask():
            square = Square()
            square.side = 2
            try:
                Shape()
            except TypeError as error:
                kind = type(error).__name__
            return [square.area(), kind, "dict" if hasattr(square, "__dict__") else "no dict"]
        """,
    ),
    case(
        "dataclass",
        ["Flow(mbps=2.0, names=[])", True, [["mbps", 2.0], ["names", []]], "frozen", 4.0, 1],
        """
        from dataclasses import asdict, dataclass, field, FrozenInstanceError
        from typing import ClassVar
        @dataclass(frozen=True, order=True)
        class Flow:
            mbps: float
            names: list = field(default_factory=list, compare=False)
            made: ClassVar[int] = 1
            def twice(self): return 2 * self.mbps
        first = Flow(2.0)
        def ask():
            try:
                first.mbps = 3
            except FrozenInstanceError:
                kept = "frozen"
            same = first == Flow(2.0) and first < Flow(3.0)
            return [repr(first), same, [list(pair) for pair in asdict(first).items()], kept, first.twice(), Flow.made]
        """,
    ),
    case(
        "dataclass with slots and a base",
        ["Fast(a=1, b=2, c=5)", False],
        """
        from dataclasses import dataclass, InitVar
        @dataclass(slots=True)
        class Slow:
            a: int
            b: int = 2
        @dataclass(slots=True)
        class Fast(Slow):
            more: InitVar[int] = 4
            c: int = 0
            def __post_init__(self, more): self.c = more + 1
        def ask(): return [repr(Fast(1)), hasattr(Fast(1), "__dict__")]
        """,
    ),
    case(
        "enum",
        ["Colour.RED", 2, "nice", True, ["RED", "GREEN"], 7],
        """
        from enum import Enum, IntFlag, auto
        class Colour(Enum):
            RED = auto()
            GREEN = auto()
            ROUGE = RED
            def praise(self): return "nice"
        class Planet(Enum):
            EARTH = (3, 4)
            def __init__(self, mass, radius): self.sum = mass + radius
        class Bits(IntFlag):
            A = 1
            B = 2
        first = Colour.RED
        def ask():
            same = first is Colour.ROUGE and Colour(2) is Colour.GREEN and (Bits.A | Bits.B) == 3
            names = [each.name for each in Colour]
            return [str(first), Colour.GREEN.value, first.praise(), same, names, Planet.EARTH.sum]
        """,
    ),
    case(
        "named tuple",
        ["Point(x=1, y=2)", 3, "(5, 6)"],
        """
        from collections import namedtuple
        from typing import NamedTuple
        class Point(NamedTuple):
            x: int
            y: int = 2
            def sum(self): return self.x + self.y
        Pair = namedtuple("Pair", "a b")
        pair = Pair(5, 6)
        def ask(): return [repr(Point(1)), Point(1).sum(), str(tuple(pair))]
        """,
    ),
    case(
        "exception",
        "wrong: 3",
        """
        class Wrong(ValueError):
            def __str__(self): return f"wrong: {self.args[0]}"
        def ask():
            try:
                raise Wrong(3)
            except Wrong as error:
                return str(error)
        """,
    ),
    case(
        "cached",
        832040,
        """
        import functools
        @functools.cache
        def ask(n=30): return n if n < 2 else ask(n - 1) + ask(n - 2)
        """,
    ),
    case(
        "decorated, with wraps",
        ["named", 4, 3],
        """
        import functools
        def twice(by):
            def wrap(function):
                @functools.wraps(function)
                def inner(*arguments):
                    return by * function(*arguments)
                return inner
            return wrap
        @twice(by=2)
        def named(): return 2
        @twice(3)
        @functools.cache
        def one(): return 1
        def ask(): return [named.__name__, named(), one()]
        """,
    ),
    case(
        "context manager, partial, cached property",
        ["in", 8, 9],
        """
        from contextlib import contextmanager
        from functools import cached_property, partial
        @contextmanager
        def inside(): yield "in"
        class Lazy:
            @cached_property
            def value(self): return 9
        eight = partial(lambda a, b: a + b, 3, b=5)
        def ask():
            with inside() as where:
                return [where, eight(), Lazy().value]
        """,
    ),
    case("generator", [0, 1, 4], "def squares(n):\n    for i in range(n): yield i * i\nask = lambda: list(squares(3))"),
    case(
        "comprehensions",
        [[3, 6], {"1": 4}, [5, 10], 2],
        """
        factor, numbers = 3, [1, 2]
        def plus(n): return n + factor
        def ask():
            functions = [lambda n: n * i for i in (4, 5)]
            return [[n * factor for n in numbers], {str(n): plus(n) for n in numbers if n < 2},
                    [functions[1](n) for n in numbers], len({plus(n) for n in numbers})]
        """,
    ),
    case(
        "lambda in a comprehension",
        [3, 4],
        "functions = [lambda n, i=i: n + i for i in (1, 2)]\nask = lambda: [f(2) for f in functions]",
    ),
    case(
        "class within a function",
        [6, 3],
        """
        limit = 3
        def ask():
            class Inner:
                bound = limit
                def __init__(self): self.n = limit
                def twice(self): return self.n * 2
            return [Inner().twice(), Inner.bound]
        """,
    ),
    case("attribute of a global's name", 1, "lab = open('helpers.py')\nclass A: lab = 1\ndef ask(): return A.lab"),
    case(
        "standard library", [3, "a/b"], "import math, os\ndef ask(): return [math.floor(3.5), os.path.join('a', 'b')]"
    ),
    case(
        "module of one's own",
        [6, 3, 2.0],
        """
        import helpers
        def ask(): return [helpers.scaled(2.5), helpers.SCALE, helpers.halved(4)]
        """,
    ),
    case("function of a module", 9, "from helpers import scaled\nask, arguments = scaled, (3,)"),
    case("package of one's own", 2000000, "import course.speeds\ndef ask(): return course.speeds.Speed(2).in_bits()"),
    case("class of a package", 3000000, "from course import Speed as S\nfast = S(3)\ndef ask(): return fast.in_bits()"),
    case("edited and run again", "new", "def ask(): return 'old'", "def ask(): return 'new'"),
    case("newest of what it calls", 2, "def one(): return 1\ndef ask(): return one()", "def one(): return 2"),
    case("future annotations", 1, "from __future__ import annotations\ndef ask(a: nothing = 1): return a"),
    case("top-level await elsewhere", 4, "def ask(): return 4\nasync def other(): await ask()"),
    case(
        "shared by two",
        [[1], True],
        """
        both = [[]]
        a = lambda: both
        b = lambda: both
        def ask():
            a()[0].append(1)
            return [b()[0], a() is b()]
        """,
    ),
    case(
        "typing's generics",
        1,
        """
        from typing import Generic, TypeVar
        T = TypeVar('T')
        class Box(Generic[T]): n = 1
        def ask(): return Box[int]().n
        """,
    ),
]


def _python(version: tuple[int, int]) -> str | None:
    """A Python of this version: this one, one on the path, one that pyenv has."""
    if version == HERE:
        return sys.executable
    name = "python{}.{}".format(*version)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [shutil.which(name), *map(str, sorted(pyenv.glob(f"{version[0]}.{version[1]}.*/bin/{name}")))]
    for candidate in filter(None, candidates):
        asked = [candidate, "-c", "import sys; print(sys.version_info[:2])"]
        said = subprocess.run(asked, capture_output=True, text=True, check=False)
        if said.stdout.strip() == str(version):
            return candidate
    return None


def _run(python: str, program: str, given: Any, folder: Path, *path: Path) -> Any:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (LIBRARY, *path)))}
    done = subprocess.run(
        [python, "-c", program],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@cache
def _answers(writes: tuple[int, int], reads: tuple[int, int], folder: Path) -> dict[str, Any]:
    """What all cases answer where one version of Python writes and another reads."""
    pythons = _python(writes), _python(reads)
    for python, version in zip(pythons, (writes, reads), strict=True):
        if python is None:
            pytest.skip("needs Python {}.{}, on the path or from pyenv".format(*version))
    for name, text in FILES.items():
        file = folder / "notebooks" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_dedented(text))
    (folder / "elsewhere").mkdir(exist_ok=True)
    given = {"python": reads, "cases": {each.name: each.cells for each in [*CASES, *TRACED]}}
    written = _run(str(pythons[0]), WRITE, given, folder / "notebooks", folder / "notebooks")
    answers: dict[str, Any] = _run(str(pythons[1]), READ, written, folder / "elsewhere")
    return answers


PAIRS = [(HERE, HERE), *((here, there) for here in VERSIONS for there in VERSIONS if here != there)]
TRACED = [
    case(
        "traced",
        None,
        """
        # a comment
        def ask():
            numbers = [1]
            return deep(numbers)
        """,
        """


        def deep(numbers):
            return (
                numbers[7]
            )
        """,
    ),
    case("traced in a module", None, "import helpers\ndef ask(): return helpers.scaled('no')"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for all cases."""
    return tmp_path_factory.mktemp("carried")


@pytest.fixture(scope="module", params=PAIRS, ids=lambda pair: "from {}.{} to {}.{}".format(*pair[0], *pair[1]))
def answers(request: pytest.FixtureRequest, folder: Path) -> dict[str, Any]:
    """What all cases answer, for each pair of versions."""
    return _answers(*request.param, folder)


@pytest.mark.parametrize("each", CASES, ids=lambda each: each.name)
def test_it_answers_in_another_python_as_here(answers: dict[str, Any], each: Case) -> None:
    assert answers[each.name] == each.expected


def test_tracebacks_show_the_users_lines(answers: dict[str, Any]) -> None:
    text = answers["traced"]
    assert 'File "/cells/traced/0.py", line 4, in ask\n    return deep(numbers)\n' in text
    assert 'File "/cells/traced/1.py", line 5, in deep\n    numbers[7]\n' in text
    text = answers["traced in a module"]
    assert 'helpers.py", line 9, in scaled\n    return _whole(number) * SCALE\n' in text
    assert 'helpers.py", line 13, in _whole\n    return math.floor(number)\n' in text


def test_reading_imports_no_compilers_tools(answers: dict[str, Any]) -> None:
    assert answers["imported"] == []


def _crossed(value: Any) -> Any:
    return carry.unpacked(carry.packed(value))


def test_numpys_numbers_and_arrays_cross() -> None:
    factor = np.float64(2.5)

    def scaled(values: Any) -> list[float]:
        return list(np.asarray(values) * factor)

    function, values = _crossed((scaled, np.arange(3)))
    assert function(values) == [0.0, 2.5, 5.0]
    assert function is not scaled


def test_what_is_installed_is_found_by_name() -> None:
    for thing in (np.linspace, Path, json.dumps, carry.packed, np.random.default_rng, LabError):
        assert _crossed(thing) is thing


def test_cells_of_a_notebook_are_carried_as_they_were_run_last() -> None:
    shell = InteractiveShell.instance()
    for cell in ("def rate(): return 1", "def twice():\n    return 2 * rate()", "def rate(): return 4", "%time 1"):
        assert shell.run_cell(cell, store_history=True).success  # type: ignore[no-untyped-call]
    data = carry.packed(shell.user_ns["twice"], python=(3, 99))
    assert b"return 4" in data
    assert b"return 1" not in data
    assert carry.unpacked(data)() == 8


def test_the_lines_that_tracebacks_show_are_those_of_all_functions_of_a_file() -> None:
    def low() -> int:
        return 1

    linecache.cache.pop(__file__, None)
    assert _crossed(low)() == 1
    assert linecache.getline(__file__, low.__code__.co_firstlineno).strip() == "def low() -> int:"
    linecache.cache.pop(__file__, None)


def test_an_object_that_was_kept_is_still_of_its_class() -> None:
    @dataclass(frozen=True)
    class Kept:
        n: int

    class Mode(Enum):
        FAST = 1

    kept = _crossed((Kept(1), Mode.FAST))
    kind, mode = _crossed((Kept, Mode))
    assert isinstance(kept[0], kind)
    assert kept == (kind(1), mode.FAST)
    assert kept[1] is mode.FAST
    assert kind is not Kept


def _made_by_exec() -> Callable[[], int]:
    made: dict[str, Any] = {"__name__": "__main__", "seven": 7}
    exec("def without_text(): return seven", made)
    function: Callable[[], int] = made["without_text"]
    return function


def test_a_function_without_text_crosses_to_the_same_version_alone() -> None:
    assert _crossed(_made_by_exec())() == 7
    with pytest.raises(
        LabError, match=r"^without_text cannot go into a lab: its source .* write it in a notebook's cell"
    ):
        carry.packed(_made_by_exec(), python=(3, 99))


def test_a_file_edited_after_it_was_imported_is_not_taken_for_what_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "edited_since.py"
    file.write_text("def speed(): return 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import edited_since  # type: ignore[import-not-found]

    assert b"return 1" in carry.packed(edited_since.speed, python=(3, 99))
    file.write_text("def speed(): return 22\n")
    with pytest.raises(LabError, match=r"speed cannot go into a lab: .* edited after it was run"):
        carry.packed(edited_since.speed, python=(3, 99))
    assert _crossed(edited_since.speed)() == 1


def test_a_module_that_the_lab_lacks_is_named() -> None:
    data = carry.packed(np.linspace).replace(b"numpy", b"nunpy")
    with pytest.raises(LabError, match=r"^the lab's Python has no module 'nunpy'"):
        carry.unpacked(data)


class _Uncrossable:
    def __init__(self) -> None:
        self.inner = threading.Lock()


def _numbers() -> Iterator[int]:
    yield 1


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (Path(__file__).open, "an open file .* open it in the function"),
        (threading.Lock, "an object of _thread.lock stays here; make it in the function"),
        (socket.socket, "an object of socket.socket stays here"),
        (_Uncrossable, "an object of _thread.lock stays here"),
        (lambda: [{"a": _numbers()}], "an object of generator stays here"),
        (lambda: LabProcess.__new__(LabProcess), "a running lab stays here; a function gets Mininet's net"),
    ],
    ids=["file", "lock", "socket", "object with a lock", "generator in a list", "lab"],
)
def test_what_cannot_cross_is_named_with_its_variable(make: Callable[[], Any], says: str) -> None:
    kept = make()

    def measure() -> Any:
        return kept

    def outer() -> Any:
        return measure()

    for value, where in (
        (outer, r"kept \(used in .*measure\)"),
        ((print, [kept]), "an argument"),
        (lambda each=kept: each, "a default value of .*"),
    ):
        with pytest.raises(LabError, match=rf"^{where} cannot go into a lab: {says}") as caught:
            carry.packed(value)
        assert "\n" not in str(caught.value)
    if hasattr(kept, "close"):
        kept.close()
