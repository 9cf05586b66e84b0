"""Judges one notebook, in a process of its own: ``python -P -m linklab.grading.judge FOLDER``.

The judge runs the notebook's cells in the student's sandbox, one after the other. It runs no check cell there: it
fetches the values that the cell names and calls the instructor's own checks itself. It leaves the judged notebook and
then the verdict (`linklab.grading.verdict`) in the folder of the work, and nothing else anywhere.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from linklab import schema
from linklab.course import VARIABLE, using
from linklab.errors import LinklabError
from linklab.files import write_whole
from linklab.grade.result import GradeError, Result, not_judged
from linklab.grade.seeding import of_submission
from linklab.grade.values import ValueRefused
from linklab.grading import outputs as shown
from linklab.grading.bounded import bound_memory
from linklab.grading.broker import Broker
from linklab.grading.cells import Call, calls_of
from linklab.grading.names import listed
from linklab.grading.room import Room, lay_files, make_room, student_files
from linklab.grading.session import KernelGone, RaisedInKernel, Session
from linklab.grading.student import Student
from linklab.grading.work import VERDICT, Work
from linklab.guest.channel import Channel
from linklab.headless.runner import label, read_book, run_facts, runs, write_book
from linklab.measure import Clip, Video, encoded
from linklab.network import Network, NetworkState
from linklab.programs.submission import ProgramError
from linklab.report.notebook import graded, kind_of
from linklab.runtime import transport
from linklab.runtime.backends import choose

_KERNELS_AT_MOST: Final = 4
"""The number of kernels that one notebook may use. A new one first runs again all cells that went well."""
_LEFTOVER_PROCESSES_AT_MOST: Final = 24
"""The number of processes that a cell may leave running. Honest cells leave fewer."""
_STOP_AFTER_S: Final = 20.0
"""Seconds after a limit until the student's kernel and all labs are ended."""
_GIVE_UP_AFTER_S: Final = 60.0
"""Seconds after that until the judge writes what it has, and exits."""
_CLIP: Final = Clip(duration_s=10)
"""The video that a notebook may ask for."""
_CLIP_SOURCE: Final = "measure.Clip(duration_s=10)"
"""The text in an instructor's cell that asks for it."""


