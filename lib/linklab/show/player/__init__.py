"""The time machine: a recorded measurement as a page in which time can be stopped and gone through again.

`page` makes the page, `columns` packs a recording for it, `differences` finds where two recordings part. The page's
own program is ``player.js``; its curves are drawn by uPlot (``uPlot.iife.min.js`` of the npm package uplot 1.6.32, as
it was published, MIT licence).
"""
