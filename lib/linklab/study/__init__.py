"""Studies: declared as data, carried out side by side on virtual time, resumable, with one tidy table.

``run(study, folder)``, or from a terminal ``linklab study run NAME``.
"""

from linklab.study.catalogue import studies, study_by_name
from linklab.study.declare import Level, Measured, Measurement, Metric, Point, Selection, Study, Testbed
from linklab.study.runner import StudyProgress, run
from linklab.study.table import Missing, StudyTable

__all__ = [
    "Level",
    "Measured",
    "Measurement",
    "Metric",
    "Missing",
    "Point",
    "Selection",
    "Study",
    "StudyProgress",
    "StudyTable",
    "Testbed",
    "run",
    "studies",
    "study_by_name",
]
