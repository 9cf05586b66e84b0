"""``linklab export``: a class's grades as learning platforms take them back.

`marks` reads what was graded, `cells` a table as a platform exports it, `gradebooks` knows what is in it, `fill` finds
each student's row and writes the points, and `results` makes what Gradescope and nbgrader have instead of a table.
"""
