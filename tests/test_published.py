"""What studies published is read whole, and a wrong name is one clear line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from linklab import published
from linklab.discovery import STUDIES
from linklab.errors import MeasurementError
from linklab.published import publication

NAMES = sorted(path.parent.name for path in STUDIES.glob("*/published.toml"))


@pytest.mark.parametrize("name", NAMES)
def test_claims_have_ids_one_sentence_a_place_and_a_test(name: str) -> None:
    claims = publication(name).claims
    assert len({claim.id for claim in claims}) == len(claims) >= 8
    for claim in claims:
        assert claim.id.startswith(f"{'switch' if name == 'switches' else name}-")
        assert claim.says.endswith(".")
        assert not re.search(r"[.?!] [A-Z]", claim.says)
        assert claim.about in ("hardware", "Mininet", "either")
        assert claim.where
        assert claim.test


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda: publication("mtv"), "no study 'mtv' published anything: choose one of mtu, report, switches, video"),
        (lambda: publication("mtu").rows("figures", size=1518), "'size' here: choose one of figure, frame_bytes,"),
        (lambda: publication("video")["video"]["length"], "'length' here: choose one of duration_s, width"),
        (
            lambda: publication("report").row("numbers", case=3, name="h1-h5"),
            "report has no numbers with case=3 name=h1-h5: choose of case: 1, 2, 3, 4, 5; name: h1-h4,",
        ),
        (lambda: publication("report").row("numbers", case=4, name="h1-h4"), "report has 8 numbers with case=4"),
    ],
)
def test_what_is_not_there_or_not_unique_is_one_line(ask: object, says: str) -> None:
    assert callable(ask)
    with pytest.raises(MeasurementError, match=re.escape(says)) as caught:
        ask()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("claims = [", "studies/mine/published.toml is wrong"),
        ('inconsistencies = []\nclaims = [{ id = "a", sais = "b" }]', "'sais'"),
        ('inconsistencies = []\nclaims = []\n[x]\ncolumns = ["a", "b"]\nrows = [[1]]', "shorter"),
    ],
)
def test_a_file_that_is_wrong_is_one_line(
    text: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/published.toml").write_text(text)
    monkeypatch.setattr(published, "STUDIES", tmp_path)
    with pytest.raises(MeasurementError, match=says) as caught:
        publication.__wrapped__("mine")
    assert str(caught.value).startswith("studies/mine/published.toml is wrong: ")
