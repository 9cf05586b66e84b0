"""``linklab report``: the student's portfolio, one file made from executed notebooks.

| module | holds |
| --- | --- |
| `model` | a portfolio as immutable data: labs, graded cells, sections |
| `notebook` | from a notebook to that data. Pure |
| `outputs` | what cells show, as safe HTML. Pure |
| `safe_html` | what may stand in the page of what others wrote, HTML and markdown. Pure |
| `page` | from that data to the page, with `page.jinja`, `parts.jinja` and `page.css`. Pure |
| `cli` | the command line: which notebooks, and the page's file |

Which cells hold what is told in :mod:`linklab.notebooks`. Everything in a notebook is untrusted. HTML leaves it through
`safe_html` alone; all else the page escapes.
"""
