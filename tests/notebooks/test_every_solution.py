"""The solutions: run anew they show what they store, and what they store is what their text says."""

from __future__ import annotations

import itertools
import re

import pytest

from linklab.classroom.validate import notebooks_of, validate
from linklab.runtime.backends import Kind
from tests.notebooks.run_notebook import ROOT, read, shown

NAMES = [path.stem for path in notebooks_of(ROOT)]
SMALL = ("00", "01")


@pytest.mark.lab
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name[:2] in SMALL else pytest.mark.large) for name in NAMES]
)
def test_each_cell_passes_and_shows_what_is_stored(name: str, virtual: Kind) -> None:
    (found,) = validate(notebooks_of(ROOT, [name]), {"": None}, jobs=1)
    assert found.failures == ()
    assert found.fine


def test_lab_00_shows_a_full_queue_that_takes_as_long_as_it_says() -> None:
    solution = read("solutions/00-start-here.ipynb")
    first_ms, *others_ms = (float(time) for time in re.findall(r"time=([\d.]+) ms", shown(solution, "queue")))
    assert first_ms == pytest.approx(20, abs=0.1)
    assert len(others_ms) == 9
    # 50 frames of 1514 bytes at 10 Mbit/s and the delay of the way back, less the swing of TCP's window.
    assert 45 < min(others_ms) <= max(others_ms) < 60.6 + 10 + 1


def test_lab_02_shows_what_its_text_says() -> None:
    solution = read("solutions/02-simpleperf.ipynb")
    line = r"10\.0\.0\.2:\d+: [\d.]+ to [\d.]+"
    assert re.search(rf"Throughput over time, in Mbit/s\. {line}\. Means", shown(solution, "intervals-try"))
    assert re.search(rf"in Mbit/s\. {line}; {line}; {line}\. Means", shown(solution, "parallel-try"))
    without, with_option = (
        int(line.split()[-2]) for line in shown(solution, "nagle").splitlines() if line.startswith("b'ACK")
    )
    # one round trip of 60 ms more, and the few ms in which the server looks whether data follows
    assert with_option in range(60, 80)
    assert without - with_option in range(58, 63)
    assert shown(solution, "restart-try").count("Mbps") == 7
    assert "ended early" in shown(solution, "restart-try")
    assert shown(solution, "arguments-try").count("Error: ") == 8
    assert "Traceback" not in str(solution)


def test_lab_03_shows_what_its_text_says() -> None:
    solution = read("solutions/03-udp-bandwidth.ipynb")
    lost, dropped = (int(re.findall(form, shown(solution, cell))[-1]) for form, cell in (
        (r"(\d+)/\d+ \(\d+%\)  receiver", "answer-client"), (r"dropped (\d+)", "answer-drops")
    ))  # fmt: skip
    # what is dropped behind the last datagram that arrives, iperf3's server cannot know
    assert 900 < lost <= dropped < lost + 10, "all is lost in one queue"
    hidden = int(re.findall(r"\d+", shown(solution, "answer-hidden"))[-1])
    assert 73 - hidden in range(45, 56), "some 50 can wait"
    capacity, free, train = map(float, re.findall(r"[\d.]+\d", shown(solution, "busy")))
    assert 1.2 * free < train < 0.9 * capacity, "a train shows neither where others send"
    losses = [float(it) for it in re.findall(r"([\d.]+) % lost", shown(solution, "sweep"))]
    assert losses[:4] == [0, 0, 0, 0], "below the line of theory all arrives"
    assert 0 < losses[4] < 2.8, "less is lost at 30 than predicted"
    assert losses[4] < losses[5] < losses[6]
    taken_mb = {
        cell: float(re.findall(r"([\d.]+) MB sent", shown(solution, cell))[-1]) for cell in ("plain", "find-try")
    }
    assert taken_mb["find-try"] < taken_mb["plain"] / 2


