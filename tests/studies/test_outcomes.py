"""Each claim has two achievable configurations with different outcomes, or is decided by construction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from linklab.discovery import study_names
from linklab.study import Study
from linklab.study.catalogue import claims_of
from linklab.study.claims import JudgedClaim, judged
from linklab.study.table import StudyTable, read_table
from studies.controllers.study import FIRST_PACKET, PATH
from studies.outage.study import OUTAGE, STATIC, USUAL
from studies.report.judges import in_own_setting
from studies.report.study import REPORT_ALONE, REPORT_SHARED, REPORT_UDP
from studies.switches.judges import CISCO

from .measured import PRINTED, alone, busy_film, changed, far_controller, repeated, short
from .report_variants import FOLDER, VARIANTS
from .test_controllers import ONE_WAY
from .test_controllers import made as first_packets
from .test_outage import LATE_MS
from .test_outage import made as outages
from .test_switches import CISCO_WINS, tables
from .test_tcp import EVEN, UNEVEN
from .test_tcp import table as tcp_table
from .test_trunks import tables as trunks_tables

DOCS = Path(__file__).parents[2] / "docs" / "studies" / "data"
PAPERS = {"form": "direct", "sending": "paced", "switch": "openflow"}
Configuration = Callable[[], tuple[Mapping[str, StudyTable], Mapping[str, StudyTable] | None]]
"""Tables of ours, and of hardware beside them."""


def mtu(**settings: Any) -> Configuration:
    return lambda: ({"mtu": short("mtu").select(**settings)}, None)


def mtu_beside(hardware: Callable[[], StudyTable]) -> Configuration:
    return lambda: ({"mtu": short("mtu")}, {"mtu": hardware()})


def ours_as_hardware(**settings: Any) -> Configuration:
    return mtu_beside(lambda: short("mtu").select(**{**PAPERS, **settings}))


def spacing(shaper: str) -> Configuration:
    return lambda: ({"video": short("video").select(shaper=shaper)}, None)


def film(*changes: tuple[float, str], **levels: Any) -> Configuration:
    """Hardware's film is ours, but for some metrics."""

    def make() -> tuple[Mapping[str, StudyTable], Mapping[str, StudyTable]]:
        hardware = short("video").select(sender="paced", shaper="htb", switch="bridge")
        for factor, metric in changes:
            hardware = changed(hardware, factor, metric=metric, **levels)
        return {"video": short("video")}, {"video": hardware}

    return make


def variant(name: str) -> Configuration:
    """A network like the course's, in Linklab's own setting."""
    study = VARIANTS[name]
    return lambda: ({study.name: in_own_setting(read_table(study, FOLDER / name))}, None)


@cache
def course() -> tuple[Mapping[str, StudyTable], None]:
    """The course network, as the page has it: in the setting nearest to the report's."""
    return {study.name: read_table(study, DOCS) for study in (REPORT_UDP, REPORT_ALONE, REPORT_SHARED)}, None


def own() -> tuple[Mapping[str, StudyTable], None]:
    """The course network in Linklab's own setting."""
    return {name: in_own_setting(table) for name, table in course()[0].items() if name != REPORT_UDP.name}, None


def switches(**hardware: Any) -> Configuration:
    given = {**CISCO_WINS, **hardware}
    return lambda: (tables(), tables((CISCO, "ovs", "lisa"), **given))


def kept(study: Study, **levels: Any) -> Configuration:
    """A part of what the study's page has."""
    return lambda: ({study.name: read_table(study, DOCS).select(**levels)}, None)


def tcp(**made_up: Any) -> Configuration:
    return lambda: ({"tcp": tcp_table(**made_up)}, None)


def trunks(**made_up: Any) -> Configuration:
    return lambda: (trunks_tables(**made_up), None)


