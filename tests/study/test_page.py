"""Pages from templates: numbers are looked up, nothing undefined passes, and the same tables give the same bytes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.figure import Figure

import linklab
from linklab.errors import MeasurementError
from linklab.published import Claim, Inconsistency
from linklab.study import Measured, run
from linklab.study.claims import Finding, Tables
from linklab.study.page import Grid, Page, Picture, fixed, make_page, read_tables, significant, values_grid, write_page
from linklab.study.table import StudyTable

from . import pretend, tables

TEMPLATE = """\
# {{ title }}

The rate is {{ value("made-up", "rate_mbps", size=2, kind="a") | fixed(2) }} Mbit/s
where the paper has {{ published.RATE_MBPS }}; {{ spread("made-up", "rate_mbps", size=1, kind="a", digits=2) }}.
Of all, {{ values.worst }}.

{{ grid("rates") }}

{{ figure("rates") }}

{{ claims() }}

{{ verdict("fast") }}: {{ because("fast") }}

{{ inconsistencies(published.INCONSISTENCIES) }}

{{ provenance() }}
"""


def _draw() -> Figure:
    figure = Figure(figsize=(2, 2))
    axes = figure.add_subplot()
    axes.plot([1, 2], [3, 4], label="rate")
    axes.legend()
    return figure


def _fast(given: Tables) -> Finding:
    rate_mbps = given["made-up"].lookup("rate_mbps", size=3, kind="a").same
    return Finding(rate_mbps >= 1, f"{rate_mbps:g} Mbit/s")


@pytest.fixture
def page(tmp_path: Path) -> Page:
    """A page of the study that needs no labs."""
    path = tmp_path / "page.md"
    path.write_text(TEMPLATE)
    return Page(
        "made-up",
        "Made up",
        (pretend.STUDY,),
        path,
        claims=(Claim("fast", "It is fast.", "V", "either", "rate_mbps"),),
        judges={"fast": _fast},
        grids={"rates": lambda given: Grid(("size", "value | unit"), (("1", f"{len(given['made-up'])}"),), "note")},
        figures={"rates": lambda given: Picture("rates", "Rates.", "a line that rises", _draw)},
        values={"worst": lambda given: "9 of 12"},
        published={"RATE_MBPS": 0.7, "INCONSISTENCIES": (Inconsistency("V", "1 is not 2"),)},
    )


@pytest.fixture
def given(pretended: None, tmp_path: Path) -> dict[str, StudyTable]:
    """The study's table."""
    return {"made-up": run(pretend.STUDY, tmp_path / "results")}


def test_a_template_asks_for_numbers_where_they_stand(page: Page, given: dict[str, StudyTable]) -> None:
    files = make_page(page, given)
    text = files["made-up.md"]
    assert text.startswith("# Made up\n\nThe rate is 0.67 Mbit/s\nwhere the paper has 0.7; 0.33.\nOf all, 9 of 12.\n")
    assert "| size | value \\| unit |\n| --- | --- |\n| 1 | 36 |\n\nnote" in text
    assert "![a line that rises](made-up-rates.svg)\n\n*Rates.*" in text
    assert "| It is fast. (V) | either | reproduced | 1 Mbit/s |" in text
    assert "reproduced: 1 Mbit/s" in text
    assert "| V | 1 is not 2 |" in text
    assert files["made-up-rates.svg"].startswith("<?xml")


def test_a_page_of_a_table_with_missing_points_says_so_below_its_title(
    page: Page, given: dict[str, StudyTable], tmp_path: Path
) -> None:
    assert "Not measured in full" not in make_page(page, read_tables(page, tmp_path / "results"))["made-up.md"]
    path = tmp_path / "results" / "made-up.csv"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not line.startswith(("3,a,2", "3,b"))))
    text = make_page(page, read_tables(page, tmp_path / "results"))["made-up.md"]
    assert text.startswith(
        "# Made up\n\n**Not measured in full: 3 of 12 points of made-up (`linklab study run made-up`) are missing. "
        "No claim that needs them is judged.**\n\nThe rate is"
    )
    assert "| It is fast. (V) | either | not testable here | 1 of the points that it needs are missing" in text
    page.template.write_text("[up](..)\n\n# {{ title }}\n\nNothing.\n")
    text = make_page(page, read_tables(page, tmp_path / "results"))["made-up.md"]
    assert text.startswith("[up](..)\n\n# Made up\n\n**Not measured in full: ")


