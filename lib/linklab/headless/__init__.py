"""``linklab run``: notebooks without a page, several side by side, the executed copies kept.

| module | holds |
| --- | --- |
| `cli` | the command line, and the results for people |
| `runner` | the notebooks side by side, each executed in a process of its own within its limits |
| `execution` | that process |
| `workers` | processes side by side, each bounded, all ended with this one; grading and validation use them too |
"""
