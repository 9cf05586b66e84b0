"""What a scene records: the relay's notes, the listeners', and what programs printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from linklab.programs import place, submission
from linklab.programs.engine.scene import TAKES_DATAGRAMS
from linklab.programs.place import LabPlace
from linklab.programs.simpleperf.session import NETWORK
from linklab.runtime.backends import Kind

Play = Callable[[str, dict[str, Any]], dict[str, Any]]

SERVER: Final = """
import socket, sys
with socket.create_server((sys.argv[2], int(sys.argv[3]))) as listening:
    connection, _ = listening.accept()
    greeted = connection.recv(100)
    connection.sendall(b"welcome")
    size = 0
    while data := connection.recv(65536):
        size += len(data)
        if data.endswith(b"BYE"):
            connection.sendall(b"thanks")
            if "reset" in sys.argv:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, bytes([1, 0, 0, 0, 0, 0, 0, 0]))
                break
"""

CLIENT: Final = """
import socket, sys
with socket.create_connection((sys.argv[2], int(sys.argv[3]))) as connection:
    connection.sendall(b"hello")
    connection.recv(100)
    for number in range(1000):
        connection.sendall(bytes(1000))
    connection.sendall(b"BYE")
    if "leaves" not in sys.argv:
        connection.recv(100)
    if "resets" in sys.argv:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, bytes([1, 0, 0, 0, 0, 0, 0, 0]))
"""

BOTH: Final = f"""
import sys
exec({SERVER!r} if sys.argv[1] == "server" else {CLIENT!r})
"""


@pytest.fixture
def play(virtual: Kind, tmp_path: Path, nothing_left: None) -> Iterator[Play]:
    """Plays a scene of a program with this text; its record."""
    places = []

    def played(text: str, plan: dict[str, Any]) -> dict[str, Any]:
        (tmp_path / "program.py").write_text(text)
        places.append(LabPlace(submission.read(tmp_path / "program.py"), NETWORK))
        return places[-1].play(plan)

    yield played
    for each in places:
        each.close()


def transfer(client: tuple[str, ...] = (), server: tuple[str, ...] = (), **relay: Any) -> Any:
    """A plan: a transfer of 1 MB through a relay at 8 Mbit/s, after a start message with an answer."""
    own, between = NETWORK.address_of("server"), NETWORK.address_of("relay")
    words = ["program.py", "client", between, "6100", *client]
    serving = ["program.py", "server", own, "5100"]
    return {
        "server": {"host": "server", "words": [*serving, *server], "port": 5100, "patience_s": 10.0},
        "relay": {"host": "relay", "port": 6100, "target": [own, 5100], "pace_mbps": 8.0, **relay},
        "acts": [{"kind": "client", "at_s": 0.0, "host": "client", "words": words, "limit_s": 30.0}],
        "grace_s": 0.4,
    }


def alone(**more: Any) -> Any:
    """A plan: the program by itself."""
    act = {"kind": "client", "at_s": 0.0, "host": "client", "words": ["program.py"], "limit_s": 20.0}
    return {"server": None, "acts": [{**act, **more}]}


pytestmark = pytest.mark.lab


@pytest.mark.large
def test_a_start_message_is_neither_held_nor_delayed(play: Play) -> None:
    record = play(BOTH, transfer(hold_s=(0.5, 1.5), answer_delay_s=1.0))
    (passage,) = record["relay"]
    up, down = passage["up"], passage["down"]
    assert record["acts"][0]["program"]["status"] == 0
    assert up["bytes"] == 5 + 1_000_000 + 3
    # the greeting is answered at once, and the clock of the hold starts with the bulk that follows
    (greeted_s, greeting), (thanked_s, both) = down["arrivals"]
    assert (greeting, both) == (7, 13)
    assert greeted_s <= passage["bulk_s"]
    assert down["forwarded_s"] >= thanked_s + 1.0
    gaps = [(later[0] - at[0], at[0]) for at, later in zip(up["arrivals"], up["arrivals"][1:], strict=False)]
    longest_s, from_s = max(gaps)
    # beside the hold itself a piece is as long under way as its size takes at the pace
    assert longest_s >= 0.9
    assert 0.4 <= from_s - passage["bulk_s"] <= 0.6


def test_a_relay_lets_little_through_for_a_while(play: Play) -> None:
    (passage,) = play(BOTH, transfer(hold_s=(0.0, 2.0), held_mbps=1.0))["relay"]
    since = [(at_s - passage["bulk_s"], size) for at_s, size in passage["up"]["arrivals"]]
    # 250 kB passed in these 2 s, and no more than buffers hold waits; what is left takes less than 1 s
    assert max(size for at_s, size in since if at_s < 2.0) < 500_000
    assert 2.0 < since[-1][0] < 3.0


def test_a_relay_is_deaf_for_a_while_and_cuts_the_answer(play: Play) -> None:
    (passage,) = play(BOTH, transfer(deaf_s=1.5, cuts_answer=True))["relay"]
    assert passage["accepted_s"] >= 1.5
    assert passage["up"]["bytes"] == 5 + 1_000_000 + 3
    # the greeting went on to the client, the answer did not
    assert passage["down"]["bytes"] == 13
    assert passage["down"]["forwarded_s"] < passage["up"]["last_s"]


def test_a_server_of_datagrams_is_told_from_one_that_does_nothing(play: Play) -> None:
    server = """
