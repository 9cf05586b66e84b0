"""Lab 50, Random loss: what a link that loses packets does to ping and to TCP."""

from .questions import NETWORK
from .rules import check_loss, check_pings, check_questions, check_throughput, check_transfer

__all__ = ["NETWORK", "check_loss", "check_pings", "check_questions", "check_throughput", "check_transfer"]
