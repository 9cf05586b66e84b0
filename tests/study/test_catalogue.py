"""Studies of one's own from a terminal, with no source edited: levels, files, hardware's numbers, captures."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.utils import wrpcap

from linklab.cli import main
from linklab.errors import MeasurementError
from linklab.measure import Capture
from linklab.published import Claim
from linklab.study import Measured, Point, catalogue, run, studies
from linklab.study.catalogue import selection, with_own_levels
from linklab.study.claims import Claims, Finding, Tables, compared
from linklab.study.runner import definition, definition_of

from . import pretend


def spacing(point: Point, sent: Path, received: Path) -> list[Measured]:
    """The rate between the first and the last packet that arrived, and the gap between the first two that left."""
    left, arrived = (Capture("a test", path.name, path.read_bytes()).packets for path in (sent, received))
    times_s = [float(packet.time) for packet in arrived]
    if len(times_s) < 2:
        raise MeasurementError(f"{len(times_s)} packets arrived: two are needed")
    bits = 8 * sum(len(packet) for packet in arrived[1:])
    gap_ms = 1000 * (float(left[1].time) - float(left[0].time))
    return [
        Measured("rate_mbps", bits / (times_s[-1] - times_s[0]) / 1e6),
        Measured("gap_ms", gap_ms, of="h1-h2", number=1),
    ]


STUDY = replace(pretend.STUDY, from_captures=spacing)
PAGE = """\
# %% [markdown]
# # Made up

# %%
from linklab.study.notebook import open_page
from linklab.study.page import say
from tests.study.test_catalogue import CLAIMS, STUDY

