"""The file that students edit beside a notebook: made from the finished one, step by step, and giving nothing away."""

from __future__ import annotations

from pathlib import Path

import pytest

from linklab.errors import LinklabError
from linklab.notebooks.build import build_all
from linklab.notebooks.starters import read_blocks, stage

FINISHED = """\
import math


def area(radius):
    \"\"\"In square metres.\"\"\"
    # the radius may be a text
    number = float(radius)
    if number < 0:
        raise ValueError(radius)
    return math.pi * number**2
"""
STARTER = """\
What this is about.

## Step 1: the area

<<<<<<<
    number = radius
    ...
    return math.pi * number**2
=======
    return None  # TODO 1
>>>>>>>

<<<<<<<
import math


=======
>>>>>>>

## Step 2: what is no radius

<<<<<<<
    # the radius may be a text
    number = float(radius)
    if number < 0:
        raise ValueError(radius)
=======
    number = radius
    # TODO 2: what if it is not a number?
>>>>>>>
"""
BLOCKS = read_blocks(STARTER)
TWICE = """\
def volume(radius):
    # the radius may be a text
    number = float(radius)
    if number < 0:
        raise ValueError(radius)
"""


def _kit(folder: Path, starter: str = STARTER) -> Path:
    (folder / "solutions").mkdir()
    (folder / "solutions" / "07-small.py").write_text('# %% id="one"\n1\n')
    (folder / "solutions" / "area.py").write_text(FINISHED)
    (folder / "solutions" / "area.py.starter").write_text(starter)
    return folder


@pytest.mark.parametrize(
    ("old", "new", "times"),
    [
        ("    number = float(radius)\n", "    number = int(radius)\n", 0),
        ("def area", f"{TWICE}\n\ndef area", 2),
    ],
    ids=["changed", "twice"],
)
def test_a_finished_file_that_moved_away_is_noticed(old: str, new: str, times: int) -> None:
    assert old in FINISHED
    with pytest.raises(LinklabError, match=f"of step 2 that begins '# the radius may be a text' stands {times} times"):
        stage(FINISHED.replace(old, new), BLOCKS)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (STARTER.replace(">>>>>>>", "", 1), "line 13, <<<<<<<"),
        (STARTER.replace("=======", "", 1), "line 11, >>>>>>>"),
        (STARTER.replace("## Step 1", "Step 1"), "line 5, <<<<<<<"),
        (STARTER.removesuffix(">>>>>>>\n"), "not closed"),
        (STARTER.replace("import math\n\n\n", "", 1), "line 14, ======="),
        ("## Step 1: nothing\n", "holds no block"),
    ],
    ids=["not ended", "no starter", "before the first step", "open at the end", "nothing above", "empty"],
)
def test_blocks_that_are_not_well_formed_are_refused(text: str, said: str) -> None:
    with pytest.raises(LinklabError, match=said):
        read_blocks(text)


def test_building_a_kit_makes_it_and_says_when_it_is_out_of_date(tmp_path: Path) -> None:
    kit = _kit(tmp_path)
    build_all(kit)
    made = kit / "labs" / "area.py"
    assert made.read_text() == stage(FINISHED, BLOCKS)
    assert not any(built.stale for built in build_all(kit, check=True))
    made.write_text(FINISHED)
    assert [str(built.path) for built in build_all(kit, check=True) if built.stale] == ["labs/area.py"]
    assert made.read_text() == FINISHED


def test_a_starter_that_is_no_python_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LinklabError, match=r"area\.py\.starter: .*area\.py, line 3"):
        build_all(_kit(tmp_path, STARTER.replace("    return None  # TODO 1", "    return (")))


def test_a_starter_without_its_finished_file_is_refused(tmp_path: Path) -> None:
    kit = _kit(tmp_path)
    (kit / "solutions" / "area.py").unlink()
    with pytest.raises(LinklabError, match=r"no area\.py beside it"):
        build_all(kit)
