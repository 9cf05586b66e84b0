"""The reference and peers that misbehave: the server goes on, the client says what happened."""

from __future__ import annotations

import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from .reference import load
from .runner import LOOPBACK, PATIENCE_S, REFERENCE, Server, read_to_end, reset, rows, run_client

simpleperf = load()


def _connect(server: Server) -> socket.socket:
    return socket.create_connection((LOOPBACK, server.port))


def _still_serves(server: Server) -> None:
    before = len(rows(server.output))
    assert run_client(REFERENCE, server.port, "-n", "1MB").returncode == 0
    assert server.wait_for_rows(before + 1)[-1].amount == 1_000_000
    assert server.process.poll() is None
    assert "Traceback" not in server.errors


def test_a_client_that_vanishes(tmp_path: Path) -> None:
    with Server(REFERENCE, tmp_path, "-f", "B") as server:
        for end in (reset, socket.socket.close):
            client = _connect(server)
            client.sendall(b"x" * 5000)
            server.wait_for("is connected")
            end(client)
        server.wait_for("ended early", 2, errors=True)
        # After a reset the kernel throws away what was not read yet.
        assert all(row.amount <= 5000 for row in rows(server.output))
        assert 5000 in [row.amount for row in server.wait_for_rows(1)]
        _still_serves(server)


def test_a_client_that_only_knocks(tmp_path: Path) -> None:
    with Server(REFERENCE, tmp_path, "-f", "B") as server:
        _connect(server).close()
        reset(_connect(server))
        server.wait_for("ended early", 2, errors=True)
        assert rows(server.output) == []
        _still_serves(server)


def test_a_client_that_goes_before_the_acknowledgement(tmp_path: Path) -> None:
    with Server(REFERENCE, tmp_path, "-f", "B") as server:
        client = _connect(server)
        client.sendall(b"x" * 1000 + b"BYE")
        reset(client)
        server.wait_for("ended early", errors=True)
        _still_serves(server)


def test_garbage(tmp_path: Path) -> None:
    garbage = bytes(range(256)) * 40
    with Server(REFERENCE, tmp_path, "-f", "B") as server:
        with _connect(server) as client:
            client.sendall(b"GET / HTTP/1.1\r\n\r\n" + garbage)
            client.shutdown(socket.SHUT_WR)
            assert read_to_end(client) == b""  # no BYE, no acknowledgement
        assert server.wait_for_rows(1)[0].amount == len(garbage) + 18
        server.wait_for("without BYE", errors=True)
        _still_serves(server)


def test_bye_in_pieces_and_glued(tmp_path: Path) -> None:
    with Server(REFERENCE, tmp_path, "-f", "B") as server:
        for parts in ([b"x" * 1500 + b"BYE"], [b"x" * 1500, b"B", b"Y", b"E"], [b"x" * 1499, b"xBY", b"E"]):
            with _connect(server) as client:
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for part in parts:
                    client.sendall(part)
                assert read_to_end(client) == b"ACK: BYE"
        assert [row.amount for row in server.wait_for_rows(3)] == [1500] * 3


def test_bye_inside_a_chunk(tmp_path: Path) -> None:
    chunk = b"x" * 400 + b"BYE" + b"x" * 597
    with Server(REFERENCE, tmp_path, "-f", "B") as server, _connect(server) as client:
        client.sendall(chunk * 2000 + b"BYE")
        assert read_to_end(client) == b"ACK: BYE"
        assert server.wait_for_rows(1)[0].amount == 2_000_000


def test_a_client_that_never_says_bye_holds_nobody_up(tmp_path: Path) -> None:
    with Server(REFERENCE, tmp_path, "-f", "B") as server, _connect(server) as silent:
        silent.sendall(b"x" * 1000)
        _still_serves(server)


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
        crowd = [_connect(server) for _ in range(30)]
        server.wait_for("was not served", errors=True)
        for client in crowd:
            client.close()
        _still_serves(server)


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


@pytest.mark.parametrize("answers", [(), (b"ACK",), (b"NO: BYE!",), (b"HTTP/1.1 400 Bad Request\r\n",)])
def test_no_acknowledgement(answers: tuple[bytes, ...]) -> None:
    done = _client_against(_says(*answers))
    assert done.returncode == 1
    assert rows(done.stdout) == []
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1
    assert "acknowledged" in done.stderr


def test_a_server_that_vanishes() -> None:
    done = _client_against(reset, "-n", "900MB")
    assert done.returncode == 1
    assert rows(done.stdout) == []
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def test_all_connections_are_open_before_one_ends() -> None:
    with socket.create_server((LOOPBACK, 0)) as listener:
        listener.settimeout(PATIENCE_S)

        def serve() -> None:
            connections = [listener.accept()[0] for _ in range(5)]  # times out if they come one after the other
            for connection in connections:
                with connection:
                    _read(connection)
                    connection.sendall(b"ACK: BYE")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        done = run_client(REFERENCE, listener.getsockname()[1], "-n", "3KB", "-P", "5")
        thread.join()
    assert done.returncode == 0
    assert len(rows(done.stdout)) == 5


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
    assert done.returncode == 1
    assert len(rows(done.stdout)) == 1
    assert done.stderr.count("\n") == 1