def test_lab_04_shows_what_its_text_says() -> None:
    solution = read("solutions/04-link-latency.ipynb")
    assert "rtt min/avg/max/mdev = 20.000/20.000/20.000/0.000 ms" in shown(solution, "answer-parsed")
    assert "'mean': 20.8, 'max': 40.0, 'mdev': 3.919" in shown(solution, "arp-try")
    assert "[40.0, 20.0" in shown(solution, "arp-try")
    assert "Measuring with your own simpleperf.py." in shown(solution, "answer-transfers")
    assert "as theory says" in shown(solution, "check-transfers")
    assert "limit 67 delay 10ms" in shown(solution, "answer-counters")
    seen = shown(solution, "queue-figure")
    assert "20.0 to 30." in seen
    assert "with a full queue it is 30.3 ms" in seen
    assert "Your sketch: 20 at 0" in seen


def test_lab_05_shows_what_its_text_says() -> None:
    solution = read("solutions/05-path-latency.ipynb")
    assert "60.0 to 80." in shown(solution, "answer-together")
    assert "4  10.0.6.2  80.000 ms" in shown(solution, "answer-route")
    assert "passed: windows of h1-h9" in shown(solution, "check-windows")
    assert "BDP 132, room 16 packets" in shown(solution, "answer-bdp")
    dropped = shown(solution, "dropped")
    assert "('h7-h9', 0, 0, " in dropped, "the queue that overflows is L3's"
    assert "('h1-h9', 0, 0, " in dropped
    assert "('h1-h4', 0," not in dropped, "the start overflows L1 as well"


def test_lab_06_shows_what_its_text_says() -> None:
    solution = read("solutions/06-multiplexing.ipynb")
    assert "Measuring with your own simpleperf.py." in shown(solution, "imports")
    assert "with a full queue it is 80.4 ms" in shown(solution, "answer-runs")
    assert "Your sketch: 60 at 0" in shown(solution, "answer-runs")
    looks = re.findall(r"\(([\d.]+), ([\d.]+), (\d+), \d+\)", shown(solution, "answer-look"))
    assert len(looks) >= 4, "a full queue drops a ping now and then"
    # tc looks when the answer is back, 30 ms after the ping was in the queue: windows grow by 1 to 10 packets meanwhile
    # (and after a loss the queue drains)
    apart = sorted(abs(float(told) - int(held)) for _, told, held in looks)
    assert apart[-2] < 11, "an RTT tells how many packets there are"
    half, whole = [
        tuple(map(float, row.split(", "))) for row in re.findall(r"\((\d+, [\d., ]+)\)", shown(solution, "answer-half"))
    ]
    assert (half[0], whole[0]) == (50, 100)
    assert half[4] < 0.8 * whole[4], "a queue without room wastes the link"
    assert half[3] < 61 < whole[3] < 81


def test_lab_07_shows_what_its_text_says() -> None:
    solution = read("solutions/07-parallel-connections.ipynb")
    table = shown(solution, "fairness-table")
    found = re.findall(r"\('([^']+)', '([\d.]+)', '([\d.]+)'\)", table)
    rows = {name: (float(one), float(host)) for name, one, host in found}
    single = [values for name, values in rows.items() if name.startswith("run ")]
    assert len(single) == 4
    hosts = [host for _, host in single]
    assert max(hosts) - min(hosts) > 0.02, "in a single run chance decides much"
    per_connection, per_host = rows["mean throughput of all 4"]
    assert per_connection > 0.96
    assert per_host == pytest.approx(8 / 9, abs=0.05), "of four runs that scatter by more than 0.02"
    assert rows["report"] == (0.990, 0.916)


