"""One quantity as it was predicted, as theory has it, as another measured it, and as it was measured here."""

from __future__ import annotations

from dataclasses import dataclass

from linklab.analysis.expectation import Expectation
from linklab.published.report import ReportRow


@dataclass(frozen=True)
class Comparison:
    """A row of a table, and a line of a figure. None stands for what is not there (yet).

    ``quantity`` says what and where: ``"RTT of h1-h4"``. ``theory`` is one number, or an `Expectation` with its
    interval. All numbers are in ``unit``. ``report_theory`` is what theory says of the network that the report
    measured, where that is another than the one measured here; None where it is the same.
    """

    quantity: str
    unit: str
    predicted: float | None = None
    theory: float | Expectation | None = None
    report: float | None = None
    measured: float | None = None
    remark: str = ""
    report_theory: float | None = None

    @property
    def theory_value(self) -> float | None:
        """Theory as one number."""
        return self.theory.value if isinstance(self.theory, Expectation) else self.theory

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where a sound measurement lies by theory, if theory says so."""
        return (self.theory.low, self.theory.high) if isinstance(self.theory, Expectation) else None


_QUANTITIES = {"rtt_ms": "RTT", "throughput_mbps": "throughput"}


def beside(
    row: ReportRow,
    theory: float | Expectation | None = None,
    measured: float | None = None,
    predicted: float | None = None,
    report_theory: float | None = None,
) -> Comparison:
    """A comparison with a number of the course report; the remark is the report's row's own.

    ``report_theory`` is for who measured a variant of the course network: what theory says of the plain one, which is
    the report's. The remark then says so.
    """
    connection = f", connection {row.connection}" if row.connection else ""
    name = f"{_QUANTITIES[row.quantity]} of {row.name}{connection}"
    remark = row.differs
    if report_theory is not None:
        remark = f"The report measured the plain course network, where theory says {report_theory:.4g}: {remark}"
    return Comparison(name, row.unit, predicted, theory, row.value, measured, remark, report_theory)
