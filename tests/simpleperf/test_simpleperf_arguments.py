"""The reference's answers to wrong arguments and missing servers: one line, a status, no traceback."""

from __future__ import annotations

import socket
import subprocess

import pytest

from .runner import LOOPBACK, REFERENCE, free_port, run, run_client

MODE = "Error: you must run either in server or client mode\n"


def _one_line(done: subprocess.CompletedProcess[str], *words: str) -> None:
    """Asserts that it failed with one line that has these words in it."""
    assert done.returncode not in (0, None)
    assert "Traceback" not in done.stdout + done.stderr
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1
    for word in words:
        assert word in done.stderr


@pytest.mark.parametrize("arguments", [[], ["-s", "-c"], ["-c", "-s", "-I", LOOPBACK], ["-p", "9000"]])
def test_one_mode_is_needed(arguments: list[str]) -> None:
    done = run(REFERENCE, *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", MODE)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("-c -p 80", ["--port", "1024", "65535", "80"]),
        ("-s -p 65536", ["--port", "1024", "65535"]),
        ("-s -p http", ["--port", "1024"]),
        ("-s -b 10.0.0", ["--bind", "IPv4"]),
        ("-s -b 10.0.0.256", ["--bind", "IPv4"]),
        ("-s -b h1", ["--bind", "IPv4"]),
        ("-c -I ::1", ["--serverip", "IPv4"]),
        ("-c -f GB", ["--format", "KB"]),
        ("-s -f mb", ["--format", "KB"]),
        ("-c -t 0", ["--time", "1"]),
        ("-c -t -5", ["--time", "-5"]),
        ("-c -t 2.5", ["--time", "whole"]),
        ("-c -i 0", ["--interval", "1"]),
        ("-c -i soon", ["--interval", "soon"]),
        ("-c -P 0", ["--parallel", "1", "5"]),
        ("-c -P 6", ["--parallel", "1", "5"]),
        ("-c -n 10", ["--num", "10MB"]),
        ("-c -n 0MB", ["--num", "10MB"]),
        ("-c -n lots", ["--num", "10MB"]),
        ("-c -t", ["--time", "argument"]),
        ("-c --speed 3", ["--speed"]),
        ("-c --par 3", ["--par"]),
    ],
)
def test_a_wrong_value_is_named(arguments: str, words: list[str]) -> None:
    done = run(REFERENCE, *arguments.split())
    _one_line(done, *words)
    assert done.returncode == 2


def test_help_names_every_flag() -> None:
    done = run(REFERENCE, "-h")
    assert done.returncode == 0
    short = ["-s", "-c", "-b", "-I", "-p", "-f", "-t", "-i", "-P", "-n"]
    long = ["--server", "--client", "--bind", "--serverip", "--port", "--format", "--time", "--interval"]
    for flag in [*short, *long, "--parallel", "--num"]:
        assert flag in done.stdout
    for flag in ["-i", "--interval", "-P", "--parallel", "-n", "--num"]:
        assert flag in done.stdout


@pytest.mark.parametrize("parallel", ["1", "5"])
def test_no_server_is_one_line(parallel: str) -> None:
    port = free_port()
    done = run_client(REFERENCE, port, "-t", "1", "-P", parallel)
    _one_line(done, f"{LOOPBACK}:{port}", "-I", "-p")
    assert done.returncode == 1


def test_an_address_that_is_not_ours() -> None:
    # 192.0.2.0/24 is for documentation (RFC 5737): no host has an address of it.
    _one_line(run(REFERENCE, "-s", "-b", "192.0.2.1"), "192.0.2.1:8088", "-b")


def test_a_port_that_is_taken() -> None:
    with socket.create_server((LOOPBACK, 0)) as other:
        port = other.getsockname()[1]
        _one_line(run(REFERENCE, "-s", "-p", str(port)), f"{LOOPBACK}:{port}", "-p")
