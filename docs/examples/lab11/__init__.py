"""Lab 11, Random loss: what a link that loses packets does to ping and to TCP."""

from .questions import NETWORK as NETWORK
from .rules import check_pings as check_pings
from .rules import check_predicted_loss as check_predicted_loss
from .rules import check_predicted_throughput as check_predicted_throughput
from .rules import check_questions as check_questions
from .rules import check_transfer as check_transfer
