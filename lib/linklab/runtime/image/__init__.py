"""The lab image: the kernels and the root file system that every guest boots, made of pinned Debian packages.

`find` says which image a lab boots, `tree` unpacks an image and handles its files, `cli` is ``linklab image``.
`tools.image` in a clone makes images.
"""
