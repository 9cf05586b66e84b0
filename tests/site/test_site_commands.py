"""The reference of the command line has every command, and nothing is typed there by hand."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from linklab.cli import make_parser
from tools.site.commands import markdown


def _leaves(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    for action in below:
        for subparser in action.choices.values():
            yield from _leaves(subparser)
    if not below:
        yield parser


def test_every_command_has_its_section() -> None:
    whole = "\n".join(markdown(make_parser()))
    headings = [part.partition("\n")[0].strip("`") for part in whole.split("## ")[1:]]
    assert headings == [parser.prog for parser in _leaves(make_parser())]


def test_a_value_in_a_help_is_filled_in() -> None:
    parser = argparse.ArgumentParser(prog="x")
    parser.add_argument("--size", default=7, metavar="N", help="in MB; default: %(default)s")
    assert "- `--size N`: in MB; default: 7" in list(markdown(parser))
