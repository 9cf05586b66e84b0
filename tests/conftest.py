"""What all tests share: which of them are run, a lab where the machine can run one, and proof that nothing is left."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import time
import uuid
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from linklab.errors import LabError
from linklab.grade.result import wrong_answers, wrong_options
from linklab.runtime.backends import Kind, choose
from linklab.signals import SIGNALS

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

LONGEST_VALUE_IN_A_NAME = 60
"""Characters or bytes."""

LINKLAB_TESTS: Final = os.environ.get("LINKLAB_TESTS", "")
"""Which tests are run: "quick" (those that start no process), "" (`make test`), "large" (CI: all)."""
if LINKLAB_TESTS not in ("quick", "", "large"):
    raise pytest.UsageError(f'LINKLAB_TESTS is "{LINKLAB_TESTS}": set it to quick or large, or not at all')
STARTS_A_PROCESS: Final = frozenset({"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system"})
"""Names of Python's audit events."""


def pytest_configure() -> None:
    """Let Ctrl-C interrupt, as in a terminal: tests press it, and a shell starts background programs that ignore it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if LINKLAB_TESTS == "quick":
        sys.addaudithook(_leave_to_make_test)


def _leave_to_make_test(event: str, words: tuple[Any, ...]) -> None:
    """Skip a quick test where it would start a process, so that nobody has to list the pure ones."""
    # pytest sets the variable while a test or a fixture runs; xdist starts its workers before
    if event in STARTS_A_PROCESS and "PYTEST_CURRENT_TEST" in os.environ:
        pytest.skip("starts a process: make test")


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name a long parameter by its argument: workers of pytest -n collect apart, and must find the same names.

    A compressed file holds the second in which it was made, and no reader finds a test by a thousand characters.
    """
    return argname if isinstance(val, str | bytes) and len(val) > LONGEST_VALUE_IN_A_NAME else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Switch the garbage collector off while tests are collected: it would take half of the time and find nothing."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()  # nor are these objects looked at later
        gc.enable()


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep tests that share a fixture in one worker of pytest -n, begin with the slow ones, and leave out by marks."""
    if LINKLAB_TESTS == "quick":
        items[:] = [item for item in items if not any(map(item.get_closest_marker, ("lab", "slow", "large")))]
    items.sort(key=lambda item: not any(map(item.get_closest_marker, ("large", "slow"))))
    for item in items:
        if LINKLAB_TESTS == "" and item.get_closest_marker("large"):
            item.add_marker(pytest.mark.skip(reason="takes long: CI, or LINKLAB_TESTS=large make test"))
        shared = [name for name, scope in _fixture_scopes(item) if scope in ("module", "class", "package")]
        if shared:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


def _fixture_scopes(item: pytest.Item) -> Iterator[tuple[str, str]]:
    """The fixtures that a test uses, directly or not, each with its scope."""
    if isinstance(item, pytest.Function):
        for name, definitions in item._fixtureinfo.name2fixturedefs.items():
            yield name, definitions[-1].scope


@pytest.fixture(autouse=True)
def first_hints() -> None:
    """Forget wrong answers before each test, so that a check's hint is its first one."""
    wrong_answers.clear()
    wrong_options.clear()


@pytest.fixture(autouse=True)
def signals_as_before() -> Iterator[None]:
    """Fail a test that leaves another handler for Ctrl-C: the tests after it would inherit it."""
    before = [signal.getsignal(number) for number in SIGNALS]
    yield
    after = [signal.getsignal(number) for number in SIGNALS]
    for number, handler in zip(SIGNALS, before, strict=True):
        signal.signal(number, handler)
    # a quick test that was ended where it would start a process had no time to tidy up
    assert after == before or LINKLAB_TESTS == "quick"


@pytest.fixture(scope="session")
def virtual() -> Kind:
    """User-mode Linux; the test is skipped with the reason where it does not run."""
    try:
        return choose("guest")
    except LabError as error:
        pytest.skip(f"needs a lab in user-mode Linux: {error}")


SESSION = f"linklab-test-{uuid.uuid4().hex}"
os.environ["LINKLAB_TEST_SESSION"] = SESSION  # inherited by every process of a lab that these tests start


def lab_processes() -> dict[int, str]:
    """Every process of labs that this test session started: supervisors, bubblewrap, guests, agents, what they run.

    Known by the session's mark in its environment, its command line or its working folder. Namespaces by number
    would not do: the kernel gives a freed number to the next lab of whoever else uses this machine.
    """
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):  # it has ended
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if SESSION in words or _marked_inside(folder):
                found[int(folder.name)] = words
    return found


def _marked_inside(folder: Path) -> bool:
    with contextlib.suppress(PermissionError):
        return SESSION.encode() in (folder / "environ").read_bytes() or SESSION in os.readlink(folder / "cwd")
    return False


def wait_for_none_left(before: dict[int, str], patience_s: float = 120.0) -> dict[int, str]:
    """The lab processes that were not there before and do not end; the kernel needs a moment to end the last."""
    deadline = time.monotonic() + patience_s
    while True:
        left = {pid: words for pid, words in lab_processes().items() if pid not in before}
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.05)


@pytest.fixture
def lab_folder(tmp_path: Path) -> Path:
    """A folder for a lab; its name marks the processes that get it."""
    folder = tmp_path / SESSION
    folder.mkdir()
    return folder


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """Fails the test if a lab process is left after it."""
    before = lab_processes()
    yield
    assert wait_for_none_left(before) == {}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """A headless Chromium with an empty profile, for pages that are no JupyterLab."""
    from tests.commands.browser import Page, missing

    if missing() is not None:
        pytest.skip(str(missing()))
    page = Page(tmp_path_factory.mktemp("profile"))
    yield page.browser
    page.close()