class Judge:
    """Judges one notebook, from its first cell to its last."""

    def __init__(self, work: Work, room: Room, network: Network) -> None:
        self._work, self._limits, self._room, self._network = work, work.verdict.limits, room, network
        self._book, self._digest = read_book(work.assembled), work.own_digest()
        self._backend = choose()
        self._shown = shown.Outputs(self._limits.output_kb * 1024)
        self._video = _video_of(self._book, room)
        # lends labs to the student's kernel, over a socket in the room
        self._broker = Broker(room.lender, self._backend, room.home, self._limits.cell_s)
        self._student: Student | None = None
        self._channel: Channel | None = None
        self._done: list[str] = []
        self._kernels, self._cpu_s = 0, 0.0
        self._began_s = time.monotonic()
        self._until = self._began_s + self._limits.wall_s
        self._notes: list[str] = []
        self._stop_reason = ""
        self._guard = threading.Lock()
        self._is_written = False

    def run(self) -> None:
        """Judge all cells, and write the verdict. Nothing that the student's code does can stop the judging.

        A judge that is told to end, or that breaks, leaves no verdict: a later run judges the notebook again.
        """
        stop_s = self._limits.wall_s + _STOP_AFTER_S
        stop_timer = threading.Timer(stop_s, self._stop_all)
        give_up_timer = threading.Timer(stop_s + _GIVE_UP_AFTER_S, self._give_up)
        for timer in (stop_timer, give_up_timer):
            timer.daemon = True
            timer.start()
        total = sum(runs(cell) for cell in self._book.cells)
        number = 0
        try:
            for index, cell in enumerate(self._book.cells):
                if not runs(cell):
                    continue
                number += 1
                print(json.dumps({"cell": number, "cells": total, "name": label(self._book, index)}), flush=True)
                self._judge_cell(index, cell)
        finally:
            self._stop_all()  # no cell reads its reason any more
            for timer in (stop_timer, give_up_timer):
                timer.cancel()
        self.write()

    def _judge_cell(self, index: int, cell: Any) -> None:
        cell.outputs, cell.execution_count = [], None
        left_s = min(float(self._limits.cell_s), self._until - time.monotonic())
        if left_s <= 0 and not self._stop_reason:
            self._stop_reason = (
                f"{label(self._book, index)} was not begun: the notebook had run for {self._limits.wall_s} s"
            )
            self._stop_all()
        if kind_of(cell) == "check":
            with self._bounded(left_s):
                cell.outputs = self._run_check_cell(index, cell.source, left_s)
        elif not self._stop_reason:
            self._run_student_cell(index, cell, left_s)

    @contextlib.contextmanager
    def _bounded(self, left_s: float) -> Iterator[None]:
        """End the student's kernel and all labs if a check takes too long, so that the check stops waiting for them."""
        timer = threading.Timer(max(left_s, 1.0) + _STOP_AFTER_S, self._stop_all)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _run_student_cell(self, index: int, cell: Any, left_s: float) -> None:
        """Run a cell that is not graded, in the student's kernel."""
        student = self._working_kernel(left_s)
        if student is None:
            cell.outputs = shown.of_error("NotRun", self._stop_reason)
            return
        student.begin(cell.source, room_characters=self._shown.left)
        ran = student.finish(max(1.0, min(left_s, self._until - time.monotonic())))
        cell.execution_count = ran.count
        cell.outputs = self._shown.kept(ran.outputs, cut=ran.cut)
        if not student.death_reason and student.count_processes() > _LEFTOVER_PROCESSES_AT_MOST:
            student.end(f"it left more than {_LEFTOVER_PROCESSES_AT_MOST} processes running")
            ran.trouble = ran.trouble or student.death_reason
        if ran.trouble:
            cell.outputs += shown.of_error("Ended", ran.trouble)
            self._notes.append(f"{label(self._book, index)}: {ran.trouble}")
        if ran.cut:
            self._notes.append(f"{label(self._book, index)}: it printed more than is kept")
        if not student.death_reason and not ran.trouble:
            self._done.append(cell.source)

    def _working_kernel(self, left_s: float) -> Student | None:
        """Return the student's kernel; None if the notebook has used up its kernels.

        If the kernel was lost, start a new one and run again all cells that had gone well.
        """
        if self._student is not None and not self._student.death_reason:
            return self._student
        if self._student is not None:
            self._cpu_s = self._student.cpu_s
        if self._kernels == _KERNELS_AT_MOST or self._stop_reason:
            lost = f"the notebook ended its kernel {self._kernels} times: {self._death_reason}"
            self._stop_reason = self._stop_reason or lost
            return None
        self._kernels += 1
        self._channel = None
        while not self._broker.values.empty():
            self._broker.values.get_nowait()  # drops the connections for values of the kernel that was lost
        self._broker.end_labs()
        self._student = student = Student(self._room, self._limits, self._cpu_s)
        for source in self._done:
            student.begin(source, hidden=True, room_characters=self._limits.output_kb * 1024)
            student.finish(max(1.0, min(left_s, self._until - time.monotonic())))
            if student.death_reason:
                return self._working_kernel(left_s)
        return student

    @property
    def _death_reason(self) -> str:
        return self._student.death_reason if self._student is not None else ""

    def _run_check_cell(self, index: int, source: str, left_s: float) -> list[Any]:
        """Call the checks of a check cell, and return the cell's outputs: the judge makes them, not the kernel."""
        name = label(self._book, index)
        try:
            calls = calls_of(source)
            student = None if self._stop_reason else self._working_kernel(left_s)
            if student is None:
                return shown.of_error("NotRun", f"what this check looks at was not run: {self._stop_reason}")
            session = Session(student, self._broker, self._channel, left_s, self._video)
            try:
                with session, using(self._network), of_submission(self._digest):
                    results = [self._required(session, call, name) for call in calls]
            finally:
                self._channel = None if student.death_reason else session.channel
                if student.death_reason:
                    self._notes.append(f"{name}: {student.death_reason}")
            return shown.of_result(results[-1])  # as in a notebook, where a cell shows its last value alone
        except GradeError as error:
            if error.result.fault:
                self._notes.append(_about_fault(name, error.result))
            return shown.of_failure(error)
        except RaisedInKernel as raised:
            return shown.of_error(raised.kind, str(raised))
        except ProgramError as missing:
            return shown.of_error(type(missing).__name__, str(missing))
        except (ValueRefused, KernelGone) as refused:
            self._notes.append(f"{name}: {shown.printable(str(refused))}")
            return shown.of_error(type(refused).__name__, str(refused))
        except Exception as fault:  # the judge or an unguarded check crashed: the student has not failed
            result = not_judged(name, fault)
            self._notes.append(_about_fault(name, result))
            return shown.of_failure(GradeError(result))

    def _required(self, session: Session, call: Call, cell: str) -> Result:
        """Call the check with the student's values, and return its result. Raises GradeError if it has not passed."""
        positional = [session.argument(each) for each in call.positional]
        named = {name: session.argument(each) for name, each in call.named}
        if any(isinstance(value, NetworkState) for value in positional):
            raise ValueRefused("this check wants the lab that linklab.start returned, and got a network as data")
        with student_files(self._room) if call.runs_a_program else contextlib.nullcontext() as folder:
            if folder is not None:
                self._note_programs(folder, cell)
            return call.function()(*positional, **named).require()

    def _note_programs(self, folder: Path, cell: str) -> None:
        """Note programs that a cell of the notebook has put there: they are not what was handed in."""
        handed_in = {name: path.read_bytes() for name, path in self._work.files.items()}
        other = [path.name for path in sorted(folder.iterdir()) if path.read_bytes() != handed_in.get(path.name)]
        if other:
            self._notes.append(f"{cell}: {listed(other)} was not handed in like this: the notebook wrote it")

    def _stop_all(self) -> None:
        student = self._student
        if student is not None:
            student.end("it was ended: the time was over" if not self._is_written else "")
        self._broker.end_labs()

    def write(self) -> None:
        """Write the judged notebook, and then the verdict: a notebook that has one is done."""
        with self._guard:
            if self._is_written:
                return
            self._is_written = True
            self._broker.close()
            book = self._book
            verdict = replace(
                self._work.verdict,
                state="judged",
                cells=tuple(graded(cell) for cell in book.cells if kind_of(cell) is not None),
                ended=self._stop_reason,
                for_the_instructor=tuple(shown.printable(note) for note in self._notes),
                wall_s=round(time.monotonic() - self._began_s, 3),
                virtual_s=round(self._broker.virtual_s, 3),
            )
            book.metadata["linklab"] = run_facts() | {"wall_s": verdict.wall_s, "virtual_s": verdict.virtual_s}
            book.metadata.pop("widgets", None)
            write_book(book, self._work.judged)
            write_whole(self._work.folder / VERDICT, json.dumps(schema.dump(verdict), indent=1) + "\n")

    def _give_up(self) -> None:
        """Write the verdicts that there are, and exit: the last resort, if the judge itself hangs."""
        self._stop_reason = self._stop_reason or "judging was not done in time"
        self.write()
        os._exit(0)


