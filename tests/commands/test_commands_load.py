"""A command loads what it needs, and not what the others need: who types ``linklab shell`` does not wait for pandas."""

from __future__ import annotations

import subprocess
import sys

import pytest

from linklab.cli import make_parser


def _names(command: str | None = None) -> set[str]:
    actions = [action for action in make_parser(command)._actions if action.choices]
    return set(actions[0].choices or ())


COMMANDS = sorted(_names())


@pytest.mark.parametrize("command", COMMANDS)
def test_a_known_command_is_there_and_hardly_another(command: str) -> None:
    assert command in _names(command)
    assert len(_names(command)) <= 5


def test_a_word_that_is_none_meets_all_commands() -> None:
    assert _names("foo") == _names("--help") == set(COMMANDS)


@pytest.mark.parametrize("words", [["--version"], ["shell", "--help"], ["up", "--help"], ["doctor", "--help"]])
def test_what_takes_long_to_load_is_left_alone(words: list[str]) -> None:
    code = (
        "import sys\nfrom linklab.cli import main\n"
        f"try:\n    main({words})\nexcept SystemExit:\n    pass\n"
        "print(sorted({'pandas', 'nbformat', 'matplotlib', 'scipy', 'numpy'} & set(sys.modules)))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.splitlines()[-1] == "[]"
