"""``linklab bench``: what the lab kit promises, measured side by side in one run, as a table with verdicts.

Each part measures into a list of records (plain JSON data), and a pure function makes tables and verdicts of them: so
an interrupted run still has a report, and every verdict is tested on records that must fail it.
"""