def test_lab_08_shows_what_its_text_says() -> None:
    solution = read("solutions/08-packet-size.ipynb")
    assert "Message too long" in shown(solution, "answer-ping")
    assert "Your sketch: 5.6 at 100" in shown(solution, "answer-waste")
    assert "cburst 1600b" in shown(solution, "answer-first")
    assert "largest jitter: 0.0000 ms" in shown(solution, "paced")
    rows = re.findall(r"\((1518|4370|7999), ([^)]*), 1600\)", shown(solution, "calm-figure"))
    found = {int(size): [float(it) for it in values.split(", ")] for size, values in rows}
    assert set(found) == {1518, 4370, 7999}, "the bucket is 1600 bytes at every size"
    assert all(values[2] > 12 > 10.04 > values[3] > 10 for values in found.values())
    assert [values[1] for values in found.values()] == [20.8, 31.5, 23]
    assert "1552 bytes (Ethernet 14, IPv4 20, GRE 4, Ethernet 14" in shown(solution, "answer-overhead")
    untold = shown(solution, "answer-hole")
    assert "2 packets transmitted, 0 received" in untold
    assert "2 packets transmitted, 2 received" in untold
    assert "From" not in untold, "a switch tells nobody"
    told = shown(solution, "answer-narrow")
    assert re.search(r"flags \[\+\].*offset 1376", told, re.DOTALL), "the router has cut the packet"
    assert "Frag needed and DF set (mtu = 1400)" in told
    assert re.search(r"cache .*mtu 1400", told)


def test_lab_09_shows_what_its_text_says() -> None:
    solution = read("solutions/09-video.ipynb")
    spacing = shown(solution, "spacing-table")
    (numbers,) = re.findall(r"\('least time at 2 Mbit/s \(ms\)', ([\d., ]+)\)", spacing)
    predicted, theory, real, mininet, wan, frame = map(float, numbers.split(", "))
    assert predicted == theory == pytest.approx(5.48)
    assert (real, mininet) == (5.41, 1.69)
    assert wan < real < frame, "the difference is the token bucket's"
    assert frame == pytest.approx(5.48, abs=0.01)
    loss, queue = re.findall(r"\('(?:loss|queue)', '(\d+) of \d+', ([\d.]+), ([\d.]+)", shown(solution, "qualities"))
    assert float(loss[2]) > 40, "1 % of lost packets damage most of the pictures"
    assert 0 < float(queue[2]) < float(loss[2]) < 100
    means = re.findall(
        r"\('bandwidth \(kbit/s\), gigabit', 'mean', '1337.26', '1341.95', '(\d+)'\)", shown(solution, "study-table")
    )
    (predicted_kbps,) = re.findall(r"'ip_kbps', ([\d.]+)\)", shown(solution, "answer-packets"))
    assert float(means[0]) > 1.05 * float(predicted_kbps), "a mean over packets counts busy seconds more often"


def test_lab_10_shows_what_its_text_says() -> None:
    solution = read("solutions/10-switches.ipynb")
    seen = re.findall(r"vlan (\d+),.*ttl (\d+),.*\n.*echo request", shown(solution, "answer-tags"))
    assert seen == [("10", "64"), ("20", "63")], "it comes in with one tag and leaves with the other, routed"
    assert "vlan protocol 802.1Q id 10" in shown(solution, "answer-tags")
    ends = dict(re.findall(r"(plain|ticking cards): ([\d.]+ to [\d.]+)[.;]", shown(solution, "flat")))
    least, most = (float(it) for it in ends["plain"].split(" to "))
    # 1340 bytes more, serialised four times at 100 Mbit/s
    assert most - least == pytest.approx(0.428, abs=0.002), "serialisation grows with every byte"
    assert ends["ticking cards"] == "0.25 to 0.75", "a whole number of ticks"
    rows = re.findall(r"\('([\d/]+ h\d)', ([\d.]+), '[^']+', ([\d.]+), ([\d.]+)\)", shown(solution, "step"))
    shares = {name: tuple(map(float, numbers)) for name, *numbers in rows}
    assert len(shares) == 4
    for theory, loose, _ in shares.values():
        assert loose == pytest.approx(theory, rel=0.25), "out of step, near proportion"
    assert shares["30/90 h1"][2] == pytest.approx(3, rel=0.01), "in step h1 loses nothing"
    alike = [shares[f"70/70 {host}"][2] for host in ("h1", "h2")]
    assert max(alike) == pytest.approx(7, rel=0.01), "of two alike it is always the same who finds the place"


