"""The reference's transfers over loopback: amounts, times, intervals, parallel connections, both ends' numbers."""

from __future__ import annotations

import re
import signal
import subprocess
from itertools import groupby
from pathlib import Path

import pytest

from .runner import LOOPBACK, PATIENCE_S, REFERENCE, Row, Server, command, environment, rows, run_client


def _agree(client: list[Row], server: list[Row]) -> None:
    """Asserts that each connection has one row at each end, with the same bytes."""
    assert {row.name: row.amount for row in client} == {row.name: row.amount for row in server}
    assert len(client) == len(server)


def test_what_both_ends_print(tmp_path: Path) -> None:
    with Server(REFERENCE, tmp_path, "-f", "KB") as server:
        done = run_client(REFERENCE, server.port, "-n", "3MB", "-f", "KB")
        (row,) = server.wait_for_rows(1)
        assert done.returncode == 0
        assert done.stderr == ""
        lines = done.stdout.splitlines()
        title = f"A simpleperf client connecting to server {LOOPBACK}, port {server.port}"
        assert lines[:3] == ["-" * len(title), title, "-" * len(title)]
        assert lines[3] == f"Client connected with {LOOPBACK} port {server.port}"
        assert lines[4].split() == ["ID", "Interval", "Transfer", "Bandwidth"]
        assert len(lines) == 6
        lines = server.output.splitlines()
        assert lines[1] == f"A simpleperf server is listening on port {server.port}"
        assert lines[3] == f"A simpleperf client with {row.name} is connected with {LOOPBACK}:{server.port}"
        assert lines[4].split() == ["ID", "Interval", "Received", "Rate"]
        _agree(rows(done.stdout), [row])
        assert (row.amount, row.unit) == (3000, "KB")
        assert server.errors == ""


@pytest.mark.parametrize(
    ("amount", "count"),
    [("500B", 500), ("1B", 1), ("1000B", 1000), ("1001B", 1001), ("7KB", 7000), ("10MB", 10_000_000)],
)
def test_an_amount_is_sent_to_the_byte(tmp_path: Path, amount: str, count: int) -> None:
    with Server(REFERENCE, tmp_path, "-f", "B") as server:
        done = run_client(REFERENCE, server.port, "-n", amount, "-f", "B", "-t", "1")
        received = server.wait_for_rows(1)
    assert done.returncode == 0
    _agree(rows(done.stdout), received)
    assert received[0].amount == count


def test_a_time_is_kept_in_whole_chunks(tmp_path: Path) -> None:
    with Server(REFERENCE, tmp_path, "-f", "B") as server:
        done = run_client(REFERENCE, server.port, "-t", "1", "-f", "B")
        received = server.wait_for_rows(1)
    (sent,) = rows(done.stdout)
    _agree([sent], received)
    assert sent.amount > 0
    assert sent.amount % 1000 == 0
    assert sent.start_s == 0.0
    assert sent.end_s >= 1.0  # the acknowledgement comes after the time is up, never before
    # The printed time is rounded to 0.1 s, so the rate that follows from it may differ by as much.
    low, high = (sent.amount * 8e-6 / (sent.end_s + change_s) for change_s in (0.051, -0.051))
    assert low <= sent.rate_mbps <= high


@pytest.mark.large
@pytest.mark.parametrize(("parallel", "unit"), [(1, "MB"), (3, "B")])
def test_intervals_add_up(tmp_path: Path, parallel: int, unit: str) -> None:
    with Server(REFERENCE, tmp_path, "-f", unit) as server:
        done = run_client(REFERENCE, server.port, "-t", "3", "-i", "1", "-f", unit, "-P", str(parallel))
        received = server.wait_for_rows(parallel)
    assert done.returncode == 0
    before, dashes, after = re.split(r"^(-+)$", done.stdout.partition("Bandwidth")[2], flags=re.MULTILINE)
    assert len(dashes) > 40
    totals = {row.name: row for row in rows(after)}
    assert len(totals) == parallel
    _agree(list(totals.values()), received)

    found = sorted(rows(before), key=lambda row: row.name)
    for name, group in groupby(found, key=lambda row: row.name):
        intervals, total = list(group), totals[name]
        assert len(intervals) in (2, 3)  # a row that comes too late joins the next one
        assert sum(row.amount for row in intervals) == total.amount
        ends = [0.0, *(row.end_s for row in intervals)]
        assert [row.start_s for row in intervals] == ends[:-1]
        assert ends[-1] == total.end_s
        carried = sum(row.rate_mbps * (row.end_s - row.start_s) for row in intervals)
        assert carried == pytest.approx(total.rate_mbps * total.end_s, rel=0.15)  # times are rounded to 0.1 s
    assert len({row.name for row in found}) == parallel


def test_an_interval_longer_than_the_transfer(tmp_path: Path) -> None:
    with Server(REFERENCE, tmp_path) as server:
        done = run_client(REFERENCE, server.port, "-n", "2MB", "-i", "60")
    interval, total = rows(done.stdout)
    assert interval == total


def test_intervals_come_live_through_a_pipe(tmp_path: Path) -> None:
    with Server(REFERENCE, tmp_path) as server:
        words = command(REFERENCE, "-c", "-I", LOOPBACK, "-p", str(server.port), "-t", "1000", "-i", "1")
        plain = {name: value for name, value in environment().items() if name != "PYTHONUNBUFFERED"}
        with subprocess.Popen(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=plain,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        ) as client:
            assert client.stdout is not None
            assert client.stderr is not None
            seen = 0
            while seen < 1:
                seen += len(rows(client.stdout.readline()))
            client.send_signal(signal.SIGINT)
            assert client.wait(PATIENCE_S) == 130
            assert "Traceback" not in client.stderr.read()
        server.wait_for("ended early", errors=True)
        assert server.process.poll() is None


def test_parallel_connections_have_their_rows(tmp_path: Path) -> None:
    with Server(REFERENCE, tmp_path, "-f", "B") as server:
        done = run_client(REFERENCE, server.port, "-n", "1MB", "-P", "5", "-f", "B")
        received = server.wait_for_rows(5)
    assert done.returncode == 0
    sent = rows(done.stdout)
    _agree(sent, received)
    assert [row.amount for row in sent] == [1_000_000] * 5  # -n is for each connection
    connected = re.findall(r"^Client (\S+) connected with", done.stdout, re.MULTILINE)
    assert connected == [row.name for row in sent]


def test_many_clients_at_once(tmp_path: Path) -> None:
    with Server(REFERENCE, tmp_path, "-f", "B") as server:
        words = command(REFERENCE, "-c", "-I", LOOPBACK, "-p", str(server.port), "-t", "1", "-f", "B")
        clients = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment()) for _ in range(4)]
        outputs = [client.communicate(timeout=PATIENCE_S)[0] for client in clients]
        received = server.wait_for_rows(4)
    assert [client.returncode for client in clients] == [0] * 4
    _agree([row for output in outputs for row in rows(output)], received)


def test_the_server_starts_again_on_its_port(tmp_path: Path) -> None:
    with Server(REFERENCE, tmp_path) as server:
        assert run_client(REFERENCE, server.port, "-n", "1MB").returncode == 0
        # The server closed first, so its side of the connection stays in TIME_WAIT.
        server.wait_for_rows(1)
        assert server.interrupt() == 0
        assert server.errors == ""
    with Server(REFERENCE, tmp_path, port=server.port) as again:
        assert run_client(REFERENCE, again.port, "-n", "1MB").returncode == 0
