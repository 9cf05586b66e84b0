"""Start labs, measure in them, and kill, stop and interrupt them at random moments, for an hour: ``make soak``.

Each round is a program of its own, which starts a lab and measures. At a random moment one of its processes is killed,
or all are stopped for a while, or the program gets Ctrl-C. After each round nothing may be left: no process, no file
in the folders for temporary files, the lab's and the cache, no mount, no network interface. Who was not killed has the
digits of the first round. Nothing else of Linklab may run meanwhile. ``--seed`` repeats the choices; the moments are
parts of how long the first round took.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import psutil

from linklab import options, process_tree
from linklab.errors import LinklabError
from linklab.files import cache_folder, temporary_folder

ROUND: Final = """
import hashlib, sys
lab = None
try:
    print("begin", flush=True)
    import linklab
    from linklab import measure
    from linklab.network import COURSE
    lab = linklab.start(COURSE, seed=1, kind=sys.argv[1])
    flows = [measure.PingFlow("h1", "h4", 5), measure.TcpFlow("h2", "h5", 1), measure.UdpFlow("h1", "h4", 5, 1)]
    run = measure.run_together(lab, flows)
    lab["h1"].popen("sleep 1000 & sleep 1000")
    lab["h1"].cmd("ping -i 0.01 -c 200 " + lab["h4"].address)
    said = repr([result.in_words for result in run.results] + [lab.now()])
    print("digits", hashlib.sha256(said.encode()).hexdigest()[:12])
    running, lab = lab, None  # a lab that the round itself stops is not lost
    running.stop()
except KeyboardInterrupt:
    try:
        if lab is not None:
            print(lab["h3"].cmd("echo the lab lives"))
    except linklab.LinklabError as error:
        print("lost:", error)
except Exception as error:
    if "LinklabError" not in [kind.__name__ for kind in type(error).__mro__]:
        raise
    print("ended:", error)
