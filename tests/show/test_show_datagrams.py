"""Figures of datagrams: what they say in words, and that they are pictures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from linklab.errors import MeasurementError
from linklab.show.packets import arrivals, sweep


@dataclass(frozen=True)
class Sent:
    sent_mbps: float
    loss_percent: float


def test_a_sweep_says_what_arrived_of_each_rate_in_order() -> None:
    figure = sweep([Sent(33, 10), Sent(25, 0)], ceiling_mbps=29.15)
    assert figure.alt_text.endswith("25.0 sent, 25.00 arrived, 0.00 % lost; 33.0 sent, 29.70 arrived, 10.00 % lost.")
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert "theory: 29.15 Mbit/s" in texts
    assert "10.0 %\nlost" in texts
    assert len(texts) == 2, "no label where nothing was lost"
    assert figure.png().startswith(b"\x89PNG")


def test_a_train_says_its_gap() -> None:
    figure = arrivals([1.0, 1.0, 1.001, 1.002, 1.003])
    assert figure.alt_text == "Arrival of 5 packets within 3.00 ms; the middle gap is 1.000 ms."
    (line,) = figure.axes[0].lines
    assert np.asarray(line.get_ydata()).tolist() == [1, 2, 3, 4, 5]
    assert figure.png().startswith(b"\x89PNG")


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(MeasurementError, match="measure at one rate"):
        sweep([])
    with pytest.raises(MeasurementError, match="make no train"):
        arrivals([1.0])
