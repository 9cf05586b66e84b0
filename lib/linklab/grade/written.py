"""The explanation that a written answer opens.

A lab's notebook asks a question, leaves a cell for the answer in words, and goes on with `explain`::

    lab05.explain("reasons")     # shows the explanation once `reflect="reasons"` holds an answer

The explanation stands in ``NN-choices.toml`` (`linklab.grade.choices`). The cell's output keeps the answer that opened
it. If the notebook has another one later, `linklab grade` gives both texts to whoever grades.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from linklab.grade.choices import explanation
from linklab.grade.notebook_cells import is_answer, notebook_of, read
from linklab.record import PAGE_MIME, somebody_watches

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
_COUNTS: Final = (
    "This answer counts, as the notebook was saved when you ran this cell:\n\n> {}\n\nIf it is only a part of yours, "
    "save the whole (Ctrl+S) before you read on: your instructor gets both texts.\n\n"
)
_CHANGED: Final = (
    "You have changed the answer since then. Your instructor gets both texts, and first the one that opened this "
    "explanation:\n\n> {}\n\n"
)
_QUESTION: Final = "**Question.**"

_asked_for: Final[set[tuple[str, str]]] = set()
"""The answers, by lab and name, that this kernel has asked for once: the next time the file may not be saved."""
_opened: Final[dict[tuple[str, str], str]] = {}
"""The answers that have opened an explanation in this kernel, by lab and name."""


def explain(lab: str, name: str) -> None:
    """Show the explanation behind the written answer ``name``, or say that the answer comes first.

    The answer is read from the saved notebook. Where there is no such file, or no such cell in it, nothing can be asked
    for, and the explanation is shown. In a page it says which text has opened it: Jupyter saves every two minutes, so
    that may be half a sentence. Raises LinklabError where the lab has no explanation of that name.
    """
    told = explanation(Path(sys.modules[lab].__path__[0]), name)
    cells = read(notebook_of(lab))
    answer = next((it for it in cells if it.cell_id == f"reflect-{name}"), None)
    page: dict[str, object] = {"version": 1}
    if answer is None:
        show = _HEADED.format(told)
    elif answer.is_written:
        kept = {cell_id: text for cell in cells for cell_id, text in cell.opened_by.items()}
        counts = _opened.get((lab, name), kept.get(answer.cell_id, answer.source))
        show = _HEADED.format(told)
        if somebody_watches():
            _opened[lab, name] = counts
            page["opened_by"] = {answer.cell_id: counts}
            said = _COUNTS if counts == answer.source else _CHANGED
            show = said.format(counts.replace("\n", "\n> ")) + show
    elif is_answer(answer.source):
        show = _COPIED
    elif (lab, name) in _asked_for:
        show = _NOT_SAVED
    else:
        _asked_for.add((lab, name))
        show = _ANSWER_FIRST.format(answer.question.rpartition(_QUESTION)[2].strip().replace("\n", "\n> "))
    from IPython.display import display

    bundle = {"text/markdown": show, "text/plain": show, PAGE_MIME: page}
    display(bundle, raw=True)  # type: ignore[no-untyped-call]
