"""The choices that a program's author makes, what goes with what, and sets of choices in which all occur."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from typing import Final

Choices = dict[str, str]
_Pair = tuple[str, str, str, str]

DIMENSIONS: Final[dict[str, tuple[str, ...]]] = {
    # what a row looks like
    "layout": (
        "padded", "tabs", "bars", "prettytable", "prettytable each", "tabulate",
        "aligned", "python tuple",
        "python list", "csv",
    ),
    "interval": ("0.0 - 25.0", "0.0-25.0", "[0.0 - 25.0]", "0.00s - 25.03s", "0.0 to 25.0 sec", "0.0 -> 25.0"),
    "headings": ("sheet", "misspelt", "misspelt more", "units", "capitals"),
    "order": ("sheet", "rate first", "id last", "interval last"),
    "id": ("local", "remote", "tuple", "client", "none"),
    "amount_digits": ("0", "1", "2", "3", "round"),
    "amount_glue": ("space", "glued"),
    "rate_digits": ("2", "1", "3", "round", "format"),
    "rate_unit": ("Mbps", "Mbit/s", "Mb/s", "Mbits/sec", "MBps"),
    "arithmetic": ("plain", "bits first", "megabytes", "125000"),
    "colour": ("none", "headings", "rates", "all"),
    # what is printed, and how
    "output": ("print", "write", "logging", "pieces", "collected"),
    "rows": ("running", "at the end", "by a timer"),
    "total": ("dashed", "plain", "repeated"),
    "total_id": ("same", "Total before", "Total glued", "Total alone"),
    "sum_row": ("none", "SUM", "Total"),
    "greetings": ("sheet", "short", "none"),
    "chatter": ("none", "debug", "warning"),
    # what passes between client and server
    "end_message": ("BYE", "bye", "FINISH", r"BYE\n", "END"),
    "acknowledgement": ("ACK: BYE", "ACK:BYE", "BYE:ACK", "ACK", "JSON"),
    "preamble": ("none", "text", "JSON", "length", "only -n", "only -t", "answered"),
    "data": ("letter", "zeros", "alphabet", "random once", "random each"),
    "calls": ("1", "10", "64"),
    "reads": ("1000", "4096", "65536"),
    # how it is built
    "server": (
        "threading", "thread class", "_thread", "multiprocessing", "fork", "socketserver", "selectors", "asyncio",
    ),
    "parallel": ("threads", "thread class", "processes", "futures", "asyncio"),
    "loop": ("one", "two", "class"),
    "send": ("sendall", "send"),
    "lap_marks": ("since the last", "multiples"),
    "await_ack": ("loop", "once", "waitall"),
    "tail": ("joined", "kept"),
    "clock": ("time", "monotonic", "perf_counter", "datetime"),
    "parsing": ("argparse types", "argparse after", "getopt", "by hand"),
    "num": ("as the sheet", "any case", "spaced", "bare"),
    "num_beside": ("accepts -t", "refuses -t"),
    "errors": ("stderr 2", "stdout 1", "SystemExit"),
    "files": ("one", "module", "package"),
    "names": ("English", "camel", "terse", "Norwegian"),
    "host_name": ("none", "gethostname", "gethostbyname"),
}  # fmt: skip
"""By dimension, its values; the first of each goes with everything."""

_NEVER: Final[dict[tuple[str, str], dict[str, tuple[str, ...]]]] = {
    # one value of a dimension, and what it does not go with
    ("output", "pieces"): {
        "layout": tuple(name for name in DIMENSIONS["layout"] if name not in ("padded", "tabs", "bars")),
        "colour": ("headings", "all"),
    },
    ("layout", "csv"): {"id": ("tuple",), "colour": ("headings", "rates", "all")},
    ("layout", "python tuple"): {"colour": ("headings", "rates", "all")},
    ("layout", "python list"): {"colour": ("headings", "rates", "all")},
    ("layout", "prettytable"): {"colour": ("headings", "rates", "all")},
    ("layout", "prettytable each"): {"colour": ("headings", "rates", "all")},
    ("layout", "tabulate"): {"colour": ("rates", "all")},
    ("headings", "units"): {"amount_glue": ("glued",)},
    ("rows", "by a timer"): {
        "loop": ("one", "two"),
        "parallel": ("asyncio",),
        "send": ("send",),
        "lap_marks": ("multiples",),
    },
    ("parallel", "asyncio"): {
        "loop": ("two", "class"),
        "send": ("send",),
        "lap_marks": ("multiples",),
        "await_ack": ("once", "waitall"),
    },
    ("loop", "two"): {"send": ("send",), "lap_marks": ("multiples",)},
    ("loop", "class"): {"send": ("send",), "lap_marks": ("multiples",)},
    ("server", "selectors"): {"tail": ("kept",)},
    ("server", "asyncio"): {"tail": ("kept",)},
    ("id", "none"): {"total_id": ("Total before", "Total glued", "Total alone"), "sum_row": ("SUM", "Total")},
}


def _forbidden() -> frozenset[_Pair]:
    found = set()
    for (one, value), others in _NEVER.items():
        for other, values in others.items():
            for each in values:
                found |= {(one, value, other, each), (other, each, one, value)}
    return frozenset(found)


FORBIDDEN: Final = _forbidden()


def goes_together(choices: Choices) -> bool:
    """Return whether no two of the choices exclude each other."""
    return not any(
        (one, value, other, each) in FORBIDDEN
        for (one, value), (other, each) in itertools.combinations(choices.items(), 2)
    )


def covering(count: int, seed: int) -> list[Choices]:
    """Return so many sets of choices, in which all values of a dimension occur about equally often; the same for the
    same seed.
    """
    chance = random.Random(seed)
    times: Counter[tuple[str, str]] = Counter()
    made: list[Choices] = []
    for _ in range(count):
        chosen: Choices = {}
        names = list(DIMENSIONS)
        chance.shuffle(names)
        for name in names:
            possible = [value for value in DIMENSIONS[name] if goes_together({**chosen, name: value})]
            least = min(times[name, value] for value in possible)
            chosen[name] = chance.choice([value for value in possible if times[name, value] == least])
        times.update(chosen.items())
        made.append({name: chosen[name] for name in DIMENSIONS})
    return made
