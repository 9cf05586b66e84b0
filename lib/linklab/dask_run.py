"""Run functions on the workers of a Dask scheduler, for `linklab grade --dask` and `linklab study run --dask`.

A worker that is lost, with its machine or by itself, costs time and nothing else: the scheduler gives what it had to
another worker.
"""

from __future__ import annotations

import importlib
import logging
import pickle
import uuid
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import ModuleType, TracebackType
from typing import Any, Final, TypeVar

from linklab.digests import linklab_digest
from linklab.errors import LinklabError

_CONNECT_S: Final = 20
_END_S: Final = 60
"""Seconds that a stopped run waits for the workers."""
Task = TypeVar("Task")


@dataclass(frozen=True)
class WorkerPlace:
    """Where a function runs: a folder of the worker, which Dask removes even if the worker is killed, and whether the
    run was stopped, so that the function should end.
    """

    folder: str
    stopped: Callable[[], bool]


class Cluster:
    """The workers of the scheduler at an address (``tcp://host:8786``); closed at the end of a ``with``."""

    def __init__(self, address: str) -> None:
        """Connect. Raises LinklabError where Dask is missing, or where nobody answers or nobody works."""
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # one line of ours says it
        try:
            self._client = _dask().Client(address, timeout=_CONNECT_S, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise LinklabError(
                f"no Dask scheduler answers at {address} ({_line(error)}): dask scheduler starts one"
            ) from None
        workers = self._client.scheduler_info()["workers"].values()
        if not workers:
            self._client.close()
            raise LinklabError(f"the Dask scheduler at {address} has no workers: dask worker {address} --nthreads 1")
        self.threads: int = sum(worker["nthreads"] for worker in workers)
        """How many functions the workers run at once."""
        self._stop = f"linklab-stop-{uuid.uuid4().hex}"

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._client.close()

    def run(
        self,
        function: Callable[..., Any],
        tasks: Iterable[tuple[Task, Sequence[Any]]],
        modules: Iterable[ModuleType] = (),
    ) -> Generator[tuple[Task, Any]]:
        """Call the function on the workers with each task's arguments and a `WorkerPlace`; yield what it returned, as
        soon as it is there, or the LinklabError that says why it returned nothing.

        The text of `modules` travels along; all others must be there. Whoever leaves the loop early stops the run.
        """
        cloudpickle = importlib.import_module("cloudpickle")
        modules = list(modules)
        for module in modules:
            cloudpickle.register_pickle_by_value(module)
        try:
            # packed here, because a worker that cannot unpack what Dask packed is silent for ever
            packed = [(task, cloudpickle.dumps((function, arguments))) for task, arguments in tasks]
        finally:
            for module in modules:
                cloudpickle.unregister_pickle_by_value(module)
        futures = {
            self._client.submit(_on_worker, linklab_digest(), self._stop, call, pure=False, retries=0): task
            for task, call in packed
        }
        try:
            for future in _dask().as_completed(list(futures), loop=self._client.loop):
                task = futures.pop(future)  # and with it what the worker keeps: else a lost worker's are run again
                yield task, _outcome(future)
        finally:
            if futures:
                self.stop()
                with suppress(TimeoutError):
                    for _ in _dask().as_completed(list(futures), loop=self._client.loop, timeout=_END_S):
                        pass

    def stop(self) -> None:
        """Tell the functions on the workers to end, and begin no other."""
        _dask().Event(self._stop, client=self._client).set()


def _outcome(future: Any) -> Any:
    try:
        return future.result()
    except LinklabError as error:
        return error
    except Exception as error:  # of the cluster, or of this code there
        return LinklabError(f"the cluster could not run it: {_line(error)}")


def _on_worker(linklab: bytes, stop: str, call: bytes) -> Any:
    if linklab != linklab_digest():
        raise LinklabError("the worker has another Linklab: install there what is installed here")
    stopped = _dask().Event(stop, client=_dask().get_client()).is_set
    if stopped():
        raise LinklabError("interrupted")
    function, arguments = pickle.loads(call)
    return function(*arguments, WorkerPlace(_dask().get_worker().local_directory, stopped))


def _dask() -> Any:
    """Return Dask's library, loaded when it is needed. It has no types."""
    try:
        return importlib.import_module("distributed")
    except ModuleNotFoundError as error:
        raise LinklabError("--dask needs the Python package distributed: pip install linklab[grading]") from error


def _line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