import socket, sys
bound = socket.socket(type=socket.SOCK_DGRAM)
bound.bind((sys.argv[2], int(sys.argv[3])))
bound.recv(9)
"""
    record = play(server, transfer())
    assert (record["listening"], record["server"]["stopped"]) == ([], TAKES_DATAGRAMS)


def test_an_answer_in_pieces_is_delayed_once_and_all_of_it(play: Play) -> None:
    pieces = """
            import time
            for piece in (b"th", b"an", b"ks"):
                connection.sendall(piece)
                time.sleep(0.01)
"""
    program = BOTH.replace(repr(SERVER), repr(SERVER.replace('            connection.sendall(b"thanks")\n', pieces)))
    assert program != BOTH
    (passage,) = play(program, transfer(answer_delay_s=1.0))["relay"]
    up, down = passage["up"], passage["down"]
    assert up["arrivals"] == sorted(up["arrivals"])
    assert (up["arrivals"][0][1], up["arrivals"][-1]) == (5, [up["last_s"], up["bytes"]])
    (_, greeting), *arrived = down["arrivals"]
    # the later two may come together: TCP waits with a small piece until the one before is acknowledged (RFC 896)
    assert [size - greeting for _, size in arrived] in [[2, 4, 6], [2, 6]]
    first_s, last_s = arrived[0][0], arrived[-1][0]
    assert down["last_s"] == last_s
    # they were read when they came, and each was held back from then on
    assert first_s < last_s
    assert last_s < first_s + 1.0
    assert last_s + 1.0 <= down["forwarded_s"] < first_s + 2.0


@pytest.mark.large
@pytest.mark.parametrize(
    ("client", "server", "first", "reset"),
    [
        ((), ("reset",), "down", True),
        (("leaves",), (), "up", False),
        (("resets",), (), "up", True),
    ],
)
def test_it_is_known_who_closed_first_and_how(
    play: Play, client: tuple[str, ...], server: tuple[str, ...], first: str, reset: bool
) -> None:
    (passage,) = play(BOTH, transfer(client, server, answer_delay_s=0.3))["relay"]
    second = "up" if first == "down" else "down"
    assert passage[first]["closed_s"] is not None
    assert passage[first]["reset"] is reset
    assert passage[second]["closed_s"] is None or passage[first]["closed_s"] <= passage[second]["closed_s"]
    if client == ("leaves",):
        assert passage["up"]["closed_s"] < passage["down"]["forwarded_s"]


CONNECTS: Final = """
import socket, sys
if sys.argv[1] == "listens":
    listening = socket.create_server(("127.0.0.1", 8088))
    listening.accept()
print("connecting", flush=True)
connection = socket.create_connection(("127.0.0.1", 8088))
print(connection.recv(100))
"""


def test_programs_on_hosts_of_their_own_do_not_meet_and_are_stopped_for_what_they_do(play: Play) -> None:
    hosts = {"first": "connects", "second": "connects", "third": "listens", "fourth": "connects"}
    more = {"may_listen": False, "until_connected": True, "kind": "client", "at_s": 0.0, "limit_s": 5.0}
    acts = [{**more, "host": host, "words": ["program.py", word]} for host, word in hosts.items()]
    listeners = [{"host": host, "address": "127.0.0.1", "port": 8088} for host in ("first", "second")]
    record = play(CONNECTS, {"server": None, "acts": acts, "listeners": listeners})
    assert [len(record["listeners"][host]["connections"]) for host in ("first", "second")] == [1, 1]
    programs = [act["program"] for act in record["acts"]]
    assert [program["stopped"] for program in programs] == ["it connected", "it connected", "it listens", ""]
    assert [tuple(one) for one in record["acts"][2]["listening"]] == [("127.0.0.1", 8088)]
    assert "ConnectionRefusedError" in "".join(text for _, text in programs[3]["err"])
    # what it had printed is kept
    assert "".join(text for _, text in programs[0]["out"]) == "connecting\n"


PRINTS: Final = """
import sys, threading
def rows(name):
    for number in range(200):
        print(name, number, "0.0 - 1.0", "1 MB", "8.00 Mbps", sep="   ")
