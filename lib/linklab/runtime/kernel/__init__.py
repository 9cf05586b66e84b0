"""The lab's own kernels, built from the distribution's source: user-mode Linux with virtual time, and one for QEMU.

`config` is what they are made of, `build` makes them, `programs` runs what that takes. `linklab.runtime.image` puts
them into the lab image, and tries them by booting it.
"""