page = open_page("made-up", [STUDY], CLAIMS)
say(page.claims(), page.provenance())
"""


def fast(tables: Tables) -> Finding:
    rate_mbps = tables["made-up"].lookup("rate_mbps", size=3, kind="a").same
    return Finding(rate_mbps >= 1, f"{rate_mbps:g} Mbit/s")


def slower(tables: Tables) -> Finding:
    real, ours = (tables[name].lookup("rate_mbps", size=3, kind="a").mean for name in ("made-up", compared("made-up")))
    return Finding(real < ours, f"{real:g} against {ours:g} Mbit/s")


CLAIMS = Claims(
    (
        Claim("fast", "It is fast.", "V", "either", "rate_mbps"),
        Claim("real", "The real one is slower.", "V", "hardware", "needs the real one"),
    ),
    {"fast": fast, "real": slower},
)


@pytest.fixture
def here(pretended: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with the study and its page in the catalogue."""
    page = tmp_path / "page.py"
    page.write_text(PAGE)
    found = {**studies(), "made-up": STUDY}
    monkeypatch.setattr(catalogue, "studies", lambda: found)
    monkeypatch.setattr(catalogue, "pages", lambda: {"made-up": page})
    monkeypatch.setattr(catalogue, "claims_about", lambda study: CLAIMS if study == STUDY else Claims())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What a command says that is refused in one line."""
    capsys.readouterr()
    assert main(["study", *words]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said


def test_levels_of_ones_own_have_a_folder_and_a_page_of_their_own(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["study", "run", "made-up"]) == 0
    published = (here / "study-results/made-up/made-up.csv").read_bytes()
    own = ["made-up", "--set", "size=9018,0.5", "kind=a"]
    assert main(["study", "run", *own]) == 0
    (name,) = (path.name for path in (here / "study-results").glob("made-up-own-*"))
    assert re.fullmatch("made-up-own-9018-0-5-a-[0-9a-f]{6}", name)
    with (here / f"study-results/{name}/{name}.csv").open() as file:
        assert {row["size"] for row in csv.DictReader(file)} == {"9018", "0.5"}
    assert (here / "study-results/made-up/made-up.csv").read_bytes() == published
    capsys.readouterr()
    assert main(["study", "page", *own]) == 0
    assert capsys.readouterr().out == f"page: study-results/pages/{name}-values.md, with 1 picture\n"
    text = (here / f"study-results/pages/{name}-values.md").read_text()
    assert "| 9018 | h1-h2 |" not in text  # a series is no single value
    assert "| 9018 | 3006 |" in text
    assert f"![gap_ms (ms): 9018 h1-h2: 1288 to 1289; 0.5 h1-h2: 0.07143 to 1.071]({name}-values-gap-ms.svg)" in text
    assert "It is fast. (V) | either | not testable here | the table of study made-up-own" in text
    assert "linklab study run made-up --set size=9018,0.5 --set kind=a" in text
    assert "It is fast. (V) | either | reproduced | 1 Mbit/s" in page_of_all(capsys)


def page_of_all(capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["study", "page"]) == 0
    return Path("docs/studies/made-up.md").read_text()


def test_where_every_point_failed_there_is_no_page(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pretend.FAIL_AT.update({(9018, 1), (9018, 2)})
    own = ["made-up", "--set", "size=9018"]
    assert main(["study", "run", *own]) == 1
    assert re.search(
        "made-up-own-9018-[0-9a-f]{6} has no rows, since all points failed", refused(["page", *own], capsys)
    )


def test_the_documents_name_the_folder_of_their_example() -> None:
    text = (Path(__file__).parents[2] / "docs" / "studies" / "your-own.md").read_text("utf-8")
    (command,) = re.findall(r"^linklab study run mtu --set (frame_bytes=.*)$", text, re.MULTILINE)
    assert f"`{with_own_levels(studies()['mtu'], selection(command.split(), '--set')).name}`" in text


def test_levels_of_other_factors_are_another_study() -> None:
    study = replace(pretend.STUDY, factors={"size": (1, 2), "packets": (200,)})
    one, same, swapped, longer = (
        with_own_levels(study, settings).name
        for settings in (
            {"size": ["7"], "packets": ["9"]},
            {"packets": ["9"], "size": ["7"]},
            {"packets": ["7"], "size": ["9"]},
            {"size": ["7", "9"]},
        )
    )
    assert one == same
    assert len({one, swapped, longer}) == 3


def test_a_level_that_the_study_leaves_out_is_said() -> None:
    study = replace(pretend.STUDY, belongs=lambda point: (point["size"], point["kind"]) != (7, "a"))
    with pytest.raises(MeasurementError, match="leaves out every combination with size=7"):
        with_own_levels(study, {"size": ["2", "7"], "kind": ["a"]})
    assert len(with_own_levels(study, {"size": ["2", "7"]}).points()) == 6


def test_a_level_may_be_a_file_and_another_content_is_another_study(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = replace(pretend.STUDY, files=("kind",))
    with pytest.raises(MeasurementError, match=r"kind is 'my.mp4': no such file here; say one, or a, b"):
        with_own_levels(study, {"kind": ["my.mp4"]})
    Path("my.mp4").write_bytes(b"one")
    own = with_own_levels(study, {"kind": ["my.mp4"]})
    before = definition_of(own, own.points()[0], definition(own))
    Path("my.mp4").write_bytes(b"two")
    assert definition_of(own, own.points()[0], definition(own)) != before
    with pytest.raises(MeasurementError, match="has files for a factor 'video'"):
        replace(study, files=("video",))


OWN_STUDY = """
from linklab.study import Measured, Metric, Study
from helper import FACTOR

def measure(lab, point):
    return [Measured("rate_mbps", FACTOR * point.number("size"))]

