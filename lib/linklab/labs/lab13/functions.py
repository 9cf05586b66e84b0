"""The function that students write in Lab 13: the retransmission timeout of RFC 6298."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from linklab.analysis.arq import rto_s
from linklab.grade.result import Result, guarded
from linklab.grade.student_functions import Case, Formula, Trial

_CASES: Final[Mapping[str, Case]] = {
    "one sample": ((0.08,),),
    "equal samples": ((0.045, 0.045, 0.045, 0.045),),
    "a late one": ((0.05, 0.05, 0.2, 0.05, 0.06),),
    "a path that became longer": ((0.02, 0.021, 0.3, 0.31, 0.3, 0.305),),
    "very small ones": ((0.0002, 0.0002, 0.0002, 0.0002, 0.0002, 0.0002, 0.0002, 0.0002),),
}


def _rto(
    alpha: float = 0.125,
    beta: float = 0.25,
    k: float = 4,
    granularity_s: float = 0.001,
    *,
    first_half: bool = True,
    new_srtt: bool = False,
) -> Callable[[Sequence[float]], list[float]]:
    """A formula with these constants; ``new_srtt`` takes the deviation from the mean that is new already."""

    def formula(rtts_s: Sequence[float]) -> list[float]:
        found: list[float] = []
        srtt = var = 0.0
        for number, rtt in enumerate(rtts_s):
            if number == 0:
                srtt, var = rtt, rtt / 2 if first_half else 0.0
            else:
                mean = (1 - alpha) * srtt + alpha * rtt
                var = (1 - beta) * var + beta * abs((mean if new_srtt else srtt) - rtt)
                srtt = mean
            found.append(srtt + max(granularity_s, k * var))
        return found

    return formula


def _twice(rtts_s: Sequence[float]) -> list[float]:
    return [2 * (found - max(0.001, 0)) for found in _rto(k=0)(rtts_s)]


_ORDER: Final = "first RTTVAR, with the SRTT of before; then SRTT (rule 2.3)"
_TRIAL: Final = Trial(
    rto_s,
    _CASES,
    (
        "RFC 6298, section 2: two smoothed numbers, the round trip and how far it deviates",
        f"the first sample sets both: SRTT = R, RTTVAR = R/2; for each later one {_ORDER}",
        "RTTVAR = 3/4 RTTVAR + 1/4 |SRTT - R|; SRTT = 7/8 SRTT + 1/8 R; RTO = SRTT + max(0.001, 4 RTTVAR)",
    ),
    (
        Formula(_rto(new_srtt=True), "SRTT is renewed before RTTVAR", _ORDER),
        Formula(
            _rto(alpha=0.25, beta=0.125), "1/8 and 1/4 are exchanged", "alpha = 1/8 is SRTT's, beta = 1/4 RTTVAR's"
        ),
        Formula(_rto(alpha=0.875, beta=0.75), "old and new are exchanged", "the old value keeps 7/8, and 3/4"),
        Formula(_rto(first_half=False), "the first RTTVAR is 0", "rule 2.2: RTTVAR = R/2 after the first sample"),
        Formula(_rto(k=2), "RTTVAR counts twice", "RTO = SRTT + 4 RTTVAR"),
        Formula(_rto(k=1), "RTTVAR counts once", "RTO = SRTT + 4 RTTVAR"),
        Formula(_rto(granularity_s=0.0), "the clock's granularity is missing", "max(0.001, 4 RTTVAR)"),
        Formula(lambda rtts: [max(1.0, it) for it in rto_s(rtts)], "it is raised to 1 s", "here without the minimum"),
        Formula(_twice, "that is twice the mean", "how much it deviates matters: RFC 793 did that until 1988"),
    ),
)


@guarded
def check_rto(function: object) -> Result:
    """Judge ``rto(rtts_s)``: RFC 6298's timeout after each round trip, in seconds, with G = 1 ms and no minimum."""
    return Result("Lab 13, the timeout", _TRIAL.checks(function))
