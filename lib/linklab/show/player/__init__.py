"""The time machine: a recorded measurement as a page in which time can be stopped and gone through again.

`page` makes the page, `columns` packs a recording for it. The page's own program is in ``show/widgets/src/player``.
"""
