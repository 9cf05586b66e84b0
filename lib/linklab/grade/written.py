"""The explanation that a written answer opens.

A lab's notebook asks a question, leaves a cell for the answer in words, and goes on with `explain`::

    lab05.explain("reasons")     # shows the explanation once `reflect="reasons"` holds an answer

The explanation stands in ``NN-choices.toml`` (`linklab.grade.choices`). People grade the answer.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from linklab.grade.choices import explanation
from linklab.grade.notebook_cells import is_answer, notebook_of, read
from linklab.record import PAGE_MIME

_HEADED: Final = "**Explanation of your last written answer.** {}"
_ANSWER_FIRST: Final = (
    "This cell explains the question below. Write your answer into the cell under that question, save the notebook "
    "(Ctrl+S), and run this cell again.\n\n> {}"
)
_NOT_SAVED: Final = (
    "The saved notebook still has no answer there. Save it (Ctrl+S) with your answer under the question, and run this "
    "cell again."
)
_COPIED: Final = (
    "Your answer has only words of the question so far. Write your own below it, save the notebook (Ctrl+S), and run "
    "this cell again."
)
_QUESTION: Final = "**Question.**"

_asked_for: Final[set[tuple[str, str]]] = set()
"""The answers, by lab and name, that this kernel has asked for once: the next time the file may not be saved."""


def explain(lab: str, name: str) -> None:
    """Show the explanation behind the written answer ``name``, or say that the answer comes first.

    The answer is read from the saved notebook. Where there is no such file, or no such cell in it, nothing can be asked
    for, and the explanation is shown. Raises LinklabError where the lab has no explanation of that name.
    """
    told = explanation(Path(sys.modules[lab].__path__[0]), name)
    answer = next((it for it in read(notebook_of(lab)) if it.cell_id == f"reflect-{name}"), None)
    if answer is None or answer.is_written:
        show = _HEADED.format(told)
    elif is_answer(answer.source):
        show = _COPIED
    elif (lab, name) in _asked_for:
        show = _NOT_SAVED
    else:
        _asked_for.add((lab, name))
        show = _ANSWER_FIRST.format(answer.question.rpartition(_QUESTION)[2].strip().replace("\n", "\n> "))
    from IPython.display import display

    bundle = {"text/markdown": show, "text/plain": show, PAGE_MIME: {"version": 1}}
    display(bundle, raw=True)  # type: ignore[no-untyped-call]
