"""The lab image: the kernel and the root file system that every guest boots, made of pinned Debian packages.

`find` says which image a lab boots, `build` makes one, `debian` gets the packages, `file` carries an image as one file,
`tree` handles its files, `cli` is ``linklab image``.
"""
