"""Make the events of a recording, once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from linklab.errors import MeasurementError
from linklab.measure.events.forwarding import forwarding_events
from linklab.measure.events.network import CableOutage, network_events
from linklab.measure.events.table import Events
from linklab.measure.events.tcp import tcp_events
from linklab.measure.events.traffic import RecordedTraffic
from linklab.measure.events.waits import wait_events
from linklab.measure.flow_names import Congestion, FlowNames

if TYPE_CHECKING:
    from linklab.measure.recordings import Recording


def events_of(
    recording: Recording, congestion: Congestion | None = None, outages: Sequence[CableOutage] = ()
) -> Events:
    """Return what happened, in the order of time.

    `congestion` names the congestion control of TCP flows; `outages` are the cuts of the run.

    Raises MeasurementError for a recording without a packet.
    """
    if not recording.hops:
        raise MeasurementError("this recording is empty: ask for its events after its block has ended, with traffic")
    traffic = RecordedTraffic(recording, FlowNames(recording.network, congestion))
    network = sorted(network_events(traffic, outages), key=lambda it: it.at_s)
    found = [
        *traffic.flow_events(),
        *network,
        *forwarding_events(traffic, network),
        *traffic.loss_events(),
        *wait_events(traffic),
        *tcp_events(traffic),
    ]
    return Events(sorted(found, key=lambda it: it.at_s))
