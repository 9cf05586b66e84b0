"""The lab's own kernel: user-mode Linux with virtual time, built from the distribution's source.

`find` says what a lab boots, `build` makes it, `verify` proves it, `config` is what it is made of, `cli` is
``linklab kernel``.
"""

from linklab.runtime.kernel.find import Kernel, build_is_running, find_kernel

__all__ = ["Kernel", "build_is_running", "find_kernel"]
