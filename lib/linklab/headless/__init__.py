"""``linklab run``: notebooks without a page, several side by side, the executed copies kept.

| module | holds |
| --- | --- |
| `book` | reading notebooks, which cells run, which of them failed |
| `execute` | one notebook from top to bottom, in this process |
| `worker` | a process that executes one notebook and tells how far it is |
| `capacity` | how many notebooks this machine bears at once |
| `pool` | the workers side by side, each within its limits |
| `show` | progress and results, for people |
| `cli` | the command line |
"""

from linklab.headless.execute import CELL_LIMIT_S, Run, run_notebook

__all__ = ["CELL_LIMIT_S", "Run", "run_notebook"]
