"""``make bench``: what Linklab promises, measured in one run, as tables with verdicts (``python -m tools.bench``).

Each part measures into a list of records (plain JSON data), and a pure function makes tables and verdicts of them: so
an interrupted run still has a report, and every verdict is tested on records that must fail it.
"""
