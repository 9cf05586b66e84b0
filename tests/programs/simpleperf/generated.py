"""Programs that were made once of independent choices, with the starter's messages and heading: 2 right ones, 35 wrong.

A file in ``generated/`` has a program's files, the steps in which it is tried, and what passed then. The check knows
nothing of these programs.
"""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any, Final

from ...simpleperf.programs.make import Kind, Program

FOLDER: Final = Path(__file__).with_name("generated")
_ARGUMENTS: Final = ("modes", "ports", "addresses", "formats", "times", "parallels", "amounts", "interval-text")
FAILS: Final[dict[str, dict[str, str]]] = {
    "wrong-004-rate-125th": {
        "client-rate": "the rate does not fit amount and time",
        "server-rate": "the rate is in another unit than its label",
    },
    "wrong-005-rate-follows-format": dict.fromkeys(
        ["client-rate", "server-rate"], "-f changes the rate, and not its label"
    ),
    "wrong-006-whole-seconds": {
        "ack": "time cut to whole seconds",
        "server-rate": "the rate does not fit amount and time",
    },
    "wrong-007-amount-binary-server": {"format": "1000 and 1024 mixed"},
    "wrong-008-amount-in-bits": dict.fromkeys(["bytes", "format"], "the amount is not what was carried"),
    "wrong-011-server-clock-from-start": {"server-rate": "the server's clock is wrong"},
    "wrong-012-server-clock-late": {"server-rate": "the server's clock is wrong"},
    "wrong-013-no-client-row": {"client-row": "no row that can be read"},
    "wrong-014-no-server-row": {"server-row": "no row that can be read"},
    "wrong-015-interval-refused": {"interval-rows": "-i is not understood"},
    "wrong-017-interval-gaps": {"interval-join": "intervals do not join"},
    "wrong-018-interval-rate-from-start": {"interval-rates": "the rate of a row is over the time since the start"},
    "wrong-019-interval-extra": {"interval-rows": "a row too many among the intervals"},
    "wrong-020-interval-extra-repeat": {"interval-rows": "a row too many among the intervals"},
    "wrong-021-crash-interval": {"interval-rows": "traceback shown"},
    "wrong-022-no-total": {"interval-total": "no row for the total"},
    "wrong-023-total-rate-interval": {"interval-total": "the total's rate is not its own"},
    "wrong-024-num-time": {"num-time": "-t ends a transfer of -n"},
    "wrong-026-num-rate-bytes": {"num-rate": "bits and bytes: the factor 8 is missing"},
    "wrong-028-num-time-doubled": {"num-time": "it ends with an error", "num-rate": "the clock is wrong"},
    "wrong-029-crash-num": {"num-rows": "traceback shown"},
    "wrong-031-shared-count": {"parallel-bytes": "the connections of -P are counted together"},
    "wrong-032-crash-parallel": {"parallel-together": "traceback shown"},
    "wrong-033-client-bytes-calls": {
        "bytes": "1000 and 1024 mixed",
        "format": "1000 and 1024 mixed",
        "conserved": "bytes counted are not the bytes sent",
    },
    "wrong-034-server-bytes-lost": dict.fromkeys(["bytes", "format", "conserved"], "the server counts too few bytes"),
    "wrong-036-leaves-soon": dict.fromkeys(["leaves-well", "ack"], "the client does not wait for the acknowledgement"),
    "wrong-037-never-ends": {"ends": "it does not come to an end"},
    "wrong-038-status-not-zero": {"leaves-well": "exit status not 0 on success"},
    "wrong-039-joins-thread": {"concurrent": "one client at a time"},
    "wrong-040-clients-mixed": {"parallel-bytes": "clients are mixed up"},
    "wrong-041-stops-listening": dict.fromkeys(["parallel-together", "concurrent"], "the server refuses a connection"),
    "wrong-045-address-replaced": {
        "addresses": "addresses are not checked",
        "amounts": "a right argument is refused",
    },
    "wrong-057-no-message": dict.fromkeys(_ARGUMENTS, "no message for a wrong argument"),
    "wrong-058-unnamed": dict.fromkeys(_ARGUMENTS, "the message does not name the argument"),
    "wrong-059-no-help": {"help": "no help"},
}
"""By program: the checks that must fail, and for which mistake. All others of its steps must not."""
NAMES: Final = tuple(sorted(path.name.removesuffix(".json.xz") for path in FOLDER.glob("*.json.xz")))


def kept(name: str) -> dict[str, Any]:
    """Return a program's files, steps, and the records of what passed by what was asked for."""
    found: dict[str, Any] = json.loads(lzma.decompress((FOLDER / f"{name}.json.xz").read_bytes()))
    return found


def keep(name: str, records: dict[str, Any]) -> None:
    """Keep what passed."""
    text = json.dumps({**kept(name), "records": records})
    (FOLDER / f"{name}.json.xz").write_bytes(lzma.compress(text.encode()))


def program(name: str) -> Program:
    """Return a program, with what must fail."""
    found = kept(name)
    fails = FAILS.get(name, {})
    kind: Kind = "wrong" if fails else "right"
    return Program(name, kind, found["files"], tuple(found["steps"]), fails)
