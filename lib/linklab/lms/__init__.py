"""``linklab export``: a class's points into the table that a learning platform exported, and pages back to students.

`presets` says how platforms' tables name students and points: a new platform is a new row there. `table` keeps a CSV
file as it is written, `export` fills it, `feedback` packs students' pages, `cli` is the command.
"""
