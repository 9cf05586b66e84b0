"""``linklab export``: a class's grades as learning platforms take them back.

`marks` reads what was graded, and makes nbgrader's table. `gradebooks` has the
headings of Moodle's, Canvas' and Blackboard's tables, finds each student's row and writes the points. `feedback` brings
comments and pages back. `cli` is the command.
"""
