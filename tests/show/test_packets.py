"""Figures of packets: what they say in words, and what they refuse."""

from __future__ import annotations

import pytest

from linklab.errors import MeasurementError
from linklab.show.packets import arrivals, first_packets, frames, sweep

from .charted import points
from .gallery import sent_at


def test_a_sweep_says_what_arrived_of_each_rate_in_order() -> None:
    figure = sweep([sent_at(33, 10), sent_at(25, 0)], ceiling_mbps=29.15)
    assert figure.alt_text.endswith("25.0 sent, 25.00 arrived, 0.00 % lost; 33.0 sent, 29.70 arrived, 10.00 % lost.")
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts == ["theory: 29.15 Mbit/s", "10.0 %\nlost"]
    with pytest.raises(MeasurementError, match="measure at one rate"):
        sweep([])


def test_a_train_says_its_gap() -> None:
    figure = arrivals([1.0, 1.0, 1.001, 1.002, 1.003])
    assert figure.alt_text == "Arrival of 5 packets within 3.00 ms; the middle gap is 1.000 ms."
    ((line,),) = [points(figure, unnamed=True).values()]
    assert [count for _, count in line] == [1, 2, 3, 4, 5]
    assert "Arrival of 2 packets" in arrivals([1.0, 1.001]).alt_text
    with pytest.raises(MeasurementError, match="make no train"):
        arrivals([1.0])


def test_first_packets_say_their_highest_and_show_only_the_first() -> None:
    lines = {"full bucket": [(2, 15.8), (3, 12.3), (30, 99.0)], "small bucket": [(2, 10.0)]}
    figure = first_packets({"4370 bytes": lines}, 10)
    assert "4370 bytes, full bucket: at most 15.8; 4370 bytes, small bucket: at most 10.0" in figure.alt_text
    (axes,) = figure.axes
    assert [len(line.get_xdata()) for line in axes.lines[:2]] == [2, 1]  # type: ignore[arg-type]
    assert axes.get_ylim()[1] > 15.8
    with pytest.raises(MeasurementError, match="nothing to draw"):
        first_packets({"4370 bytes": {"full bucket": []}}, 10)


def test_frames_are_rows_of_headers_with_data_below_each_other() -> None:
    inside = [("Ethernet", 14), ("IPv4", 20), ("data", 1480)]
    figure = frames({"inside": inside, "outside": [("Ethernet", 14), ("IPv4", 20), ("GRE", 4), *inside]})
    assert "inside: 1514 bytes (Ethernet 14, IPv4 20, data 1480)" in figure.alt_text
    assert "outside: 1552 bytes" in figure.alt_text
    rights = {round(patch.get_x() + patch.get_width(), 6) for patch in figure.axes[0].patches if patch.get_width() > 2}  # type: ignore[attr-defined]
    assert len(rights) == 1
    with pytest.raises(MeasurementError, match="no frame to draw"):
        frames({})
    with pytest.raises(MeasurementError, match="no frame to draw"):
        frames({"inside": []})
