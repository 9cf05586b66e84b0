"""A page's notebook: its cells are run, what they show is the page, and the same tables give the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

import linklab
from linklab.errors import MeasurementError
from linklab.show.chart import forget_styles, lines
from linklab.study import run
from linklab.study.notebook import PageRequest, run_page, write_page
from linklab.study.table import StudyTable

from . import pretend

OPEN = """\
# %% [markdown]
# # Made up
#
# Prose.

# %%
from linklab.published import Claim
from linklab.study.claims import Claims, Finding
from linklab.study.notebook import open_page
from linklab.study.page import say, table
from linklab.show.chart import lines
from tests.study.pretend import STUDY


def fast(tables):
    rate_mbps = tables["made-up"].lookup("rate_mbps", size=3, kind="a").same
    return Finding(rate_mbps >= 1, f"{rate_mbps:g} Mbit/s")


claims = (Claim("fast", "It is fast.", "V", "either", "rate_mbps"),)
page = open_page("made-up", [STUDY], Claims(claims, {"fast": fast}))
"""
SHOW = """
# %%
rate_mbps = page["made-up"].lookup("rate_mbps", size=2, kind="a")
say(f"The rate is {rate_mbps.mean:.2f} Mbit/s: {page.verdict('fast')}, {page.because('fast')}.")

# %%
page.figure("rates", "Rates.", lines("A line that rises", {"rate": ([1, 2], [3, 4])}, "x", "y"))

# %%
say(page.claims(), page.how_judged(), page.provenance())
"""


@pytest.fixture
def given(pretended: None, tmp_path: Path) -> StudyTable:
    """The study's table."""
    return run(pretend.STUDY, tmp_path / "results")


def made(tmp_path: Path, source: str) -> dict[str, str]:
    """The files of the page that a notebook makes of the table."""
    path = tmp_path / "made_up_page.py"
    path.write_text(source)
    return run_page(path, PageRequest(tmp_path / "results"))[1]


def test_what_cells_show_is_the_page(given: StudyTable, tmp_path: Path) -> None:
    files = made(tmp_path, OPEN + SHOW)
    text = files["made-up.md"]
    assert text.startswith(
        "# Made up\n\nProse.\n\nThe rate is 0.67 Mbit/s: reproduced, 1 Mbit/s.\n\n![A line that rises."
    )
    assert "| It is fast. (V) | either | reproduced | 1 Mbit/s |" in text
    assert "| It is fast. | rate_mbps |" in text
    assert "- *reproduced*: " in text
    assert "- *open*: " not in text
    assert list(files) == ["made-up.md", "made-up-rates.svg"]
    made_by = f"none, {given.about['made_by']['code']}"
    assert f"| made-up.csv | 36 | {given.digest} | {given.about['date'][:10]} | {made_by} | 1, 2 | 30 s |" in text
    assert f"- Linklab {linklab.__version__}\n- Labs: kind pretend, kernel 7.3\n" in text
    assert text.endswith("- Measured again by: `linklab study run made-up`\n")


def test_a_page_of_a_table_with_missing_points_says_so_below_its_title(given: StudyTable, tmp_path: Path) -> None:
    path = tmp_path / "results" / "made-up.csv"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not line.startswith(("3,a,2", "3,b"))))
    text = made(tmp_path, OPEN + SHOW)["made-up.md"]
    assert text.startswith("# Made up\n\n**Not measured in full: 3 of 12 points of made-up (`linklab study run ")
    assert "| It is fast. (V) | either | not testable here | 1 of the points that it needs are missing" in text


def test_the_same_tables_give_the_same_bytes_and_old_pictures_go(given: StudyTable, tmp_path: Path) -> None:
    files = made(tmp_path, OPEN + SHOW)
    forget_styles()
    lines("Of another page", {"delay": ([1, 2], [3, 4]), "rate": ([1, 2], [3, 4])}, "x", "y")
    assert made(tmp_path, OPEN + SHOW) == files
    folder = tmp_path / "pages"
    write_page("made-up", files, folder)
    (folder / "made-up-old.svg").write_text("an old picture")
    (folder / "made-up-other.svg").write_text("a picture of a page made-up-other, or of nobody's")
    with (folder / "made-up.md").open("a") as file:
        file.write("![old](made-up-old.svg) and [another page's](other-a.svg)\n")
    (folder / "other-a.svg").write_text("another page's")
    assert [path.name for path in write_page("made-up", files, folder)] == ["made-up.md", "made-up-rates.svg"]
    assert sorted(path.name for path in folder.iterdir()) == [
        "made-up-other.svg", "made-up-rates.svg", "made-up.md", "other-a.svg",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("# %%\nspeed", r"made_up_page.py fails: NameError: .*\(made_up_page.py, line 2\)"),
        ("# %%\n1 +", r"made_up_page.py fails: SyntaxError: invalid syntax"),
        ("# %%\n1", "made_up_page.py is no page: none of its cells calls open_page"),
        (f"{OPEN}\n# %%\npage['made-up'].lookup('speed')", "has no speed: linklab study run"),
        (f"{OPEN}\n# %%\npage['made-up'].lookup('rate_mbps', size=1)", "say which kind: a, b"),
        (f"{OPEN}\n# %%\npage['mtv']", "no table of study mtv"),
        (f"{OPEN}\n# %%\npage.verdict('speed')", "page made-up has no claim 'speed'"),
    ],
)
def test_what_is_not_there_is_one_line(given: StudyTable, tmp_path: Path, source: str, says: str) -> None:
    with pytest.raises(MeasurementError, match=says) as caught:
        made(tmp_path, source)
    assert "\n" not in str(caught.value)
    with pytest.raises(MeasurementError, match="cannot be read"):
        run_page(tmp_path / "none.py", PageRequest())
