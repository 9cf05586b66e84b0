"""From one source per lab to the instructors' notebook and the students' notebook.

``solutions/NN-name.py`` is text in jupytext's py:percent form. From it :mod:`linklab.notebooks.build` makes
``solutions/NN-name.ipynb`` and ``labs/NN-name.ipynb``. A cell opens with one of ::

    # %% id="ping"                               code that everybody runs
    # %% [markdown] id="goal"                    text
    # %% answer="plan"                           the student's work: holds a solution region
    # %% check="plan" points=2                   graded: fails in the starter, passes in the solution
    # %% [markdown] reflect="why" points=1       a free answer, graded by hand: holds the model answer

Every cell has a name, so that its id in the notebooks never depends on its neighbours.

A file that students edit beside their notebook is made from ``solutions/NAME`` and ``solutions/NAME.starter``:
:mod:`linklab.notebooks.starters`.
"""
