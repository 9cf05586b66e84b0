"""``linklab run``: notebooks without a page, several side by side, the executed copies kept.

| module | holds |
| --- | --- |
| `execute` | one notebook: read, run from top to bottom in this process, which cells failed |
| `worker` | a process that executes one notebook and tells how far it is |
| `pool` | the workers side by side, as many as this machine bears, each within its limits |
| `progress` | bars, lines and results, for people |
| `cli` | the command line |
"""

from linklab.headless.execute import CELL_LIMIT_S, Run, run_notebook

__all__ = ["CELL_LIMIT_S", "Run", "run_notebook"]
