"""The reference of the command line, made of its own parser: a page has the line ``<!-- commands of linklab -->``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from sphinx.application import Sphinx

from linklab.cli import make_parser

PLACE = "<!-- commands of linklab -->"


def markdown(parser: argparse.ArgumentParser, help_text: str = "") -> Iterator[str]:
    """Yield a parser's commands as Markdown, each under a heading of its own, with a line for each option."""
    subcommands = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not subcommands:
        yield f"## `{parser.prog}`\n"
        yield (parser.description or f"{help_text[:1].upper()}{help_text[1:]}.") + "\n"
        yield f"```text\n{_usage(parser)}\n```\n"
        for group in parser._action_groups:
            lines = [_line(parser, action) for action in group._group_actions if action.dest != "help"]
            if lines and group.title not in ("positional arguments", "options"):
                yield f"**{str(group.title).capitalize()}.** {group.description or ''}\n"
            yield from lines
            yield ""
    for action in subcommands:
        told = {choice.dest: choice.help or "" for choice in action._choices_actions}
        for name, subparser in action.choices.items():
            yield from markdown(subparser, told.get(name, ""))


def _usage(parser: argparse.ArgumentParser) -> str:
    return parser.format_usage().removeprefix("usage: ").strip()


def _line(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    formatter = parser._get_formatter()
    words = formatter._format_action_invocation(action)
    said = formatter._expand_help(action) if action.help else ""
    return f"- `{words}`: {said}" if said else f"- `{words}`"


def _fill_in(_: Sphinx, __: str, source: list[str]) -> None:
    if PLACE in source[0]:
        source[0] = source[0].replace(PLACE, "\n".join(markdown(make_parser())))


def setup(app: Sphinx) -> None:
    """Tell Sphinx."""
    app.connect("source-read", _fill_in)