UNFAIR = {CISCO: 0.4, "ovs": 0.5, "lisa": 0.5}
OUTCOMES: Mapping[str, tuple[Configuration, Configuration]] = {
    "mtu-first-packets": (mtu(frame_bytes=7999), mtu(switch="bridge")),
    "mtu-settles": (mtu(), mtu(form="gre")),
    "mtu-start-below": (lambda: ({"mtu": far_controller()}, None), mtu(switch="bridge")),
    "mtu-bandwidth-size": (mtu(), mtu(form="gre")),
    "mtu-jitter-size": (mtu(sending="greedy", switch="bridge"), mtu()),
    "mtu-jitter-start": (mtu(), mtu(switch="bridge")),
    "mtu-light-load": (mtu_beside(lambda: PRINTED["mtu"]), ours_as_hardware()),
    "mtu-bandwidth-near": (
        mtu_beside(lambda: PRINTED["mtu"]),
        mtu_beside(lambda: changed(PRINTED["mtu"], 0.9, metric="bandwidth_mean_mbps")),
    ),
    "mtu-real-less": (mtu_beside(lambda: PRINTED["mtu"]), ours_as_hardware()),
    "mtu-jitter-real": (mtu_beside(lambda: PRINTED["mtu"]), ours_as_hardware(switch="bridge")),
    "video-bandwidth-alike": (film(), film((1.2, "bandwidth_kbps_mean"))),
    "video-wan-alike": (film(), film((1.2, "bandwidth_kbps_maximum"), link_mbps=2)),
    "video-devices-minimum": (lambda: ({"video": busy_film()}, None), lambda: ({"video": short("video")}, None)),
    "video-devices-real": (film(), film((1.2, "bandwidth_kbps_minimum"), link_mbps=10)),
    "video-wan-spacing": (spacing("htb"), spacing("frame")),
    "video-delay-range": (film((0.01, "delay_ms_minimum"), (10, "delay_ms_maximum")), film()),
    "video-jitter-real": (film((1e5, "jitter_ms_mean"), (1e5, "jitter_ms_maximum")), film((0.01, "jitter_ms_maximum"))),
    "video-jitter-low": (film((0.01, "jitter_ms_maximum")), film((1e5, "jitter_ms_maximum"))),
    "video-delay-deviation": (film((1.2, "delay_ms_deviation")), film()),
    "video-jitter-fast-wan": (
        film((1e5, "jitter_ms_mean"), (1e5, "jitter_ms_maximum"), (1e5, "jitter_ms_deviation")),
        film(),
    ),
    "report-start-high": (course, variant("udp-faster-links")),
    "report-three-less-fair": (variant("shared-unequal"), own),
    "report-crossing-rtt": (course, variant("shared-long-l3")),
    "report-parallel-loss": (variant("shared-slow-access"), course),
    "report-udp-table": (course, variant("udp-slower-l2")),
    "report-udp-transfers": (course, variant("udp-slower-l2")),
    "report-udp-lossless": (course, variant("udp-slower-l2")),
    "report-udp-full-rate": (course, variant("udp-faster-links")),
    "report-link-throughput": (course, variant("alone-misconfigured")),
    "report-path-throughput": (course, own),
    "report-shared-rtt": (course, variant("shared-short-queues")),
    "report-shared-fair": (variant("shared-slow-access"), course),
    "report-three-rtt": (own, variant("shared-far-hosts")),
    "report-three-throughput": (course, variant("shared-slow-access")),
    "report-apart-throughput": (course, variant("shared-h8-at-r2")),
    "report-parallel-fair": (own, course),
    "report-parallel-less": (own, variant("shared-slow-access")),
    "switch-cisco-rtt": (switches(), switches(rtt={CISCO: 1.1})),
    "switch-ethernet-near": (switches(), switches(rtt={CISCO: 0.5})),
    "switch-flat-rtt-intra": (switches(), switches(flat=False)),
    "switch-flat-rtt-inter": (switches(), switches(flat=False)),
    "switch-cisco-throughput": (switches(), switches(more={CISCO: 0.95})),
    "switch-all-alike-fast": (switches(), switches(more={CISCO: 1.3})),
    "switch-stick-full": (switches(more={CISCO: 1.25, "ovs": 1.2, "lisa": 1.2}), switches()),
    "switch-two-proportional": (switches(), switches(unfair=UNFAIR)),
    "switch-three-proportional": (switches(), switches(unfair=UNFAIR)),
    "switch-cisco-unfair": (switches(), switches(unfair=UNFAIR)),
    "controllers-row": (kept(FIRST_PACKET), kept(FIRST_PACKET, controller=PATH)),
    "controllers-match": (kept(FIRST_PACKET), lambda: ({"controllers": first_packets(ONE_WAY)}, None)),
    "outage-theory": (kept(OUTAGE), lambda: ({"outage": outages(LATE_MS)}, None)),
    "outage-ospf": (kept(OUTAGE), kept(OUTAGE, routing=(STATIC, USUAL))),
    "outage-bfd": (kept(OUTAGE), lambda: ({"outage": outages(bfd_pictures=130)}, None)),
    **{f"tcp-even-{it}": (tcp(), tcp(shares=UNEVEN)) for it in ("reno", "cubic", "bbr", "vegas")},
    "tcp-full": (tcp(), tcp(full=0.9)),
    **{f"tcp-model-{it}": (tcp(), tcp(off_points=15)) for it in (100, 1000)},
    "tcp-known": (tcp(), tcp(shares=UNEVEN)),
    "tcp-later": (tcp(), tcp(later=EVEN)),
    "tcp-kinds": (tcp(), tcp(ovs=UNEVEN)),
    "trunks-two": (trunks(), trunks(full_of_twenty=3)),
    "trunks-four": (trunks(), trunks(full_of_twenty=3)),
    "trunks-turn": (trunks(), trunks(round_robin=1.0)),
    "priority-switch": (trunks(), trunks(switch_mbps=2.6)),
    "priority-wait": (trunks(), trunks(wait=1.5)),
}
"""By claim: a configuration on which it is reproduced, and one on which it is not."""


def test_every_claim_is_in_the_table_or_decided_by_construction() -> None:
    claims = [claim for name in study_names() for claim in claims_of(name).claims]
    assert set(OUTCOMES) == {claim.id for claim in claims if not claim.by_construction}


@pytest.mark.large
@pytest.mark.parametrize("claim", OUTCOMES)
def test_a_claim_comes_out_both_ways(claim: str) -> None:
    assert [_judged(claim, it).verdict for it in OUTCOMES[claim]] == ["reproduced", "not reproduced"]


def _judged(claim: str, configuration: Configuration) -> JudgedClaim:
    ours, hardware = configuration()
    (argued,) = (it for it in map(claims_of, study_names()) if claim in it.judges)
    (found,) = judged(alone(argued, claim), ours, hardware, partial=True)
    return found


def test_what_is_decided_by_construction_names_where_it_comes_out_otherwise() -> None:
    """A film of more than 10 Mbit/s, and cables that count preamble and gap."""
    for claim, ours in (
        ("video-10-or-100", busy_film()),
        ("mtu-over-capacity", repeated(short("mtu"), 2).select(form="gre")),
    ):
        study = claim.partition("-")[0]
        assert claims_of(study).judges[claim]({study: ours}).holds is False


def test_a_link_with_a_short_queue_is_further_from_its_rate_whatever_hosts_it_has() -> None:
    ours, _ = variant("alone-misconfigured")()
    assert claims_of("report").judges["report-link-hosts"](ours).holds