def _video_of(book: Any, room: Room) -> Video | None:
    """Return the video that the notebook asks for, if it does. Only this one is accepted from the student's side.

    It is encoded here, and put into the cache that the student's kernel reads. Raises LinklabError if that fails.
    """
    given = (cell.source for cell in book.cells if not cell.metadata.get("nbgrader", {}).get("solution"))
    if not any(_CLIP_SOURCE in source for source in given):
        return None
    video = encoded(_CLIP)
    shutil.copytree(video.folder, room.given / "cache" / "linklab" / "video" / video.folder.name)
    return video


def _about_fault(name: str, result: Result) -> str:
    return f"{name} was not judged, its points are open: the check crashed: {result.fault}"


def judge(work: Work) -> None:
    """Judge a notebook. Raises LinklabError if it cannot be judged.

    Call it in a process of its own that has started no threads: `make_room` moves the process into a mount namespace.
    """
    network = work.network()
    room = make_room(work.verdict.limits.disk_mb)
    try:
        os.chdir(room.own)
        lay_files(room, work.files, work.variant)
        Judge(work, room, network).run()
    finally:
        os.chdir("/")
        room.remove()


def main() -> None:
    """Judge the work in the folder that is named; print one line and exit with 2 if that cannot be done."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # as shells report a signal
    # the work names the network, and this process starts the labs: the caller's environment counts for neither
    for inherited in (VARIABLE, transport.VARIABLE):
        os.environ.pop(inherited, None)
    try:
        work = Work.of(Path(sys.argv[1]).absolute())
        bound_memory(work.verdict.limits.memory_mb)
        judge(work)
    except (LinklabError, OSError) as error:
        print(str(error) if isinstance(error, LinklabError) else f"{error.strerror}: {error.filename}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
