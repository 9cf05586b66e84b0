"""Reading a lab's source, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from linklab.errors import LinklabError
from linklab.notebooks.source import Cell, read_source


def _read(folder: Path, text: str) -> tuple[Cell, ...]:
    path = folder / "09-test.py"
    path.write_text(text)
    return read_source(path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("# %%\nx = 1", "cell 1: .*0 names"),
        ('# %% id="a" check="b" points=1\nx', "2 names"),
        ('# %% id="a"\nx\n\n# %% id="a"\ny', "cell 2: id 'a' is taken"),
        ('# %% id="a b"\nx', "not made of small letters"),
        ('# %% id="a" colour="red"\nx', "option colour is unknown"),
        ('# %% id="a" tags=[b]\nx', "is no option"),
        ('# %% [raw] id="a"\n# x', "neither code nor markdown"),
        ('# %% check="a"\nx', "points"),
        ('# %% check="a" points=0\nx', "points"),
        ('# %% id="a" points=1\nx', "not graded"),
        ('# %% answer="a"\nx = 1', "hold a solution region"),
        ('# %% id="a"\n### BEGIN SOLUTION\nx = 1\n### END SOLUTION', "hold a solution region"),
        ('# %% [markdown] check="a" points=1\n# x', "is a markdown cell"),
        ('# %% reflect="a" points=1\nx', "is a code cell"),
        (f'# %% id="{"a" * 65}"\nx', "longer than 64"),
    ],
)
def test_a_malformed_cell_is_refused_in_one_line_that_names_it(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(LinklabError, match=says) as caught:
        _read(tmp_path, text)
    assert str(caught.value).startswith("09-test.py, cell ")
    assert "\n" not in str(caught.value)