"""
"""A round. It says how it ended in its last line."""
FAULTS: Final = {"measured": 1, "stopped": 1, "killed": 2, "interrupted": 2}
"""What happens in a round, and how often of six times."""
PATIENCE_S: Final = 120.0
"""How long what was killed may take to be gone, on a busy machine."""


class Soak:
    """An hour of rounds, and what was found in them."""

    def __init__(self, kind: str, seed: int, room: Path) -> None:
        self.kind, self.random = kind, random.Random(seed)
        self.lab_folder, self.temporary = room / "lab", room / "temporary"
        self.lab_folder.mkdir()
        self.temporary.mkdir()
        self.faults: collections.Counter[str] = collections.Counter()
        self.found: list[str] = []
        self.lasts_s = 0.0
        self.digits = ""

    def begin(self) -> None:
        """Measure once, undisturbed: these are the digits. Raises LinklabError where that cannot be."""
        began_s = time.monotonic()
        said = self._round("measured", 0.0)
        if not said.startswith("digits"):
            raise LinklabError(f"an undisturbed lab does not measure: {said}")
        self.lasts_s, self.digits = time.monotonic() - began_s, said
        self.world = self._world()

    def go_on(self) -> str:
        """Do one more round; return what happened in a line."""
        fault, part = self.random.choices(list(FAULTS), list(FAULTS.values()))[0], self.random.random()
        said = self._round(fault, part * self.lasts_s)
        self.faults[fault] += 1
        found = []
        if fault in ("measured", "stopped") and said != self.digits:
            found.append(f"other digits, or none: {said}")
        if fault == "interrupted" and said.startswith("lost"):
            found.append(said)
        if _is_broken(said):
            found.append(said)
        if left := self._left():
            found.append(f"left: {left}")
        line = f"{self.faults.total():4} {fault} at {part:.0%}: {said.splitlines()[-1] if said else 'nothing said'}"
        self.found += [f"{line}: {what}" for what in found]
        return line if not found else f"{line}  !!  {'; '.join(found)}"

    def _round(self, fault: str, moment_s: float) -> str:
        """Run a program that starts a lab and measures; return its last line, or its traceback."""
        program = subprocess.Popen(
            [sys.executable, "-c", ROUND, self.kind],
            cwd=self.lab_folder,
            env=os.environ | {"TMPDIR": str(self.temporary)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert program.stdout is not None
        program.stdout.readline()
        if fault != "measured":
            with contextlib.suppress(subprocess.TimeoutExpired):
                program.wait(moment_s)
            self._disturb(fault, program.pid)
        said, _ = program.communicate()
        if _is_broken(said):
            return said
        return next(reversed([line for line in said.splitlines() if line.strip()]), "")

    def _disturb(self, fault: str, pid: int) -> None:
        there = process_tree.alive(process_tree.tree(pid))
        if fault == "killed":
            victims, signals = self.random.sample(there, min(1, len(there))), [signal.SIGKILL]
        elif fault == "interrupted":
            victims, signals = there[:1], [signal.SIGINT]
        else:
            victims, signals = there, [signal.SIGSTOP, signal.SIGCONT]
        for number in signals:
            for victim in victims:
                with contextlib.suppress(psutil.NoSuchProcess):
                    victim.send_signal(number)
            time.sleep(0.3 * (number == signal.SIGSTOP))

    def _world(self) -> dict[str, set[str]]:
        """Return what a lab could leave on this machine, by kind."""
        shared = [Path(place) for place in ("/tmp", "/dev/shm", "/run", "/var/tmp") if Path(place).is_dir()]
        folders = (self.lab_folder, self.temporary, cache_folder(), *cache_folder().glob("*"))
        return {
            "process": {str(process.pid) for process in process_tree.alive(process_tree.below(os.getpid()))},
            "files": {str(path) for folder in folders if folder.is_dir() for path in folder.iterdir()}
            | {str(path) for folder in shared for path in folder.iterdir() if "uml" in path.name.lower()}
            | {str(path) for path in Path.home().glob(".uml")},
            "mounts": set(Path("/proc/self/mounts").read_text().splitlines()),
            "interfaces": set(os.listdir("/sys/class/net")),
        }

    def _left(self) -> str:
        """Return what the round has left, once it has had time to go. A lab's orphans become our children."""
        deadline_s = time.monotonic() + PATIENCE_S
        while True:
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            left = {f"{kind} {name}" for kind, names in self._world().items() for name in names - self.world[kind]}
            if not left or time.monotonic() > deadline_s:
                return ", ".join(sorted(left))
            time.sleep(0.1)


def _is_broken(said: str) -> bool:
    """Whether a round ended in a traceback, other than the one that Python prints where Ctrl-C comes amid an import."""
    return "Traceback" in said and "ignored in: <function _get_module_lock" not in said


def main() -> int:
    """Carry out the rounds; return 1 where something was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--minutes", type=options.count, default=60, help="how long (default: 60)")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6), help="of the choices")
    parser.add_argument("--kind", choices=("guest", "qemu"), default="guest", help="the kind of lab")
    arguments = parser.parse_args()
    process_tree.become_head(os.getppid())
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore Ctrl-C, rounds too
    with temporary_folder() as room:
        soak = Soak(arguments.kind, arguments.seed, room)
        free_mb = psutil.disk_usage(str(room)).free / 1e6, options.free_memory_mb()
        until_s = time.monotonic() + 60 * arguments.minutes
        try:
            soak.begin()
            print(f"seed {arguments.seed}, a round takes {soak.lasts_s:.1f} s, {soak.digits}", flush=True)
            while time.monotonic() < until_s:
                print(soak.go_on(), flush=True)
        except KeyboardInterrupt:
            print("interrupted")
        disk_mb = psutil.disk_usage(str(room)).free / 1e6 - free_mb[0]
        memory_mb = options.free_memory_mb() - free_mb[1]
    print(", ".join(f"{count} {fault}" for fault, count in soak.faults.items()))
    print(f"free, after less before: disk {disk_mb:.0f} MB, memory {memory_mb:.0f} MB (other programs count too)")
    print(f"found: {len(soak.found)}", *soak.found, sep="\n")
    return 1 if soak.found else 0


if __name__ == "__main__":
    sys.exit(main())
