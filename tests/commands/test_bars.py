"""Bars in a terminal: what is to be seen of notebooks that run side by side."""

from __future__ import annotations

import io

from rich.console import Console

from linklab.headless.progress import Bars


def test_each_notebook_has_a_bar_while_it_runs() -> None:
    screen = io.StringIO()
    with Bars[str](3, "0 of 3", console=Console(file=screen, force_terminal=True, width=120)) as bars:
        bars.add("a", "[red]ann")
        bars.add("b", "ben", "starts")
        bars.move("a", 3, 12)
        bars._progress.refresh()
        drawn = screen.getvalue()
        bars.end("a", "1 of 3")
        screen.truncate(0)
        bars._progress.refresh()
        left = screen.getvalue()
    for words in ("all notebooks", "0 of 3", "[red]ann", "cell 3 of 12", "ben", "starts"):
        assert words in drawn
    assert "ann" not in left
    assert "ben" in left
    assert "1 of 3" in left


def test_of_one_notebook_the_bar_of_all_is_not_shown() -> None:
    screen = io.StringIO()
    with Bars[str](1, visible=False, console=Console(file=screen, force_terminal=True, width=120)) as bars:
        bars.add("a", "ann")
        bars._progress.refresh()
    assert "ann" in screen.getvalue()
    assert "all notebooks" not in screen.getvalue()
