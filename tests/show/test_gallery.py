"""All figures of the gallery: nothing is covered, each can be seen, and says what it is."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import pytest

from linklab import show

from .charted import collisions, cut_off, ink
from .contrast import contrast, dark, inverted
from .gallery import Gallery, figures, lab_figures

FIGURES = Gallery()


@pytest.mark.large
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in FIGURES if not name.startswith(("pictures", "frames"))])
def test_no_text_covers_another_or_is_cut_off(name: str) -> None:
    assert collisions(FIGURES[name]) == []
    assert cut_off(FIGURES[name]) == []


def test_every_function_that_draws_has_a_figure_here() -> None:
    modules = [importlib.import_module(it.name) for it in pkgutil.walk_packages(show.__path__, "linklab.show.")]
    labs = [importlib.import_module(f"linklab.labs.{lab}.figures") for lab in ("lab11", "lab12", "lab13")]
    drawing = {
        f"{prefix}{name}"
        for prefix, returned, module in (
            *(("", "Drawing", it) for it in modules),
            *((f"{it.__name__.split('.')[2]}.", "Drawing | str", it) for it in labs),
        )
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__annotations__.get("return") == returned and not name.startswith("_")
    }
    assert drawing == {name.partition(":")[0] for name in (*figures(), *lab_figures())}


@pytest.mark.large
@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_says_in_words_what_it_shows_and_is_a_picture(name: str) -> None:
    figure = FIGURES[name]
    assert len(figure.alt_text.split()) > 3
    assert figure.get_facecolor() == (1, 1, 1, 1)
    png = figure.png()
    assert png.startswith(b"\x89PNG")
    assert figure.alt_text[:30].encode() in png


@pytest.mark.large
@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_texts_lines_and_bars_can_be_seen_in_print_and_in_the_dark_theme(name: str) -> None:
    """WCAG 2.2: 4.5 to 1 for text, 3 to 1 for what carries meaning."""
    seen = list(ink(FIGURES[name]))
    assert seen or name == "pictures"
    faint = [
        (what, colour, ground)
        for what, colour, ground, least in seen
        if contrast(colour, ground) < least or contrast(inverted(colour), dark(ground)) < least
    ]
    assert faint == []