def test_lab_11_shows_what_its_text_says() -> None:
    solution = read("solutions/11-congestion-control.ipynb")
    assert "path and queue full: 133" in shown(solution, "answer-tracks")
    table = shown(solution, "controls-figure")
    shown_gaps = re.split(r"\('cubic', '[\d.]+ to [\d.]+', '", table)[1].split("'")[0]
    gaps = [float(gap) for gap in re.findall(r"[\d.]+", shown_gaps)]
    assert len(gaps) >= 4, "a short and a long time in turn"
    assert all(abs(one - two) > 4 for one, two in itertools.pairwise(gaps))
    assert "'no losses'" in table
    queues = [
        [float(number) for number in row.split(", ")]
        for row in re.findall(r"\((\d+, [\d., ]+)\)", shown(solution, "queues-figure"))
    ]
    assert [row[0] for row in queues] == [20, 100, 1000]
    assert max(row[5] for row in queues) < 1.01 * min(row[5] for row in queues), "all three give nearly the same"
    assert queues[2][3] > 18 * queues[0][3]
    ratios = dict(
        re.findall(r"\('(\w+)', 'h1-h3[^']*', '[^']*', ([\d.]+), '[\d.]+'\)", shown(solution, "answer-together"))
    )
    assert float(ratios["reno"]) > 3, "the short round trip gets several times as much"
    assert float(ratios["bbr"]) < 0.5, "and with BBR the long one"


def test_lab_12_shows_what_its_text_says() -> None:
    solution = read("solutions/12-queue-management.ipynb")
    rows = {
        name: [float(number) for number in re.findall(r"[\d.]+", rest)]
        for name, rest in re.findall(r"\('([\w ]+)', '[\w]+', ([^)]*)\)", shown(solution, "all-figure"))
    }
    assert set(rows) == {"long", "pfifo", "red", "codel", "fq_codel", "cake", "marks"}
    rate, used, mean, _, highest, page, again, marked = range(8)
    assert {row[rate] for row in rows.values()} == {10}
    assert min(row[used] for row in rows.values()) > 95
    assert rows["long"][page] > 8, "a page takes 10 s or so"
    assert max(rows[name][mean] for name in ("fq_codel", "cake", "marks")) < 22
    assert max(row[highest] for name, row in rows.items() if name != "long") < 41
    assert (rows["marks"][again], rows["fq_codel"][marked]) == (0, 0)
    assert rows["marks"][marked] > 10


def test_lab_13_shows_what_its_text_says() -> None:
    solution = read("solutions/13-reliable-transport.ipynb")
    assert re.search(r"2000 packets transmitted, 1(8[6-9]|9[0-3])\d received", shown(solution, "answer-netem"))
    assert "noqueue" in shown(solution, "answer-bits")
    assert "7 datagrams of the sender, 0 of them repeats, and 7 answers" in shown(solution, "stop-and-wait-try")
    assert "3 of them repeats, and 9 answers" in shown(solution, "lost-try"), "one repeat for each of three losses"
    assert "6 of them repeats" in shown(solution, "timeouts-try"), "0.1, 0.2 ... 3.2 s cover five seconds"
    assert "8 datagrams of the sender, 1 of them repeats" in shown(solution, "timeouts-try")
    shares = re.search(r"Seen: (.*)\.", shown(solution, "window-try"))
    assert shares is not None
    found = {int(window): int(share) for share, window in re.findall(r"(\d+) % with (\d+)", shares[1])}
    assert set(found) == {1, 2, 4, 8, 12, 20}
    theory = {1: 9.6, 2: 19.3, 4: 38.5, 8: 77.1, 12: 100, 20: 100}
    assert found == {window: pytest.approx(share, rel=0.06) for window, share in theory.items()}
    lossy = re.search(r"Seen: (\d+) % with 32", shown(solution, "loss-try"))
    assert lossy is not None
    assert 70 < int(lossy[1]) < 96