threads = [threading.Thread(target=rows, args=[name]) for name in ("first", "second")]
sys.setswitchinterval(1e-6)
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("Grüße", end="")
print("the end", end="", file=sys.stderr)
"""


def test_lines_of_threads_are_whole_as_at_a_terminal(play: Play) -> None:
    program = play(PRINTS, alone())["acts"][0]["program"]
    *lines, last = "".join(text for _, text in program["out"]).split("\n")
    rows = {
        f"{name}   {number}   0.0 - 1.0   1 MB   8.00 Mbps" for name in ("first", "second") for number in range(200)
    }
    assert len(lines) == 400
    assert set(lines) == rows
    assert last == "Grüße"  # and no line lost its end to a carriage return
    assert "".join(text for _, text in program["err"]) == "the end"


LOOPS: Final = """
import socket, sys, time
if sys.argv[1] == "server":
    listening = socket.create_server((sys.argv[2], int(sys.argv[3])))
else:
    connection = socket.create_connection((sys.argv[2], int(sys.argv[3])))
def asks():
    while True:
        time.time()
        socket.socket().close()
def computes():
    while True:
        pass
if sys.argv[4:]:
    (asks if sys.argv[4] == "asks" else computes)()
time.sleep(60)
"""


@pytest.mark.large
@pytest.mark.parametrize(
    ("client", "server", "by", "left"),
    [
        (("asks",), (), ["client"], True),
        (("asks",), ("asks",), ["server", "client"], True),
        # who only computes takes the lab along: then it is known who ran, and no more
        ((), ("computes",), ["server"], False),
    ],
)
def test_who_stalls_a_scene_is_told(
    play: Play,
    monkeypatch: pytest.MonkeyPatch,
    client: tuple[str, ...],
    server: tuple[str, ...],
    by: list[str],
    left: bool,
) -> None:
    # given up after less computing than students' programs may do
    monkeypatch.setattr(place, "STALL_CPU_S", 2.0)
    monkeypatch.setattr(place, "STALL_STARTS", 2.0)
    record = play(LOOPS, transfer(client, server))
    assert record["stalled"]
    assert record["by"] == by
    assert any("program" in act for act in record["acts"]) == left


NESTS: Final = """
import os, sys
for start in sys.argv[1:]:
    os.chdir(start)
    for number in range(900):
        os.mkdir("deep")
        os.chdir("deep")
        open("file", "w").close()
    os.chmod(".", 0)
    os.chdir("/home/student")
print("done")
"""


@pytest.mark.large
def test_folders_without_end_are_cleaned_up(play: Play) -> None:
    program = play(NESTS, alone(words=["program.py", "."]))["acts"][0]["program"]
    assert (program["status"], program["breaches"]) == (0, [])
    program = play(NESTS, alone(words=["program.py", ".", "/tmp"]))["acts"][0]["program"]
    assert (program["status"], program["breaches"]) == (0, ["outside"])


@pytest.mark.large
@pytest.mark.parametrize(
    ("does", "breaches"),
    [
        ("os.chmod('/tmp', 0)", []),  # who is root in the lab looks into any folder
        ("os.unlink('program.py')", ["deleted"]),
        ("os.rename('program.py', 'x.py'); os.symlink('x.py', 'program.py')", ["deleted"]),
        ("os.unlink('program.py'); os.symlink('program.py', 'program.py')", ["deleted"]),
        ("open('program.py', 'a').write('#')", ["changed"]),
        ("open('mine.txt', 'w').write('#')", []),
    ],
)
def test_what_a_program_does_to_files_is_told(play: Play, does: str, breaches: list[str]) -> None:
    program = play(f"import os\n{does}\n", alone())["acts"][0]["program"]
    assert program["breaches"] == breaches
