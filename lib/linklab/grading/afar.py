"""Judges on the workers of a Dask scheduler: the same work as `linklab.grading.run` does on this machine.

A worker that is lost, with its machine or by itself, costs nothing but time: the scheduler gives what it had to
another. What was judged comes back at once and is kept here.
"""

from __future__ import annotations

import importlib
import logging
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Final

from linklab.errors import LinklabError
from linklab.grading.parcel import Answer, Parcel, judge_parcel, pack, unpack
from linklab.grading.run import JUDGE, Done, Watcher
from linklab.grading.store import Work, keep, read_verdict
from linklab.signals import calling_once

_CONNECT_S: Final = 20


def connect(address: str) -> Any:
    """A client of the scheduler at an address (``tcp://host:8786``).

    Raises LinklabError where Dask is missing, or where nobody answers or nobody works.
    """
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # one line of ours says it
    try:
        client = _dask().Client(address, timeout=_CONNECT_S, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise LinklabError(
            f"no Dask scheduler answers at {address} ({_line(error)}): dask scheduler starts one"
        ) from None
    if not client.scheduler_info()["workers"]:
        client.close()
        raise LinklabError(f"the Dask scheduler at {address} has no workers: dask worker {address} --nthreads 1")
    return client


class AfarCrew:
    """Judges as many notebooks at once as the scheduler's workers have threads."""

    def __init__(self, client: Any, watcher: Watcher, command: Sequence[str] | None = None) -> None:
        self._client, self._watcher, self._command = client, watcher, command
        self.interrupted = False

    def run(self, works: Sequence[Work]) -> Mapping[tuple[str, str], Done]:
        """As `linklab.grading.run.Crew.run`. A first Ctrl-C ends what the workers judge, too."""
        name = f"linklab-stop-{uuid.uuid4().hex}"
        stop = _dask().Event(name, client=self._client)
        found: dict[tuple[str, str], Done] = {}

        def end() -> None:
            self.interrupted = True
            stop.set()

        with calling_once(end):
            futures = {
                self._client.submit(_judged_by_worker, pack(work), self._command, name, pure=False, retries=0): work
                for work in works
            }
            for future in _dask().as_completed(futures, loop=self._client.loop):
                work = futures.pop(future)  # and with it what the worker keeps: else a lost worker's are judged again
                self._watcher.began(work)
                done = _done(work, future)
                if self.interrupted and done.judged is None:
                    continue
                found[work.student, work.lab.name] = done
                self._watcher.ended(done)
        return found


def _done(work: Work, future: Any) -> Done:
    try:
        answer: Answer = future.result()
    except Exception as error:  # of the cluster, or of this code there
        return Done(work, None, f"the cluster could not have it judged: {_line(error)}")
    if answer.trouble:
        return Done(work, None, answer.trouble)
    unpack(answer, work)
    try:
        judged = read_verdict(work)
    except LinklabError as error:
        return Done(work, None, str(error))
    keep(work, judged)
    return Done(work, judged)


def _judged_by_worker(parcel: Parcel, command: Sequence[str] | None, stop: str) -> Answer:
    """Runs on a worker."""
    event = _dask().Event(stop, client=_dask().get_client())
    if event.is_set():
        return Answer(trouble="interrupted")
    # Dask removes that folder, too, when it finds that the worker was killed
    folder = _dask().get_worker().local_directory
    return judge_parcel(parcel, command or JUDGE, event.is_set, folder)


def _dask() -> Any:
    """Dask's library, loaded when it is needed. It has no types."""
    try:
        return importlib.import_module("distributed")
    except ModuleNotFoundError as error:
        raise LinklabError("--dask needs the Python package distributed: pip install linklab[grading]") from error


def _line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
