"""Tables as many hands would print them, and the rows that a person reads in them."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

from linklab.measure.simpleperf_rows import Reading, Row, amount_bytes, intervals, rate_mbps, read


@dataclass(frozen=True)
class Shown:
    """A row that a program means to print."""

    port: int
    start_s: float
    end_s: float
    megabytes: float

    @property
    def fields(self) -> dict[str, object]:
        """Return what a style may fill in."""
        mbps = self.megabytes * 8 / (self.end_s - self.start_s)
        return {
            "ip": "10.0.0.2",
            "port": self.port,
            "id": f"10.0.0.2:{self.port}",
            "start": self.start_s,
            "end": self.end_s,
            "took": self.end_s - self.start_s,
            "mb": self.megabytes,
            "kb": round(self.megabytes * 1e3),
            "b": round(self.megabytes * 1e6),
            "mbps": mbps,
            "kbps": mbps * 1e3,
            "bps": mbps * 1e6,
            "gbps": mbps / 1e3,
            "mbytes_s": mbps / 8,
        }


ONE = [Shown(33540, 0, 25, 85)]
PARTS = [Shown(33540, 0, 2, 7), Shown(33540, 2, 4, 6), Shown(33540, 4, 6, 8), Shown(33540, 0, 6, 21)]
PARALLEL = [Shown(33540, 0, 25, 85), Shown(33542, 0, 25, 60), Shown(33544, 0, 25, 72)]


@dataclass(frozen=True)
class Style:
    """How a program prints: a heading, a row, and what stands before the total and at the end.

    `name` is what a row is called: a template too. `has_start` is False where a duration is printed.
    """

    title: str
    heading: str
    row: str
    foot: str = ""
    name: str = "{id}"
    has_start: bool = True
    unit: str = "MB"

    def text(self, shown: list[Shown], between: str = "") -> str:
        """Return what is printed, with a line before the last row if there is one."""
        lines = [self.row.format(**one.fields) for one in shown]
        if between:
            lines.insert(-1, between)
        return "\n".join(filter(None, [self.heading, *lines, self.foot]))


PLAIN = "ID               Interval     Received   Rate"
STYLES = [
    # as the assignment has it
    Style("reference", PLAIN, "{id}   {start:.1f} - {end:.1f}   {mb:.0f} MB      {mbps:.2f} Mbps"),
    Style("tabs", "ID\tInterval\tTransfer\tBandwidth", "{id}\t{start:.1f}-{end:.1f}\t{mb:.0f} MB\t{mbps:.2f} Mbps"),
    Style(
        "two tabs above, one below",
        "ID\t\tInterval\t\tTransfer\t\tBandwidth",
        "{id}\t{start:.1f} - {end:.1f}\t{mb:.2f} MB\t{mbps:.2f} Mbps",
    ),
    Style(
        "print with commas",
        "ID Interval Transfer Bandwidth",
        "{id} {start} - {end} {mb} MB {mbps} Mbps",
    ),
    Style("right aligned", PLAIN, "{id:>21}{start:>8.1f} - {end:>6.1f}{mb:>8.0f} MB{mbps:>10.2f} Mbps"),
    Style("seconds", PLAIN, "{id}  {start:.2f}s - {end:.2f}s  {mb:.2f} MB  {mbps:.2f} Mbps"),
    Style("square brackets", PLAIN, "{id}\t[{start:.1f} - {end:.1f}]\t{mb:.0f}MB\t{mbps:.2f}Mbps"),
    Style("pair in brackets", PLAIN, "{id}  ({start}, {end})  {mb} MB  {mbps:.2f} megabits per second"),
    Style("pair by colon", PLAIN, "{id}  [{start}:{end}]  {mb} MB  {mbps:.2f} Mb/s"),
    Style("arrow", PLAIN, "{id}  {start} \u2192 {end}  {mb} MB  {mbps:.2f} Mb/s"),
    Style("en dash", PLAIN, "{id}  {start:.1f}\u2013{end:.1f} s  {mb:.1f} MB  {mbps:.2f} Mbit/s"),
    Style("wide dash", PLAIN, "{id}    {start:.1f}  -  {end:.1f}    {mb:.0f} MB    {mbps:.2f} Mbps"),
    # python's own
    Style("tuple", "", "('{id}', '{start} - {end}', '{mb:.0f} MB', {mbps:.2f})"),
    Style(
        "list of lone numbers", "['ID', 'Interval', 'Transfer', 'Bandwidth']", "['{id}', '{start}-{end}', {mb}, {mbps}]"
    ),
    Style("flat tuple below words", "ID Start End Transfer Rate", "('{id}', {start}, {end}, {mb}, {mbps})"),
    Style("tuple of five below four", "ID Interval Transfer Rate", "('{id}', {start}, {end}, {mb}, {mbps})"),
    Style("nested tuple", PLAIN, "(('{ip}', {port}), ({start}, {end}), '{mb} MB', '{mbps} Mbps')"),
    Style("address as tuple", PLAIN, "('{ip}', {port})  {start:.1f} - {end:.1f}  {mb:.0f} MB  {mbps:.2f} Mbps"),
    Style(
        "dict",
        "",
        "{{'id': '{id}', 'interval': '{start} - {end}', 'transfer': '{mb} MB', 'bandwidth': '{mbps} Mbps'}}",
    ),
    Style(
        "dataclass",
        "",
        "Result(id='{id}', start={start}, end={end}, transfer_mb={mb}, rate_mbps={mbps})",
    ),
    Style("json", "", '{{"id": "{id}", "start": {start}, "end": {end}, "bytes": {b}, "rate_mbps": {mbps}}}'),
    Style(
        "json as iperf3",
        "",
        '{{"host": "{ip}", "port": {port}, "start": {start}, "end": {end}, '
        '"bytes": {b}, "bits_per_second": {bps:.1f}}}',
    ),
    Style("json pair", "", '{{"client": "{id}", "interval": [{start}, {end}], "MB": {mb}, "Mbps": {mbps}}}'),
    Style(
        "pretty json",
        "",
        "{{\n"
        '  "id": "{id}",\n'
        '  "start": {start},\n'
        '  "end": {end},\n'
        '  "transfer": "{mb} MB",\n'
        '  "rate": "{mbps} Mbps"\n'
        "}}",
    ),
    # bars
    Style(
        "bars",
        "| ID | Interval | Transfer | Rate |",
        "| {id} | {start:.1f} - {end:.1f} | {mb:.0f} MB | {mbps:.2f} Mbps |",
    ),
    Style(
        "prettytable",
        "+--+--+\n|         ID         |  Interval  | Transfer | Bandwidth |\n+--+--+",
        "| {id:^20} | {start:>4.1f}  -  {end:<4.1f} |  {mb:.0f}   MB | {mbps:.2f}  Mbps |",
        "+--+--+",
    ),
    Style(
        "bars and units above",
        "| ID | Interval (s) | Transfer (MB) | Rate (Mbps) |\n|---|---|---|---|",
        "| {id} | {start:.1f} - {end:.1f} | {mb:.0f} | {mbps:.2f} |",
    ),
    Style(
        "rich",
        "\u250f\u2501\u2501\u2533\u2501\u2501\u2513\n"
        "\u2503 ID \u2503 Interval \u2503 Transfer \u2503 Bandwidth \u2503\n"
        "\u2521\u2501\u2501\u2547\u2501\u2501\u2529",
        "\u2502 {id} \u2502 {start:.1f} - {end:.1f} \u2502 {mb:.0f} MB \u2502 {mbps:.2f} Mbps \u2502",
        "\u2514\u2500\u2500\u2534\u2500\u2500\u2518",
    ),
    Style(
        "start and end in columns",
        "| Client | Start | End | Data [MB] | Throughput [Mbit/s] |",
        "| {id} | {start:.2f} | {end:.2f} | {mb:.2f} | {mbps:.2f} |",
    ),
    Style("units in bars of their own", "", "| {id} | {start} - {end} | {mb} | MB | {mbps} | Mbps |"),
    Style(
        "presto", " ID | Interval | Received | Rate\n----+-----+----", " {id} | {start}-{end} | {mb} MB | {mbps} Mbps"
    ),
    Style("empty cell", "| ID | Note | Interval | Transfer | Rate |", "| {id} | | {start}-{end} | {mb} | {mbps} |"),
    Style(
        "port in a column",
        "| Address | Port | Interval | Transfer (KB) | Rate (Kbps) |",
        "| {ip} | {port} | {start}-{end} | {kb} | {kbps:.0f} |",
    ),
    # separated values
    Style("csv", "id,start,end,transfer_mb,rate_mbps", "{id},{start},{end},{mb},{mbps}"),
    Style("csv with units", "", "{id},{start}-{end},{mb} MB,{mbps} Mbps"),
    Style("csv of start and end", "", "{id},{start},{end},{mb:.0f}MB,{mbps:.2f}Mbps"),
    Style("commas and spaces", "ID, Start, End, Transfer (MB), Rate (Mbps)", "{id}, {start}, {end}, {mb}, {mbps}"),
    Style("semicolons", "ID;Interval;Bytes;Rate (bit/s)", "{id};{start}-{end};{b};{bps:.0f}"),
    Style("address and port as values", "ip,port,start,end,bytes,mbps", "{ip},{port},{start},{end},{b},{mbps}"),
    # headings
    Style("misspelt", "ID  Intervall  Tranfer  Bandwith", "{id}  {start}-{end}  {mb}  {mbps}"),
    Style("misspelt otherwise", "Adress  Intervals  Recieved  Throughtput", "{id}  {start}-{end}  {mb}  {mbps}"),
    Style("upper case", "ID\tINTERVAL\tTRANSFERED\tBANDWITH", "{id}\t{start}-{end}\t{mb}\t{mbps}"),
    Style(
        "units below",
        "ID               Interval      Transfer    Bandwidth\n"
        "                 (s)           (MB)        (Mbps)\n"
        "-----",
        "{id}   {start:<4} - {end:<7}{mb:<12.1f}{mbps:.2f}",
    ),
    Style("brackets in words", "ID Interval(s) Transfer(MB) Rate(Mbps)", "{id} {start}-{end} {mb} {mbps}"),
    Style("units named", "ID  Time in s  Data in KB  Speed in Kbps", "{id}  {start} - {end}  {kb}  {kbps}"),
    Style("time only", "ID   Time (s)   Bytes sent   Mbps", "{id}   {took}   {b}   {mbps}", has_start=False),
    Style("milliseconds", "ID  Start (ms)  End (ms)  MB  Mbps", "{id}  0  25000  {mb}  {mbps}"),
    Style(
        "norwegian",
        "Klient            Tidsrom        Overf\u00f8rt     Hastighet",
        "{id}   {start:.1f} til {end:.1f} sek   {mb:.1f} MB   {mbps:.2f} Mbit/sek",
    ),
    Style(
        "german",
        "Verbindung  Zeitraum [s]  Menge [MB]  Datenrate [Mbit/s]",
        "{id}  {start:.1f} bis {end:.1f}  {mb:.1f}  {mbps:.2f}",
    ),
    # sentences
    Style("sentence", "", "Received {mb:.0f} MB in {took:.2f} seconds at {mbps:.2f} Mbps", name="", has_start=False),
    Style(
        "sentence with an address",
        "",
        "Client {ip} port {port}: {start} to {end} sec, {kb} KBytes, {mbps} Mbits/sec",
    ),
    Style("over", "", "[{id}] {mb:.2f}MB/{took:.2f}s = {mbps:.2f}Mbps", has_start=False),
    Style("labels", "", "ID={id}; Interval={start}..{end}; Transfer={mb} MB; Bandwidth={mbps} Mbps"),
    Style("labels by spaces", "", "id={id} start={start}s end={end}s transferred={mb}MB rate={mbps}Mbps"),
    Style("labels without units", "", "client {id}: start={start} end={end} bytes={b} mbps={mbps}"),
    Style("alternatives", "", "{id}  {start}-{end} s  {mb} MB ({b} bytes)  {mbytes_s} MB/s ({mbps} Mbps)"),
    Style("interval and length", "", "{id}: {start:.1f} - {end:.1f} s ({took:.2f} s), {mb} MB, {mbps:.2f} Mbps"),
    Style("emoji", "", "\U0001f680 {id} \u23f1\ufe0f {start} \u279c {end} s \U0001f4e6 {mb} MB \u26a1 {mbps} Mbps"),
    Style("timedelta", "", "{id}  0:00:00 - 0:00:25  {mb} MB  {mbps} Mbps"),
    # numbers
    Style("thousands", PLAIN, "{id}  {start} - {end}  {b:,} B  {kbps:,.2f} Kbps"),
    Style("underscores", PLAIN, "{id}  {start} - {end}  {b:_} bytes  {bps:_.1f} bps"),
    Style("gigabits", PLAIN, "{id}  {start} - {end}  {kb} KB  {gbps:.6f} Gbps"),
    Style("exponents", PLAIN, "{id}  {start} - {end}  {b:.6e} B  {bps:.5e} bit/s"),
    Style("no-break spaces", PLAIN, "{id}\u00a0 {start}\u00a0- {end}\u2003{mb}\u202fMB\u2009 {mbps}\u00a0Mbps"),
    Style("numpy", PLAIN, "{id} [{start:.0f}. {end:.0f}.] {mb:.0f}. MB {mbps} Mbps"),
    Style("colours", PLAIN, "\x1b[32m{id}\x1b[0m  \x1b[1m{start} - {end}\x1b[0m  {mb} MB  {mbps} Mbps"),
    # logs
    Style("log", "", "2024-01-02 10:00:00,123 INFO root: {id} {start}-{end} {mb} MB {mbps} Mbps"),
    Style("clock in front", "", "[10:00:25] {id}  {start}-{end}s  {mb} MB  {mbps} Mbps"),
    Style("iso date", "", "2024-01-02T10:00:00.250Z {id} {start:.1f}s-{end:.1f}s {mb}MB {mbps}Mbps"),
    # iperf
    Style(
        "iperf",
        "[ ID] Interval           Transfer     Bandwidth",
        "[{port}]  {start:.1f}-{end:.1f} sec  {mb:.1f} MBytes  {mbps:.2f} Mbits/sec",
        name="{port}",
    ),
    Style(
        "both ends", PLAIN, "{id} -> 10.0.5.2:8088  {start}-{end}  {mb} MB  {mbps} Mbps", name="{id} - 10.0.5.2:8088"
    ),
    # upright
    Style("upright", "", "ID: {id}\nInterval: {start} - {end}\nReceived: {mb:.0f} MB\nRate: {mbps:.2f} Mbps"),
    Style(
        "upright with rules",
        "",
        "----------\n"
        "Client {id}\n"
        "----------\n"
        "Duration:   {took:.2f} s\n"
        "Data sent:  {mb:.2f} MB\n"
        "Throughput: {mbps:.2f} Mbps\n"
        "",
        has_start=False,
    ),
    Style(
        "upright, units in labels",
        "",
        "Connection {id}:\n"
        "  Start (s) = {start}\n"
        "  End (s) = {end}\n"
        "  Amount (MB) = {mb}\n"
        "  Chunks = 85000\n"
        "  Rate (Mbps) = {mbps}",
    ),
    Style("upright, no labels", "", "{id}\n{start} - {end}\n{mb} MB\n{mbps} Mbps\n"),
    Style(
        "upright in bars",
        "",
        "| Client | {id} |\n| Interval | {start} - {end} |\n| Transfer | {mb} MB |\n| Rate | {mbps} Mbps |",
    ),
    # over two lines
    Style("wrapped", PLAIN, "{id}   {start:.1f} - {end:.1f}\n     {mb:.0f} MB      {mbps:.2f} Mbps"),
    Style("name above", "", "{id}:\n   {start:.1f} - {end:.1f}   {mb:.0f} MB   {mbps:.2f} Mbps"),
    Style(
        "cells that go on",
        "\u2502 ID \u2502 Interval \u2502 Transfer \u2502 Rate \u2502",
        "\u2502 {id} \u2502 {start} -  \u2502 {mb:.2f}    \u2502 {mbps:.2f}   \u2502\n"
        "\u2502       \u2502 {end}    \u2502 MB       \u2502 Mbps \u2502",
    ),
]


def said(text: str) -> Reading:
    return read((0.0, line) for line in text.split("\n"))


def as_read(found: Row, unit: str) -> tuple[object, ...]:
    megabytes = pytest.approx(amount_bytes(found, unit) / 1e6, rel=1e-3)
    return found.name, found.start_s, found.end_s, megabytes, pytest.approx(rate_mbps(found.rate), rel=1e-3)


def as_meant(shown: Shown, style: Style) -> tuple[object, ...]:
    span = (shown.start_s, shown.end_s) if style.has_start else (None, shown.end_s - shown.start_s)
    return style.name.format(**shown.fields), *span, shown.megabytes, shown.fields["mbps"]


@pytest.mark.parametrize("shown", [ONE, PARTS, PARALLEL], ids=["one", "intervals", "parallel"])
@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.title.replace(" ", "-"))
def test_a_person_and_the_check_read_the_same(style: Style, shown: list[Shown]) -> None:
    if shown is PARTS and "25" in style.row:
        pytest.skip("this style is of one length")
    found = said(style.text(shown, "-" * 40 if shown is PARTS else ""))
    assert [as_meant(one, style) for one in shown] == [as_read(row, style.unit) for row in found.rows]
    assert found.unread == ()


ROW = "10.0.0.2:33540   0.0 - 2.0   2 MB   8.00 Mbps"
OTHER = "10.0.0.2:33542   0.0 - 2.0   3 MB   12.00 Mbps"


def short(found: Row) -> str:
    start = "" if found.start_s is None else f"{found.start_s:g}"
    amount, rate = f"{found.amount.value:g}{found.amount.unit}", f"{found.rate.value:g}{found.rate.unit}"
    return f"{found.name}{'+' if found.is_sum else ''} {start}-{found.end_s:g} {amount} {rate}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # two threads' rows on one line
        (ROW + OTHER + "\n\n", ["10.0.0.2:33540 0-2 2MB 8Mbps", "10.0.0.2:33542 0-2 3MB 12Mbps"]),
        (f"{ROW}\t{ROW}", ["10.0.0.2:33540 0-2 2MB 8Mbps"] * 2),
        ("0.0-2.0 2 MB 8 Mbps0.0-2.0 3 MB 12 Mbps", [" 0-2 2MB 8Mbps", " 0-2 3MB 12Mbps"]),
        (
            "[0-2] 10.0.0.2:5001 2 MB 8 Mbps[0-2] 10.0.0.2:5003 3 MB 12 Mbps",
            ["10.0.0.2:5001 0-2 2MB 8Mbps", "10.0.0.2:5003 0-2 3MB 12Mbps"],
        ),
        (
            "0-2 2 MB 8 Mbps 10.0.0.2:5001 0-2 3 MB 12 Mbps 10.0.0.2:5003",
            ["10.0.0.2:5001 0-2 2MB 8Mbps", "10.0.0.2:5003 0-2 3MB 12Mbps"],
        ),
        (
            '[{"id": "a1", "start": 0, "end": 2, "MB": 2, "Mbps": 8}, '
            '{"id": "a2", "start": 0, "end": 2, "MB": 3, "Mbps": 12}]',
            ["a1 0-2 2MB 8Mbps", "a2 0-2 3MB 12Mbps"],
        ),
        # totals
        (
            f"{ROW}\nTotal10.0.0.2:33540  0.0 - 4.0  5 MB  10.00 Mbps",
            ["10.0.0.2:33540 0-2 2MB 8Mbps", "10.0.0.2:33540 0-4 5MB 10Mbps"],
        ),
        (
            f"{ROW}\nTotal: 10.0.0.2:33540  0.0 - 4.0  5 MB  10.00 Mbps",
            ["10.0.0.2:33540 0-2 2MB 8Mbps", "10.0.0.2:33540 0-4 5MB 10Mbps"],
        ),
        (
            f"{ROW}\n\nTotal time: 4.0 s\nTotal data: 5 MB\nAverage rate: 10.00 Mbps",
            ["10.0.0.2:33540 0-2 2MB 8Mbps", "10.0.0.2:33540 -4 5MB 10Mbps"],
        ),
        (
            f"{ROW}\n{OTHER}\nTotal time: 4.0 s\nTotal data: 5 MB\nAverage rate: 10.00 Mbps",
            ["10.0.0.2:33540 0-2 2MB 8Mbps", "10.0.0.2:33542 0-2 3MB 12Mbps", "+ -4 5MB 10Mbps"],
        ),
        (
            "Client 1:\nTime: 4 s\nData: 5 MB\nRate: 10 Mbps\nClient 2:\nTime: 5 s\nData: 6 MB\nRate: 11 Mbps",
            ["Client 1 -4 5MB 10Mbps", "Client 2 -5 6MB 11Mbps"],
        ),
        (
            f"{ROW}\n{OTHER}\n[SUM]   0.0 - 2.0   5 MB   20 Mbps",
            ["10.0.0.2:33540 0-2 2MB 8Mbps", "10.0.0.2:33542 0-2 3MB 12Mbps", "SUM+ 0-2 5MB 20Mbps"],
        ),
        (
            "Client 10.0.0.2:5001\nReceived 5 MB in 4.0 seconds\nBandwidth: 10 Mbps\n"
            "Client 10.0.0.2:5003\nReceived 6 MB in 4.0 seconds\nBandwidth: 12 Mbps",
            ["10.0.0.2:5001 -4 5MB 10Mbps", "10.0.0.2:5003 -4 6MB 12Mbps"],
        ),
        # rows that are numbered
        ("1  0-2 s  2 MB  8 Mbps\n2  2-4 s  2 MB  8 Mbps", [" 0-2 2MB 8Mbps", " 2-4 2MB 8Mbps"]),
        ("[  3]  0-2 s  2 MB  8 Mbps\n[  3]  2-4 s  2 MB  8 Mbps", ["3 0-2 2MB 8Mbps", "3 2-4 2MB 8Mbps"]),
        ("Interval 1: 0-2 s, 2 MB, 8 Mbps\nInterval 2: 2-4 s, 2 MB, 8 Mbps", [" 0-2 2MB 8Mbps", " 2-4 2MB 8Mbps"]),
        ("Between 0.0 and 2.0 seconds: 2 MB transferred, 8 Mbps", [" 0-2 2MB 8Mbps"]),
        ("85000000 bytes in 25.0 seconds = 27.20 Mbps", [" -25 8.5e+07bytes 27.2Mbps"]),
        ("85 MB / 25 s => 27.2 Mbps", [" -25 85MB 27.2Mbps"]),
        ("elapsed=25.0 bytes_sent=85000000 rate=27.2 Mbps", [" -25 8.5e+07bytes 27.2Mbps"]),
        ("RTT 20.1 ms, 85 MB in 25.0 s, 27.2 Mbps", [" -25 85MB 27.2Mbps"]),
        (
            f"{ROW}\nClient finished: duration 4.0 s, total 5 MB, average 10 Mbps",
            ["10.0.0.2:33540 0-2 2MB 8Mbps", "10.0.0.2:33540 -4 5MB 10Mbps"],
        ),
        (
            "Results for client 10.0.0.2:5001:\n - time: 4 s\n - data: 5 MB\n - rate: 10 Mbps\n"
            "Results for client 10.0.0.2:5003:\n - time: 4 s\n - data: 6 MB\n - rate: 12 Mbps",
            ["10.0.0.2:5001 -4 5MB 10Mbps", "10.0.0.2:5003 -4 6MB 12Mbps"],
        ),
        # a heading tells which of two counts
        (
            "[ ID] Interval        Transfer     Bitrate       Retr  Cwnd\n"
            "[  5]  0.0-2.0   sec  2.00 MBytes  8.0 Mbits/sec    0   160 KBytes",
            ["5 0-2 2MBytes 8Mbits/sec"],
        ),
        # numbers
        ("a  0,00 - 2,05  2,10 MB  8,20 Mbps", ["a 0-2.05 2.1MB 8.2Mbps"]),
        ("a  0,000 - 2,050  2,100 MB  8,200 Mbps", ["a 0-2.05 2.1MB 8.2Mbps"]),
        ("a  0 - 2  2.100.000 B  8.400,5 Kbps", ["a 0-2 2.1e+06B 8400.5Kbps"]),
        ("a  0 - 2  2'100'000 B  8 Mbps", ["a 0-2 2.1e+06B 8Mbps"]),
        ("a  0 - 2  2\u202f100\u00a0000 B  8 Mbps", ["a 0-2 2.1e+06B 8Mbps"]),
        ("a  -0.5 - 2.0  2  MB 8  Mbps", ["a -0.5-2 2MB 8Mbps"]),
        ("a  0.0 - 2000.0 ms  2 MB  8 Mbps", ["a 0-2 2MB 8Mbps"]),
        ("a  0.0 - 2.0  85 MB  680 Mbit  8 Mbit/s", ["a 0-2 85MB 8Mbit/s"]),
        ("a  0.0 - 2.0  85 MB  8 Mbit", ["a 0-2 85MB 8Mbit"]),
    ],
)
def test_rows_are_told_apart(text: str, expected: list[str]) -> None:
    found = said(text)
    assert [short(row) for row in found.rows] == expected
    assert found.unread == ()


@pytest.mark.parametrize(
    "line",
    [
        "",
        "Connected to 10.0.5.2 port 8088",
        "A simpleperf server is listening on port 8088",
        "2024-01-02 10:00:00,123 DEBUG sent 1000 bytes",
        "sent 1000 bytes",
        "progress 25%",
        " 25%|\u2588\u2588\u258c       | 21.2 MB/85.0 MB [00:06<00:18, 3.40MB/s]",
        "sending \u2501\u2501\u2501\u2501\u2501 100% 85.0 MB 27.2 Mbps 0:00:25",
        "Sending chunks of 1000 bytes for 25 seconds",
        "Namespace(server=False, client=True, time=25, interval=5, format='MB', parallel=1)",
        "Time: 25 s",
        "client 3 of 5 has gone",
        "1,000 chunks",
        "Traceback (most recent call last):",
        "usage: simpleperf.py [-h] [-s] [-c] [-t TIME] [-i INTERVAL] [-f {B,KB,MB}] [-n NUM]",
    ],
)
def test_other_lines_are_neither_rows_nor_unread(line: str) -> None:
    assert said(line) == Reading((), ())
    around = said(f"{PLAIN}\n{ROW}\n{line}\n{OTHER}")
    assert [row.line for row in around.rows] == [ROW, OTHER]
    assert around.unread == ()


@pytest.mark.parametrize(
    "line",
    [
        "10.0.0.2:33540   0.0 - 25.0   27.20 Mbps",
        "10.0.0.2:33540   0.0 - 25.0   85 MB",
        "10.0.0.2:33540   85 MB   27.20 Mbps",
        # which of the two is it?
        "10.0.0.2:33540   0.0 - 25.0   85 MB   27.20 Mbps   31.00 Mbps",
        "10.0.0.2:33540   0.0 - 25.0   5.0 - 10.0   85 MB   27.20 Mbps",
        "sent 85 MB, received 60 MB in 25.0 s at 27.20 Mbps",
        # a row and the beginning of another
        ROW + "10.0.0.2:33542   0.0 - 2.0   3 MB",
        ROW + "10.0.0.2:33542   0.0 -",
        "10.0.0.2:33540   10.0.0.2:33542   0.0 - 2.0   0.0 - 2.0   2 MB   3 MB   8 Mbps   12 Mbps",
        "10.0.0.2:33540   00:00 - 00:25   85 MB   27.20 Mbps",
        "10.0.0.2:33540   0   25   85   27.20",
        # units that nobody knows
        "10.0.0.2:33540   0.0 - 25.0   85 blobs   27.20 Mbps",
    ],
)
def test_what_cannot_be_read_for_certain_is_unread(line: str) -> None:
    assert said(line) == Reading((), (line,))
    assert said(f"{ROW}\n{line}\n{OTHER}").unread == (line,)


def test_the_source_in_a_traceback_is_no_row() -> None:
    trace = 'Traceback (most recent call last):\n  File "s.py", line 3, in <module>\n    '
    assert said(f'{trace}print("x 0-2 {{n/1000000:.1f}} MB 8 Mbps")\nNameError: n') == Reading((), ())


def test_a_number_too_many_is_no_rate() -> None:
    line = "10.0.0.2:33540 0.0 - 25.0 85 27.2 3"
    assert said(f"ID Interval Transfer Bandwidth\n{line}") == Reading((), (line,))


def test_a_preamble_is_no_part_of_a_row() -> None:
    text = "Sending for 25 s\nTime: 25 s\n10.0.0.2:33540   85 MB   27.20 Mbps"
    assert said(text) == Reading((), ("10.0.0.2:33540   85 MB   27.20 Mbps",))


def test_an_average_below_a_table_without_rates_is_none_of_its_rows() -> None:
    lines = ["10.0.0.2:33540   0.0 - 2.0   2 MB", "10.0.0.2:33540   2.0 - 4.0   2 MB"]
    assert said("\n".join([*lines, "Average rate: 8 Mbps"])) == Reading((), tuple(lines))


MUTATIONS = "0123456789.,:;-+eE'\"()[]{}|/\\ \t\u2502\u00a0\r\x1bsBMbp=%\u202f\u0663\u00b2\ue000\x1f"


@pytest.mark.slow
def test_no_text_breaks_it() -> None:
    chance = random.Random(19)
    lines = [line for style in STYLES for line in style.text(PARALLEL[:2]).split("\n")]
    for _ in range(250):
        text = "\n".join(_mutated(chance.choice(lines), chance) for _ in range(10))
        first, again = said(text), said(text)
        assert repr(first) == repr(again)


def _mutated(line: str, chance: random.Random) -> str:
    for _ in range(chance.randrange(4)):
        at = chance.randrange(len(line) + 1)
        cut = chance.choice((0, 0, 1, 2, 8))
        line = line[:at] + "".join(chance.choices(MUTATIONS, k=chance.choice((0, 1, 1, 3)))) + line[at + cut :]
    return line


@pytest.mark.slow
@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "piece",
    [
        "1",
        ".",
        "1.",
        "1,",
        "1 ",
        "1,111",
        "1 - ",
        "10.0.0.2:1 ",
        "1 MB ",
        "| ",
        "\t",
        "1 s",
        "(",
        "'",
        "a-",
        "1:00:00 ",
        "word ",
        "12% ",
        "1e",
        "=1",
    ],
)
@pytest.mark.parametrize("width", [100, 1900])
def test_much_text_takes_little_time(piece: str, width: int) -> None:
    line = (piece * (width // len(piece) + 1))[:width]
    said("\n".join([line] * (20_000 // width)))


@pytest.mark.slow
@pytest.mark.thorough  # test_much_text_takes_little_time has texts of 20,000 characters
@pytest.mark.timeout(60)
def test_half_a_megabyte_of_digits_and_dots_takes_seconds() -> None:
    chance = random.Random(19)
    text = "".join(chance.choices("0123456789....,- \n", k=512_000))
    assert said(text).rows == ()
    assert said(text.replace("\n", "")) == Reading((), ())


_ROWS = """ID                   Interval             Transfer             Bandwidth
10.0.0.1:37578       [0.0 - 1.00]         0.63 MB              5.03 Mbps
10.0.0.1:37578       [1.0 - 2.02]         0.53 MB              4.13 Mbps
10.0.0.1:37578       [2.0 - 3.11]         0.64 MB              4.73 Mbps
10.0.0.1:37578       [0.0 - 3.11]         1.80 MB              4.63 Mbps"""


def test_a_begin_with_fewer_digits_than_the_end_before_is_no_total() -> None:
    """With Debian 13's Python a client printed "2.0" after "2.02", and the interval was lost."""
    (found,) = intervals(_ROWS.splitlines()).values()
    assert [one.end_s for one in found] == [1.00, 2.02, 3.11]


def test_a_total_after_a_single_interval_is_a_total() -> None:
    lines = _ROWS.splitlines()
    (found,) = intervals(
        [*lines[:2], "10.0.0.1:37578       [0.0 - 1.02]         0.64 MB              5.01 Mbps"]
    ).values()
    assert [one.end_s for one in found] == [1.00]
