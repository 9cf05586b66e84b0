"""From choices and mistakes to a program's files. Each choice's code stands in ``parts``, as Jinja templates."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import jinja2

from .choices import Choices

_MODULES: Final = (
    "argparse", "asyncio", "concurrent.futures", "getopt", "ipaddress", "json", "logging", "math", "multiprocessing",
    "multiprocessing.connection", "os", "re", "selectors", "socket", "socketserver", "string", "struct", "sys",
    "_thread", "threading", "time", "types",
)  # fmt: skip
_FROM: Final = {
    "datetime.now": "from datetime import datetime",
    "PrettyTable(": "from prettytable import PrettyTable",
    "tabulate(": "from tabulate import tabulate",
}
_HEADINGS: Final = {
    "sheet": ("ID", "Interval", "Transfer", "Bandwidth", "Received", "Rate"),
    "misspelt": ("ID", "Intervall", "Tranfer", "Bandwith", "Recieved", "Rate"),
    "misspelt more": ("Id", "Inteval", "Transfered", "Bandwitdh", "Receved", "Ratee"),
    "capitals": ("IP:PORT", "INTERVAL", "TRANSFER", "BANDWIDTH", "RECEIVED", "RATE"),
}
_HEADING_NAMES: Final = ("id", "interval", "transfer", "bandwidth", "received", "rate")
_ORDERS: Final = {
    "sheet": (0, 1, 2, 3),
    "rate first": (0, 3, 1, 2),
    "id last": (1, 2, 3, 0),
    "interval last": (0, 2, 3, 1),
}
_NAMES: Final[dict[str, dict[str, str]]] = {
    "English": {"total_sent": "sent", "total_received": "received"},
    "camel": {
        "serve_client": "handleClient",
        "run_server": "startServer",
        "run_client": "startClient",
        "transmit": "sendData",
        "amount_text": "formatAmount",
        "rate_text": "formatRate",
        "interval_text": "formatInterval",
        "total_sent": "bytesSent",
        "total_received": "bytesReceived",
        "read_arguments": "parseArguments",
        "Report": "TablePrinter",
        "lap_start": "lastTime",
        "lap_sent": "lastBytes",
        "whole_number": "checkNumber",
        "mbit_per_second": "calculateBandwidth",
        "show_totals": "printTotals",
        "check_all": "checkArguments",
        "name_of": "clientName",
        "say": "printLine",
        "read_hello": "readStart",
        "say_hello": "sendStart",
        "DATA": "PACKET",
        "fail": "printError",
    },
    "terse": {
        "serve_client": "srv",
        "run_server": "server",
        "run_client": "client",
        "transmit": "snd",
        "amount_text": "amt",
        "rate_text": "bw",
        "interval_text": "iv",
        "total_sent": "n_out",
        "total_received": "n_in",
        "read_arguments": "getargs",
        "Report": "Tab",
        "lap_start": "t0",
        "lap_sent": "b0",
        "whole_number": "num_or_die",
        "check_all": "chk",
        "mbit_per_second": "mbps",
        "name_of": "peer",
        "say": "out",
        "fail": "die",
        "DATA": "BUF",
        "everything": "tot",
    },
    "Norwegian": {
        "serve_client": "behandle_klient",
        "run_server": "kjor_server",
        "run_client": "kjor_klient",
        "transmit": "send_data_til",
        "amount_text": "mengde",
        "rate_text": "hastighet",
        "interval_text": "tidsrom",
        "total_sent": "antall_sendt",
        "total_received": "antall_mottatt",
        "read_arguments": "les_argumenter",
        "Report": "Tabell",
        "lap_start": "forrige_tid",
        "lap_sent": "forrige_antall",
        "whole_number": "sjekk_tall",
        "say": "skriv",
        "check_all": "sjekk_alt",
        "fail": "feil",
        "open_listener": "lytt",
        "seconds": "sekunder",
        "show_totals": "skriv_totalt",
    },
}
_SECONDS_GIVEN: Final = {
    "asked-time-rate", "num-rate-bytes", "num-rate-kilo", "total-rate-interval", "interval-rate-from-start",
}  # fmt: skip
_SIDE_KNOWN: Final = {"rate-bytes-client", "rate-mebi-client", "rate-mebi-server", "amount-binary-server"}


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "parts"),
        undefined=jinja2.StrictUndefined,
        line_statement_prefix="%%",
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        finalize=lambda value: value.rstrip("\n") if isinstance(value, str) else value,
    )


def files(choices: Choices, mistakes: Iterable[str]) -> dict[str, bytes]:
    """Return the program's files: first its own, ``simpleperf.py``, then those that it imports."""
    words = _words(choices, frozenset(mistakes))

    def part(name: str) -> str:
        return _environment().get_template(f"{name}.jinja").render(words)

    names = ["wire"]
    if choices["preamble"] != "none" and choices["parallel"] != "asyncio":
        names.append("hello")
    names.append(f"server_{choices['server'] if choices['server'] in ('selectors', 'asyncio') else 'blocking'}")
    names.append("client")
    if choices["parallel"] == "asyncio":
        names.append("client_asyncio")
    else:
        names.append(f"send_{ {'one': 'one_loop', 'two': 'two_loops', 'class': 'class'}[choices['loop']] }")
        if choices["parallel"] == "thread class":
            names.append("worker")
        names.append("client_processes" if choices["parallel"] == "processes" else "client_threads")
    names.append("main")
    report, arguments = part("report"), part("arguments")
    core = "\n\n\n".join(part(name) for name in names)
    shown = "Report, say, show_all" if choices["output"] == "collected" else "Report, say"
    match choices["files"]:
        case "one":
            texts = {"simpleperf.py": _module("\n\n\n".join((report, arguments, core)), choices)}
        case "module":
            texts = {
                "simpleperf.py": _module("\n\n\n".join((arguments, core)), choices, f"from table import {shown}"),
                "table.py": _module(report, choices),
            }
        case _:
            imports = f"from spkit.arguments import fail, read_arguments\nfrom spkit.report import {shown}"
            texts = {
                "simpleperf.py": _module(core, choices, imports),
                "spkit/__init__.py": '"""What simpleperf needs."""\n',
                "spkit/arguments.py": _module(arguments, choices),
                "spkit/report.py": _module(report, choices),
            }
    return {name: text.encode() for name, text in texts.items()}


