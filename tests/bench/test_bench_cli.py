"""``make bench``: a mistake is one line, before anything is measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.bench.__main__ import main


def status(*words: str) -> int:
    """Run the command; return its exit status."""
    try:
        return main(list(words))
    except SystemExit as ended:  # argparse
        return int(str(ended.code))


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (
            ("--only", "sped"),
            "the benchmark has no part 'sped': it has fidelity, starts, switches, speed, search, labs, overhead",
        ),
        (("--repeats", "0"), "argument --repeats: '0' is not a whole number above 0"),
        (("--repeats", "ten"), "argument --repeats: 'ten' is not a whole number above 0"),
        (("--output", "file"), "file cannot be written to: File exists"),
        (("--output", "/proc/results"), "/proc/results cannot be written to: "),
        (("--against", "nothing.json"), "nothing.json cannot be read: No such file or directory"),
        (("--against", "file"), "file is no bench.json with the part fidelity"),
    ],
)
def test_a_mistake_is_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    reason: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("something else")
    assert status(*words) in (1, 2)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"linklab: {reason}")
    assert said.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir() if path.name != "file"] in ([], ["bench-results"])


def test_help_names_every_part_and_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert status("--help") == 0
    said = capsys.readouterr().out
    for word in ("fidelity", "starts", "switches", "speed", "overhead", "--quick", "--against", "3 if a claim"):
        assert word in " ".join(said.split()), word
