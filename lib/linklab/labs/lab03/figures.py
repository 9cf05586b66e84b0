"""What Lab 03 shows of its three paths: the numbers of the course report's table 4.3.1, of theory and of the student.

Cells that students have not filled in yet give rows with gaps, not errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Real

from linklab.analysis import Comparison, compared_with_report, measured_path
from linklab.analysis.expectation import Expectation, udp_ceiling_mbps, udp_throughput
from linklab.course import course_network, is_variant
from linklab.measure import UdpResult
from linklab.network import COURSE
from linklab.published.report import ReportRow, rows

_CASE = 1


def udp_beside_report(
    predicted_mbps: Mapping[str, object],
    bandwidth_mbps: Mapping[str, object],
    results: Mapping[str, object],
    *,
    why: bool = True,
) -> list[Comparison]:
    """One row for each path: predicted, theory, the report, measured, in Mbit/s of payload.

    Theory is for the network as read back before each of ``results``, or as planned where there is none yet. ``why``
    says in a sentence why the report has another number.
    """
    found = [
        compared_with_report(
            row,
            _theory(row, results.get(row.name)),
            _number(bandwidth_mbps.get(row.name)),
            _number(predicted_mbps.get(row.name)),
            udp_ceiling_mbps(measured_path(COURSE, row.source, row.destination)) if is_variant() else None,
        )
        for row in rows(_CASE)
    ]
    return found if why else [replace(it, remark="") for it in found]


def _theory(row: ReportRow, result: object) -> Expectation | float:
    if not isinstance(result, UdpResult):
        return udp_ceiling_mbps(measured_path(course_network(), row.source, row.destination))
    it = measured_path(course_network(), row.source, row.destination, result.origin.network)
    return udp_throughput(it, result.flow.rate_mbps, result.flow.duration_s)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else None