MINE = Study("mine", "My own", "two-hosts", {"size": (1, 2)}, measure, (Metric("rate_mbps", "Mbit/s", "a rate"),))
NUMBER = 7
"""


def test_a_study_in_a_file_is_run_and_has_a_page(here: Path) -> None:
    (here / "own").mkdir()
    Path("own/mine.py").write_text(OWN_STUDY)
    Path("own/helper.py").write_text("FACTOR = 21\n")
    assert main(["study", "show", "own/mine.py:MINE"]) == 0
    assert main(["study", "run", "own/mine.py:MINE", "--set", "size=2,5"]) == 0
    assert main(["study", "page", "own/mine.py:MINE", "--set", "size=2,5"]) == 0
    (path,) = Path("study-results/pages").glob("mine-own-2-5-*.md")
    text = path.read_text()
    assert "| 5 | 105 |" in text
    assert "`linklab study run own/mine.py:MINE --set size=2,5`" in text


def test_a_page_in_a_file_names_the_study_that_it_lacks(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("paged.py").write_text(OWN_STUDY.replace("from helper import FACTOR", "FACTOR = 2"))
    Path("mine_page.py").write_text(
        "# %% [markdown]\n# # My page\n\n# %%\nfrom paged import MINE\n\nfrom linklab.study.notebook import open_page\n"
        "from linklab.study.page import say\n\npage = open_page('mine', [MINE])\n"
        "say(f\"{page['mine'].lookup('rate_mbps', size=2).mean:.1f} Mbit/s\")\n"
    )
    assert "study-results has no table mine.csv: linklab study run paged.py:MINE" in refused(
        ["page", "mine_page.py"], capsys
    )
    assert main(["study", "run", "paged.py:MINE"]) == 0
    assert main(["study", "page", "mine_page.py"]) == 0
    assert main(["study", "page", "paged.py:MINE"]) == 0  # all values, beside the page that somebody wrote
    assert Path("study-results/pages/mine.md").read_text() == "# My page\n\n4.0 Mbit/s\n"


def fill_in(rate_mbps: dict[str, str], **columns: str) -> str:
    """The study's template with some values, as a researcher would fill it in."""
    assert main(["study", "template", "made-up", "--output", "mine.csv"]) == 0
    rows = list(csv.DictReader(Path("mine.csv").read_text().splitlines()))
    for row in rows:
        if row["metric"] == "rate_mbps" and row["kind"] == "a" and row["repeat"] == "1":
            row |= {"value": rate_mbps.get(row["size"], ""), **columns}
    with Path("mine.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return "mine.csv"


def test_numbers_of_ones_own_hardware_stand_next_to_ours_and_judge_its_claims(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(STUDY, here / "study-results/made-up")
    fill_in({"3": "0.9", "1": "0.5"})
    with Path("mine.csv").open("a") as file:
        file.write("9018,a,1,,,rate_mbps,3000,Mbit/s\n")
        file.writelines(f"1,a,1,h1-h2,{number},gap_ms,{number + 1},ms\n" for number in (0, 1))
    assert "| hardware | not testable here | needs the real one |" in page_of_all(capsys)
    assert main(["study", "page", "made-up", "--beside", "mine.csv"]) == 0
    text = Path("study-results/pages/made-up.md").read_text()
    assert "| hardware | reproduced | by the hardware's numbers: 0.9 against 1 Mbit/s |" in text
    by_theirs = "by the hardware's numbers not reproduced: 0.9 Mbit/s"
    assert f"It is fast. (V) | either | reproduced | 1 Mbit/s; {by_theirs} |" in text
    assert "## Compared with mine.csv" in text
    assert "| rate_mbps (Mbit/s) | size=3 kind=a | 0.9 | 1 | -10.0 % |" in text
    assert "| rate_mbps (Mbit/s) | size=9018 kind=a | 3000 | not measured | - |" in text
    series = "given, 1 a h1-h2: 1 to 2; ours, 1 a h1-h2: 0.1429 to 1.143](made-up-compared-gap-ms.svg)"
    assert series in text
    assert "mine.csv" in text.split("| table |")[1]
    fill_in({"1": "1.1"})
    assert main(["study", "page", "made-up", "--beside", "made-up=mine.csv"]) == 0
    assert "the hardware's numbers do not suffice: the table of" in Path("study-results/pages/made-up.md").read_text()


def import_words() -> list[str]:
    """Two captures, five packets each 1 and 2 ms apart, and the command that adds them to mine.csv."""
    for name, gap_s in (("a.pcap", 0.001), ("b.pcap", 0.002)):
        packets = [Ether() / IP() / UDP() / bytes(958) for _ in range(5)]
        for number, packet in enumerate(packets):
            packet.time = 1000 + number * gap_s
        wrpcap(name, packets)
    return ["import", "made-up", "--sent", "a.pcap", "--received", "b.pcap", "--output", "mine.csv", "--set", "kind=a"]


def test_captures_of_a_test_of_ones_own_become_rows(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = import_words()
    assert main(["study", *words, "size=3"]) == 0
    assert main(["study", *words, "size=3"]) == 0
    assert "2 rows more, as repeat 2" in capsys.readouterr().out
    rows = list(csv.DictReader(Path("mine.csv").read_text().splitlines()))
    assert [(row["size"], row["repeat"], row["metric"], row["number"]) for row in rows] == [
        ("3", repeat, metric, number) for repeat in "12" for metric, number in (("rate_mbps", ""), ("gap_ms", "1"))
    ]
    assert [float(row["value"]) for row in rows[:2]] == pytest.approx([4.0, 1.0], rel=1e-4)
    run(STUDY, here / "study-results/made-up")
    assert main(["study", "page", "made-up", "--beside", "mine.csv"]) == 0
    assert "| hardware | not reproduced | by the hardware's numbers: 4 against 1" in Path(
        "study-results/pages/made-up.md"
    ).read_text().replace("4.00000", "4")


def test_what_a_researcher_wrote_stays_when_captures_are_added(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = import_words()
    assert main(["study", "template", "made-up", "--output", "mine.csv"]) == 0
    empty = Path("mine.csv").read_text()
    assert main(["study", *words, "size=3"]) == 0
    assert "as repeat 1" in capsys.readouterr().out
    assert Path("mine.csv").read_text().startswith(empty)
    # as a spreadsheet writes it: other order of columns, another line ending, none at the end
    columns = "value,unit,metric,number,of,repeat,kind,size"
    mine = f"\ufeff{columns}\r\n0.5,Mbit/s,rate_mbps,,,4,a,3\r\n,Mbit/s,rate_mbps,,,5,a,3"
    Path("mine.csv").write_bytes(mine.encode())
    assert main(["study", *words, "size=3"]) == 0
    after = Path("mine.csv").read_bytes().decode()
    assert after.startswith(mine + "\r\n")
    assert after.count("\r\n") == after.count("\n") == 5
    assert after.splitlines()[-1].endswith(",ms,gap_ms,1,h1-h2,5,a,3")
    Path("mine.csv").write_text("colour,value\nred,1\n")
    assert "has the columns colour,value" in refused([*words, "size=3"], capsys)
    assert Path("mine.csv").read_text() == "colour,value\nred,1\n"
    Path("mine.csv").write_text("")
    assert main(["study", *words, "size=3"]) == 0
    assert len(Path("mine.csv").read_text().splitlines()) == 3


def test_tables_are_kept_compressed_and_pages_are_made_of_them(here: Path) -> None:
    run(STUDY, here / "study-results/made-up")
    assert main(["study", "keep", "made-up"]) == 0
    first = {path.name: path.read_bytes() for path in Path("docs/studies/data").iterdir()}
    assert set(first) == {"made-up.csv.xz", "made-up.json", "made-up.run.json"}
    assert main(["study", "keep", "made-up", "--output", "again"]) == 0
    assert {path.name: path.read_bytes() for path in Path("again").iterdir()} == first
    for tables, folder in (("study-results", "one"), ("docs/studies/data", "two")):
        assert main(["study", "page", "--from", tables, "--output", folder]) == 0
    one, two = (Path(folder, "made-up.md").read_text() for folder in ("one", "two"))
    assert one == two


HEADER = "size,kind,repeat,of,number,metric,value,unit\n"
ROW = HEADER + "1,a,1,,,rate_mbps,0.5,Mbit/s\n"
BESIDE = "page made-up --beside mine.csv"
IMPORT = "import made-up --sent a.pcap --received b.pcap --output mine.csv --set kind=a"


@pytest.mark.parametrize(
    ("command", "mine", "says"),
    [
        ("show mtv", "", "no study is called 'mtv': choose one of"),
        ("page mtv", "", "no page is called 'mtv': choose one of made-up, or a study"),
        ("run made-up --set colour=red", "", "has no factor 'colour': choose one of size, kind"),
        ("run made-up --set size=big", "", "size is 'big', which is no number: its levels are like 1, 2, 3"),
        ("run made-up --set size", "", "--set size names no level"),
        ("run made-up --set size=1,,2", "", "names no level"),
        ("run made-up --only size", "", "write --only FACTOR=LEVEL"),
        ("run mtu --only rates=100/10 --only sending=greedy", "", "no point with rates=100/10 sending"),
        ("run made-up --output /proc/linklab", "", "/proc/linklab cannot be written to"),
        ("run other.py:MINE", "", "other.py is not there"),
        ("run mine.py:YOURS", "", "mine.py has no 'YOURS': its studies are MINE"),
        ("run mine.py", "", "mine.py is a file: name a study in it, mine.py:MINE"),
        ("run wrong.py", "", "wrong.py fails: ModuleNotFoundError: No module named"),
        ("run queue.py:MINE", "", "queue.py has the name of Python's own module queue: rename the file"),
        ("page queue.py", "", "queue.py has the name of Python's own module queue: rename the file"),
        ("run mine.py:NUMBER", "", "is a int and no linklab.study.Study"),
        ("run wrong.py:MINE", "", "wrong.py fails: ModuleNotFoundError: No module named"),
        ("page wrong.py", "", "wrong.py is no page: none of its cells calls open_page"),
        ("page page.py --set size=2", "", "--set gives levels to a study"),
        (BESIDE, ROW.replace("rate_mbps", "speed"), "row 2: 'speed' is no metric of study made-up: rate_mbps, gap_ms"),
        (BESIDE, ROW.replace("Mbit/s", "kbit/s"), "row 2: the unit of rate_mbps is 'Mbit/s' and not 'kbit/s'"),
        (BESIDE, ROW.replace(",Mbit/s", ""), "row 2: the unit of rate_mbps is"),
        (BESIDE, ROW.replace("0.5", "fast"), "row 2: value is 'fast', which is no finite number"),
        (BESIDE, ROW.replace("a,1", "a,0"), "row 2: repeat is '0', which is no whole number above 0"),
        (BESIDE, ROW.replace(",,rate", ",1.5,rate"), "row 2: number is '1.5'"),
        (BESIDE, ROW.replace("1,a", "large,a"), "row 2: size is 'large', which is no number: its levels are like 1"),
        (BESIDE, ROW.replace("1,a", "1,"), "row 2: kind is ''"),
        (BESIDE, ROW + ROW.removeprefix(HEADER), "row 3: the same as row 2: give it another repeat"),
        (BESIDE, "a,b\n1,2\n", f"has the columns a,b and not those of made-up: {HEADER.strip()}"),
        (BESIDE, "", "has the columns (none)"),
        (BESIDE, HEADER, "has no row with a value"),
        (BESIDE.replace("mine", "none"), "", "none.csv cannot be read"),
        (f"{BESIDE} --beside ./mine.csv", ROW, "are both of study made-up: put their rows into one file"),
        (IMPORT, "", "say which size the captures are of: --set size=LEVEL"),
        (f"{IMPORT} size=3", "", "the capture on a.pcap cannot be read"),
        (f"{IMPORT} size=3 --sent none.pcap", "", "none.pcap is not there"),
        (IMPORT.replace("made-up", "burst"), "", "does not say how to read captures"),
    ],
)
def test_a_mistake_is_one_line(
    here: Path, command: str, mine: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if command.startswith("page"):
        run(STUDY, here / "study-results/made-up")
    started = len(pretend.STARTED)
    for name, text in {
        "mine.csv": mine,
        "mine.py": OWN_STUDY.replace("from helper import FACTOR", "FACTOR = 2"),
        "wrong.py": "import nothing_like_it\n",
        "queue.py": "",
        "a.pcap": "no capture at all, by no means",
        "b.pcap": "",
    }.items():
        Path(name).write_text(text)
    assert says in refused(command.split(), capsys)
    assert len(pretend.STARTED) == started
