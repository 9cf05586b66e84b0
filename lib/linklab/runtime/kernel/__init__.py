"""The lab's own kernel: user-mode Linux with virtual time, built from the distribution's source.

`find_kernel` says what a lab boots, `build_kernel` makes it, `verify_kernel` proves it,
`start_background_build` makes it while the user works.
"""

from linklab.runtime.kernel.background import start_background_build
from linklab.runtime.kernel.build import build_kernel
from linklab.runtime.kernel.cache import build_is_running
from linklab.runtime.kernel.find import Clock, Kernel, find_kernel
from linklab.runtime.kernel.verify import Verification, verify_kernel

__all__ = [
    "Clock",
    "Kernel",
    "Verification",
    "build_is_running",
    "build_kernel",
    "find_kernel",
    "start_background_build",
    "verify_kernel",
]
