"""The recipe of docs/studies/two-pcs.md: its commands, on a lab that plays the hardware."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import linklab
from linklab.cli import main
from linklab.network import End, Host, Link, Network, Switch
from linklab.runtime.backends import Kind
from linklab.units import ETHERNET_OVERHEAD_BYTES

pytestmark = [pytest.mark.lab, pytest.mark.large]

PAGE = Path(__file__).parents[2] / "docs" / "studies" / "two-pcs.md"
RECEIVE, SEND, COMPARE = re.findall(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


def test_two_hosts_and_a_switch_give_the_file_that_a_page_takes(
    virtual: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cables = [
        Link(
            End(f"h{number}", f"h{number}-eth0", f"10.0.0.{number}/24"),
            End("s1", f"s1-eth{number}"),
            rate_mbps=1000,
            overhead_bytes=ETHERNET_OVERHEAD_BYTES,
        )
        for number in (1, 2)
    ]
    with linklab.start(Network("hardware", (Host("h1"), Host("h2"), Switch("s1")), tuple(cables))) as lab:
        receiving = lab["h2"].popen(["sh", "-c", RECEIVE.replace("eth0", "h2-eth0")])
        lab["h2"].wait_listening(5201)
        lab["h1"].cmd(SEND.replace("eth0", "h1-eth0"))
        receiving.wait()

    for command in COMPARE.replace("\\\n", "").splitlines():
        assert main(command.split()[1:]) == 0
    (page,) = Path("study-results/pages").glob("*.md")
    compared = {
        cells[1].partition(" ")[0]: (cells[3], cells[4].partition(" (")[0])
        for cells in ([cell.strip() for cell in line.split("|")] for line in page.read_text().splitlines())
        if len(cells) > 5 and cells[2].startswith("form=")
    }
    for metric in ("bandwidth_settled_mbps", "lost_packets", "burst_bytes"):
        given, ours = compared[metric]
        assert given == ours, compared
    assert float(compared["jitter_max_ms"][0]) < 1e-6
