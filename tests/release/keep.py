"""What the next version must still understand, written by this one: ``python -m tests.release.keep`` before a release.

It makes ``kept/VERSION/`` anew, which takes a lab. What lies there of versions that were released is never changed,
and a stored measurement keeps the form in which it was stored: only those of new tools are added.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import linklab
from linklab import measure
from linklab.classroom.release import release
from linklab.course import FILE, using, variant_text
from linklab.grade import seeding
from linklab.grading import manual_points
from linklab.grading.kit import read_kit
from linklab.labs.lab03.unknown import random_chain
from linklab.labs.lab11.rules import the_network as network_of_lab_11
from linklab.labs.lab12.rules import the_network as network_of_lab_12
from linklab.labs.lab12.rules import unseen
from linklab.labs.lab14.networks import the_network as network_of_lab_14
from linklab.labs.lab15.networks import ring
from linklab.network import COURSE, TWO_HOSTS, Network
from linklab.network.variants import variant
from linklab.programs.reliable.path import the_network as network_of_lab_13
from tests.notebooks.test_build import SOURCE

ROOT: Final = Path(__file__).parents[2]
KEPT: Final = Path(__file__).with_name("kept")
SECRET: Final = b"0123456789abcdef"
STUDENTS: Final = ("ada", "bob", "Zo\u00eb")
SUBMISSION: Final = b"the digest of a submission"
ANSWER: Final = manual_points.WrittenAnswer(
    "03-udp-bandwidth", "reflect-rate", "ada", "Because of the headers.", 2.0, manual_points.Given(1.5)
)


def shapes(network: Network) -> list[list[Any]]:
    """Return of each link with a rate or a delay its name, rate, delay and queue, and the addresses of its ends."""
    return [
        [link.name, link.rate_mbps, link.delay_ms, link.queue_packets, *(end.address for end in link.ends)]
        for link in network.links
        if link.rate_mbps is not None or link.delay_ms
    ]


def networks() -> dict[str, Any]:
    """Return the networks of three students: the file that each gets, and what labs derive from it."""
    found = {}
    for student in STUDENTS:
        network = variant(student, SECRET)
        with using(network):
            labs = {"lab11": network_of_lab_11, "lab12": network_of_lab_12, "lab13": network_of_lab_13}
            labs |= {"lab14": network_of_lab_14, "lab15": ring}
            derived = {name: shapes(network_of()) for name, network_of in labs.items()}
        found[student] = {FILE: json.loads(variant_text(network)), **derived}
    return found


def drawn() -> dict[str, Any]:
    """Return what checks draw from a submission."""
    with seeding.of_submission(SUBMISSION), using(COURSE):
        return {
            "seeds": list(seeding.seeds("an unknown network", 4, 2**32)),
            "lab03": shapes(random_chain(7)),
            "lab12": {name: shapes(network) for name, network in unseen().items()},
        }


def cells() -> dict[str, dict[str, list[Any]]]:
    """Return of each lab its cells for answers, checks and free texts: what kind each is, and its points."""
    return {
        name: {part.cell_id: [part.role, part.points] for part in lab.parts if part.role != "given"}
        for name, lab in read_kit(ROOT).labs.items()
    }


def results() -> Iterator[dict[str, Any]]:
    """Yield a measurement by each tool, and one by several at once, as they are stored."""
    short = measure.Clip(duration_s=4, width=320, height=240, frames_per_s=15, bitrate_kbps=400)
    flows: list[measure.Flow] = [
        measure.PingFlow("h1", "h2", 3),
        measure.TcpFlow("h1", "h2", 2, streams=2),
        measure.UdpFlow("h1", "h2", 1, 2),
        measure.SimpleperfFlow("h1", "h2", 2),
        measure.TrainFlow("h1", "h2", count=3),
        measure.EchoFlow("h1", "h2", count=3),
        measure.ConstantRateFlow("h1", "h2", 1.0, 1),
        measure.VideoFlow("h1", "h2", video=measure.encoded(short)),
        measure.PageFlow("h1", "h2", 2),
        measure.Cut("h1", "h2", 2),
    ]
    with linklab.start(TWO_HOSTS) as lab:
        for flow in flows:
            yield measure.run(lab, flow).to_json()
        looks = [measure.SocketsFlow("h1", "h2", 2, 1), measure.QueueFlow("h1", "h2", 2, 1)]
        yield measure.run_together(lab, [measure.TcpFlow("h1", "h2", 2), *looks]).to_json()


def main() -> None:
    """Write all of it; refuse any words, for what is kept is not made anew by the way."""
    argparse.ArgumentParser("python -m tests.release.keep", description=__doc__).parse_args()
    folder = KEPT / linklab.__version__
    stored = json.loads(path.read_text("utf-8")) if (path := folder / "results.json").exists() else []
    added = [result for result in results() if not any(result["measurement"] == old["measurement"] for old in stored)]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with TemporaryDirectory() as kit:
        (Path(kit) / "solutions").mkdir()
        (Path(kit) / "solutions/01-a-lab.py").write_text(SOURCE, "utf-8")
        release(folder / "released", Path(kit), {"ada": variant("ada", SECRET)}, SECRET)
    for name, data in (
        ("networks", networks()),
        ("draws", drawn()),
        ("cells", cells()),
        ("results", stored + added),
    ):
        (folder / f"{name}.json").write_text(json.dumps(data, indent=1) + "\n", "utf-8")
    (folder / "by-hand.csv").write_bytes(manual_points.to_csv([ANSWER], {}).encode())


if __name__ == "__main__":
    main()