def _words(choices: Choices, mistakes: frozenset[str]) -> dict[str, Any]:
    """Return what the templates may use."""
    headings = _HEADINGS.get(choices["headings"], _HEADINGS["sheet"])

    def cells(*expressions: str) -> str:
        order = [number for number in _ORDERS[choices["order"]] if number or choices["id"] != "none"]
        return "[" + ", ".join(expressions[number] for number in order) + "]"

    return {
        "c": SimpleNamespace(**choices),
        "wrong": lambda name: name in mistakes,
        "head": dict(zip(_HEADING_NAMES, headings, strict=True)),
        "cells": cells,
        "glue": " " if choices["amount_glue"] == "space" else "",
        "needs_seconds": bool(mistakes & _SECONDS_GIVEN),
        "needs_side": bool(mistakes & _SIDE_KNOWN),
    }


def _module(body: str, choices: Choices, imports: str = "") -> str:
    """Return a module's text: what it imports first, names as its author likes them."""
    body = re.sub(r"\bCHUNKS\b", choices["calls"], body).replace(" * 1\n", "\n").replace("1000 * 1)", "1000)")
    used = [name for name in _MODULES if name in body and re.search(rf"(?<![\w.]){re.escape(name)}\.", body)]
    if "processes." in body:
        used.append("multiprocessing")
    lines = [f"import {name}" for name in sorted(set(used))]
    lines += [line for mark, line in _FROM.items() if mark in body]
    lines += [imports] if imports else []
    if "processes." in body:
        lines += ["", 'processes = multiprocessing.get_context("fork")']
    if "STARTED" in body:
        body = body.replace("def serve_client", "STARTED = clock()\n\n\ndef serve_client", 1)
        body = body.replace("class Transfer", "STARTED = clock()\n\n\nclass Transfer", 1)
    text = "\n".join(lines) + "\n\n\n" + body.strip("\n") + "\n"
    text = re.sub(r"\n\n\n\n+", "\n\n\n", re.sub(r"[ \t]+\n", "\n", text))
    text = re.sub(r"\n+(?=(?:async def|def|class|main\(\)|if __name__)\b)", "\n\n\n", text)
    text = re.sub(r"(?<!:)\n+(?=    (?:async )?def )", "\n\n", text)
    for old, new in _NAMES[choices["names"]].items():
        if old in text:
            text = re.sub(rf"\b{old}\b", new, text)
    return text
