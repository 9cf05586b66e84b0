"""From one source per lab to the instructors' notebook and the students' notebook.

``solutions/NN-name.py`` is text in py:percent form. From it :mod:`linklab.notebooks.build` makes
``solutions/NN-name.ipynb`` and ``labs/NN-name.ipynb``. A cell opens with one of ::

    # %% id="ping"                               code that everybody runs
    # %% [markdown] id="goal"                    text
    # %% answer="plan"                           the student's work: holds a solution region
    # %% check="plan" points=2                   graded: fails in the starter, passes in the solution
    # %% [markdown] reflect="why" points=1       a free answer, graded by hand: holds the model answer

``tags=["nbval-ignore-output"]`` is for a cell that shows this machine's own clock or ports: its output is neither
stored nor compared.

``linklab report`` makes the student's portfolio of executed notebooks, by these conventions. The title is the first
heading, and second-level headings become sections. The question of a free answer is what stands from a paragraph that
begins with ``**Question.**`` to the end of the text cell right before it. Answers in code are shown as they stand. A
check's last line is an expression ``....require()``, so that the notebook keeps its result. The report has
what all other cells show, and the text of those that students add; instructions are not repeated.

Every cell has a name, so that its id in the notebooks never depends on its neighbours.

A file that students edit beside their notebook is made from ``solutions/NAME`` and ``solutions/NAME.starter``:
:mod:`linklab.notebooks.starters`.
"""
