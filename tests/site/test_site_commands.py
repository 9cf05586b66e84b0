"""The reference of the command line has every command and every option, and nothing is typed there by hand."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import pytest

from linklab.cli import make_parser
from tools.site.commands import markdown


def _leaves(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    for action in below:
        for subparser in action.choices.values():
            yield from _leaves(subparser)
    if not below:
        yield parser


@pytest.fixture(scope="module")
def sections() -> dict[str, str]:
    """The text of each command, by its heading."""
    whole = "\n".join(markdown(make_parser()))
    return {part.partition("\n")[0].strip("`"): part for part in whole.split("## ")[1:]}


def test_every_command_has_its_section(sections: dict[str, str]) -> None:
    assert list(sections) == [parser.prog for parser in _leaves(make_parser())]


@pytest.mark.parametrize("parser", list(_leaves(make_parser())), ids=lambda parser: parser.prog)
def test_every_option_is_there_with_its_help(sections: dict[str, str], parser: argparse.ArgumentParser) -> None:
    for action in parser._actions:
        if action.dest != "help":
            name = action.option_strings[-1] if action.option_strings else str(action.metavar or action.dest)
            (line,) = [
                line for line in sections[parser.prog].splitlines()
                if line.startswith("- `") and name in line.split("`")[1].replace(",", " ").split()
            ]  # fmt: skip
            assert ": " in line or not action.help


def test_a_value_in_a_help_is_filled_in() -> None:
    parser = argparse.ArgumentParser(prog="x")
    parser.add_argument("--size", default=7, metavar="N", help="in MB; default: %(default)s")
    assert "- `--size N`: in MB; default: 7" in list(markdown(parser))
