"""``linklab report``: the student's portfolio, one file made from executed notebooks.

| module | holds |
| --- | --- |
| `model` | a portfolio as immutable data: labs, graded cells, sections |
| `lab`, `facts`, `graded`, `sections`, `outputs`, `pictures`, `widgets` | from a notebook to that data. Pure |
| `clean` | what may stand in the page of what others wrote. Pure |
| `page` | from that data to the page, with `page.jinja`, `parts.jinja` and `page.css`. Pure |
| `gather` | which notebooks, and reading them |
| `chromium` | the page as a PDF file |
| `cli` | the command line |

Which cells hold what is told in :mod:`linklab.notebooks`. Everything in a notebook is untrusted: the model carries it
as it is, and `page` lets it out only escaped or through `clean`.
"""
