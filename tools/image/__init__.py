"""Makes the lab image of Debian's pinned packages and the kernels that come with Linklab: ``python -m tools.image``.

`debian` fetches the packages, `contents` holds an image's files, `elf` and `libraries` do for its libraries what their
packages cannot, `build` makes the image, `pack` writes it as one file, `wheel` as a Python package. Python's own
library is all that it needs, on any computer.
"""
