"""The solution of Lab 02 over loopback: what both ends print, and what the checks of a simpleperf do not look at."""

from __future__ import annotations

import signal
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from .reference import load
from .runner import LOOPBACK, PATIENCE_S, REFERENCE, Server, command, environment, reset, rows, run, run_client

simpleperf = load()


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
        (sent,) = rows(done.stdout)
        assert (sent.name, sent.amount) == (row.name, row.amount)
        assert (row.amount, row.unit) == (3000, "KB")
        assert (server.interrupt(), server.errors) == (0, "")


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


def _one_line(done: subprocess.CompletedProcess[str], *words: str) -> None:
    """Assert that it failed with one line that has these words in it."""
    assert done.returncode == 1
    assert (done.stderr.startswith("Error: "), done.stderr.count("\n")) == (True, 1)
    assert all(word in done.stderr for word in words)


def test_an_address_that_is_not_ours() -> None:
    # 192.0.2.0/24 is for documentation (RFC 5737): no host has an address of it.
    _one_line(run(REFERENCE, "-s", "-b", "192.0.2.1"), "192.0.2.1:8088", "-b")


def test_a_port_that_is_taken() -> None:
    with socket.create_server((LOOPBACK, 0)) as other:
        port = other.getsockname()[1]
        _one_line(run(REFERENCE, "-s", "-p", str(port)), f"{LOOPBACK}:{port}", "-p")


def test_a_silent_client_is_given_up() -> None:
    here, there = socket.socketpair()
    meter = simpleperf.Meter()
    with here, there:
        there.sendall(b"x" * 1000)
        with pytest.raises(TimeoutError):
            simpleperf.receive(here, meter, patience_s=0.2)
    assert meter.total().end_bytes == 1000


def test_more_clients_than_the_server_has_sockets_for(tmp_path: Path) -> None:
    limited = tmp_path / "limited.py"
    limited.write_text(
        "import resource, runpy, sys\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))\n"
        f"runpy.run_path({str(REFERENCE)!r}, run_name='__main__')\n"
    )
    with Server(limited, tmp_path, "-f", "B") as server:
        crowd = [socket.create_connection((LOOPBACK, server.port)) for _ in range(30)]
        server.wait_for("was not served", errors=True)
        for client in crowd:
            client.close()
        assert run_client(REFERENCE, server.port, "-n", "1MB").returncode == 0
        assert "Traceback" not in server.errors


def _client_against(answer: Callable[[socket.socket], None], *arguments: str) -> subprocess.CompletedProcess[str]:
    """What the client says to a server that answers so."""
    with socket.create_server((LOOPBACK, 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                answer(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        done = run_client(REFERENCE, listener.getsockname()[1], "-n", "3KB", *arguments)
        thread.join()
    return done


def _read(connection: socket.socket, count: int = 3003) -> None:
    while count:
        count -= len(connection.recv(count))


def _says(*answers: bytes) -> Callable[[socket.socket], None]:
    def answer(connection: socket.socket) -> None:
        _read(connection)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for part in answers:
            connection.sendall(part)

    return answer


def test_an_acknowledgement_in_pieces() -> None:
    done = _client_against(_says(b"A", b"CK: ", b"BYE"))
    assert done.returncode == 0
    assert len(rows(done.stdout)) == 1


@pytest.mark.parametrize("answers", [(), (b"ACK",), (b"HTTP/1.1 400 Bad Request\r\n",)])
def test_no_acknowledgement(answers: tuple[bytes, ...]) -> None:
    done = _client_against(_says(*answers))
    _one_line(done, "acknowledged")
    assert rows(done.stdout) == []


def test_a_server_that_vanishes() -> None:
    done = _client_against(reset, "-n", "900MB")
    _one_line(done)
    assert rows(done.stdout) == []


def test_one_connection_of_several_fails(tmp_path: Path) -> None:
    turn = threading.Barrier(2)
    with socket.create_server((LOOPBACK, 0)) as listener:

        def serve(acknowledge: bool) -> None:
            connection, _ = listener.accept()
            with connection:
                turn.wait()
                _read(connection)
                if acknowledge:
                    connection.sendall(b"ACK: BYE")

        threads = [threading.Thread(target=serve, args=(good,), daemon=True) for good in (True, False)]
        for thread in threads:
            thread.start()
        done = run_client(REFERENCE, listener.getsockname()[1], "-n", "3KB", "-P", "2")
        for thread in threads:
            thread.join()
    _one_line(done)
    assert len(rows(done.stdout)) == 1
