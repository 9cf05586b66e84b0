"""Whether a lab image is fit for labs, found out by booting it and doing in it what labs do: the one verification of
its kernel as well.
"""

from __future__ import annotations

from linklab.errors import LabEnded, LabError
from linklab.runtime.backends import Kind
from linklab.runtime.client import LabProcess
from linklab.runtime.image import probe
from linklab.runtime.image.find import Image

_WALL_LIMIT_S = 180.0
_TOLERANCE_MS = 0.1


def verify(image: Image) -> None:
    """Boots an image on virtual time, and checks that a sleep of hours passes at once, that netem under HTB delays a
    frame on a veth pair by what it should, and that bridge, VLAN, network namespaces, cubic and Mininet are there.

    Raises `LabError` in one line where something is not as it should be, or where this machine lacks what it takes to
    boot any.
    """
    try:
        with LabProcess.spawn(Kind("guest", image), None, _WALL_LIMIT_S) as lab:
            found = lab.call(probe.attempt)
    except LabEnded as ended:
        raise LabError(f"no lab runs on Linux {image.about.kernel_version}: {ended}") from ended
    if found["failed"]:
        raise LabError(f"the lab image lacks something that labs need: {found['failed']}")
    if abs(found["delay_ms"] - probe.DELAY_MS) > _TOLERANCE_MS or found["slept_s"] < probe.SLEEP_S:
        raise LabError(
            f"Linux {lab.kernel_release} does not keep virtual time: a frame delayed by {probe.DELAY_MS} ms took "
            f"{found['delay_ms']:.3f} ms"
        )
    if "cubic" not in found["congestion_control"]:
        raise LabError(f"Linux {lab.kernel_release} lacks TCP's congestion control cubic")
