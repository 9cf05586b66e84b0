"""A student's prediction, committed to before the measurement."""

from __future__ import annotations

from linklab.grade import Result
from linklab.grade.predictions import Predictions


def commit(predictions: Predictions, name: str, given: object) -> Result:
    """Predict, as a student does who is 50 % sure, and return the result of the check."""
    return predictions.check_predicted(predictions.predict(name, given, sure=50))
