"""Programs that were made once of independent choices: 30 right ones, and 60 with a mistake each.

A file in ``generated/`` has a program's files, the steps in which it is tried, and what passed then. The check knows
nothing of these programs.
"""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any, Final

from linklab.programs.simpleperf.mistakes import Mistake

from ...simpleperf.programs.make import Kind, Program

FOLDER: Final = Path(__file__).with_name("generated")
_ARGUMENTS: Final = ("modes", "ports", "addresses", "formats", "times", "parallels", "amounts", "interval-text")
FAILS: Final = {
    "wrong-000-rate-bytes-client": "client-rate=BYTES_AS_BITS",
    "wrong-001-rate-mebi-client": "client-rate=BINARY_UNITS",
    "wrong-002-rate-mebi-server": "server-rate=BINARY_UNITS",
    "wrong-003-rate-125": "client-rate=RATE_UNIT server-rate=RATE_UNIT",
    "wrong-004-rate-125th": "client-rate=WRONG_RATE server-rate=RATE_UNIT",
    "wrong-005-rate-follows-format": "client-rate=RATE_BY_FORMAT server-rate=RATE_BY_FORMAT",
    "wrong-006-whole-seconds": "ack=WHOLE_SECONDS server-rate=WRONG_RATE",
    "wrong-007-amount-binary-server": "format=BINARY_UNITS",
    "wrong-008-amount-in-bits": "bytes=WRONG_AMOUNT format=WRONG_AMOUNT",
    "wrong-009-format-refused": "format=FORMAT_REFUSED",
    "wrong-010-asked-time-rate": "ack=ASKED_TIME",
    "wrong-011-server-clock-from-start": "server-rate=SERVER_CLOCK",
    "wrong-012-server-clock-late": "server-rate=SERVER_CLOCK",
    "wrong-013-no-client-row": "client-row=NO_ROW",
    "wrong-014-no-server-row": "server-row=NO_ROW",
    "wrong-015-interval-refused": "interval-rows=INTERVAL_REFUSED",
    "wrong-016-interval-amount-cumulative": "interval-rows=CUMULATIVE",
    "wrong-017-interval-gaps": "interval-join=INTERVAL_GAPS",
    "wrong-018-interval-rate-from-start": "interval-rates=RATE_FROM_START",
    "wrong-019-interval-extra": "interval-rows=INTERVAL_EXTRA",
    "wrong-020-interval-extra-repeat": "interval-rows=INTERVAL_EXTRA",
    "wrong-021-crash-interval": "interval-rows=TRACEBACK",
    "wrong-022-no-total": "interval-total=NO_TOTAL",
    "wrong-023-total-rate-interval": "interval-total=TOTAL_RATE",
    "wrong-024-num-time": "num-time=NUM_TIME",
    "wrong-025-num-refused": "num-understood=NUM_REFUSED",
    "wrong-026-num-rate-bytes": "num-rate=BYTES_AS_BITS",
    "wrong-027-num-rate-kilo": "num-rate=RATE_UNIT",
    "wrong-028-num-time-doubled": "num-rate=CLOCK",
    "wrong-029-crash-num": "num-rows=TRACEBACK",
    "wrong-030-parallel-one-worker": "parallel-together=PARALLEL_IN_TURN",
    "wrong-031-shared-count": "parallel-bytes=PARALLEL_SUMMED",
    "wrong-032-crash-parallel": "parallel-together=TRACEBACK",
    "wrong-033-client-bytes-calls": "bytes=BINARY_UNITS format=BINARY_UNITS conserved=SENDS_COUNTED",
    "wrong-034-server-bytes-lost": "bytes=BYTES_LOST format=BYTES_LOST conserved=BYTES_LOST",
    "wrong-035-never-acknowledges-open": "ends=NO_ACKNOWLEDGEMENT",
    "wrong-036-leaves-soon": "leaves-well=NO_WAIT ack=NO_WAIT",
    "wrong-037-never-ends": "ends=NO_END",
    "wrong-038-status-not-zero": "leaves-well=STATUS_NOT_ZERO",
    "wrong-039-joins-thread": "concurrent=ONE_AT_A_TIME",
    "wrong-040-clients-mixed": "parallel-bytes=CLIENTS_MIXED",
    "wrong-041-stops-listening": "parallel-together=REFUSES concurrent=REFUSES",
    "wrong-042-abrupt-traceback": "abrupt=ABRUPT_CLIENT",
    "wrong-043-neither-mode": "modes=MODES",
    "wrong-044-any-port": "ports=PORT_RANGE",
    "wrong-045-address-replaced": "addresses=ADDRESS_UNCHECKED",
    "wrong-046-any-format": "formats=ACCEPTED",
    "wrong-047-traceback-on-format": "formats=TRACEBACK",
    "wrong-048-zero-time-accepted": "times=ACCEPTED",
    "wrong-049-traceback-on-time": "times=TRACEBACK",
    "wrong-050-parallel-clamped": "parallels=PARALLEL_RANGE",
    "wrong-051-parallel-assert": "parallels=TRACEBACK",
    "wrong-052-bad-num-accepted": "amounts=ACCEPTED",
    "wrong-053-traceback-on-num": "amounts=TRACEBACK",
    "wrong-054-any-interval": "interval-text=ACCEPTED",
    "wrong-055-traceback-on-interval": "interval-text=TRACEBACK",
    "wrong-056-no-server-status-zero": "no-server=STATUS_ZERO",
    "wrong-057-no-message": " ".join(f"{key}=NO_MESSAGE" for key in _ARGUMENTS),
    "wrong-058-unnamed": " ".join(f"{key}=UNNAMED" for key in _ARGUMENTS),
    "wrong-059-no-help": "help=NO_HELP",
}
"""By program: the checks that must fail, and as which `Mistake`. All others of its steps must not."""
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
    pairs = (pair.split("=") for pair in FAILS.get(name, "").split())
    fails = {key: Mistake[mistake] for key, mistake in pairs}
    kind: Kind = "wrong" if fails else "right"
    return Program(name, kind, found["files"], tuple(found["steps"]), fails)