def test_a_page_says_where_its_numbers_come_from(page: Page, given: dict[str, StudyTable]) -> None:
    (line,) = [it for it in make_page(page, given)["made-up.md"].splitlines() if it.startswith("| made-up.csv |")]
    about = given["made-up"].about
    made_by = f"none, {about['made_by']['code']}"
    assert f"| 36 | {given['made-up'].digest} | {about['date'][:10]} | {made_by} | 1, 2 | 30 s |" in line
    text = make_page(page, given)["made-up.md"]
    assert f"- Linklab {linklab.__version__}\n- Labs: kind pretend, kernel 7.3\n" in text
    assert "- Measured again by: `linklab study run made-up`" in text


def test_the_same_tables_give_the_same_bytes_and_old_pictures_go(
    page: Page, given: dict[str, StudyTable], tmp_path: Path
) -> None:
    files = make_page(page, given)
    assert make_page(page, read_tables(page, tmp_path / "results")) == files
    folder = tmp_path / "pages"
    write_page(page.name, files, folder)
    (folder / "made-up-old.svg").write_text("an old picture")
    (folder / "made-up-other.svg").write_text("a picture of a page made-up-other, or of nobody's")
    with (folder / "made-up.md").open("a") as file:
        file.write("![old](made-up-old.svg) and [another page's](other-a.svg)\n")
    (folder / "other-a.svg").write_text("another page's")
    assert [path.name for path in write_page(page.name, files, folder)] == ["made-up.md", "made-up-rates.svg"]
    assert sorted(path.name for path in folder.iterdir()) == [
        "made-up-other.svg", "made-up-rates.svg", "made-up.md", "other-a.svg",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("{{ speed }}", "'speed' is undefined"),
        ("{{ value('made-up', 'speed', size=1, kind='a') }}", "has no speed at size=1 kind=a: linklab study run"),
        ("{{ value('made-up', 'rate_mbps', size=1) }}", "say which kind: a, b"),
        ("{{ value('mtv', 'rate_mbps') }}", "no table of a study 'mtv'"),
        ("{{ grid('speed') }}", "no grid 'speed': rates"),
        ("{{ verdict('speed') }}", "no claim 'speed'"),
        ("{{ value( }}", "cannot be used"),
    ],
)
def test_what_is_not_there_is_one_line(page: Page, given: dict[str, StudyTable], template: str, says: str) -> None:
    page.template.write_text(template)
    with pytest.raises(MeasurementError, match=says) as caught:
        make_page(page, given)
    assert "\n" not in str(caught.value)


def test_two_pictures_of_one_name_are_refused(page: Page, given: dict[str, StudyTable]) -> None:
    other = Picture("rates", "Rates.", "another line", _draw)
    two = replace(page, figures={**page.figures, "other": lambda given: other})
    page.template.write_text("{{ figure('rates') }} {{ figure('other') }}")
    with pytest.raises(MeasurementError, match=r"two pictures of page made-up are called made-up-rates\.svg"):
        make_page(two, given)


def test_rows_of_another_length_are_refused() -> None:
    with pytest.raises(MeasurementError, match="1 cells for 2 columns"):
        Grid(("a", "b"), (("1",),))


def test_numbers_are_written_as_asked_for() -> None:
    assert [fixed(value, 2) for value in (9.5, -0.001, 0)] == ["9.50", "0.00", "0.00"]
    assert [significant(value) for value in (9.54321, 1234.0, -0.0)] == ["9.54", "1234", "0"]


def test_a_spread_shows_least_and_largest(page: Page) -> None:
    rows: list[tuple[dict[str, str | int | float], int, list[Measured]]] = [
        ({"size": 1, "kind": "a"}, repeat, [Measured("rate_mbps", 9 + repeat)]) for repeat in (1, 2, 3)
    ]
    page.template.write_text("{{ spread('made-up', 'rate_mbps') }}")
    files = make_page(page, {"made-up": tables.table(pretend.STUDY, rows)})
    assert files == {"made-up.md": "11 (10 to 12)\n"}


def test_the_values_of_few_settings_stand_upright() -> None:
    """A study of thirty metrics would else make a table that no page is wide enough for."""
    settings: list[dict[str, str | int | float]] = [{"size": size, "kind": "a"} for size in (1, 2)]
    study = replace(pretend.STUDY, factors={"size": (1, 2), "kind": ("a",)})
    one = tables.table(study, [(at, 1, [Measured("rate_mbps", 3.0)]) for at in settings])
    assert values_grid("made", {"made": one}).columns == ("size", "rate_mbps (Mbit/s)")
    more = replace(study, metrics=[replace(study.metrics[0], name=f"m{it}_mbps") for it in range(3)])
    each = [Measured(metric.name, 1.5) for metric in more.metrics]
    grid = values_grid("made", {"made": tables.table(more, [(at, 1, each) for at in settings])})
    assert grid.columns == ("metric", "1", "2")
    assert grid.rows[2] == ("m2_mbps (Mbit/s)", "1.5", "1.5")
