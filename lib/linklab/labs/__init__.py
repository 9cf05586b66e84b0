"""The labs: a folder for each, with its questions, rules and figures, and what several of them share.

Labs that an instructor has added are imported from here too (`linklab.discovery`).
"""

from linklab.discovery import added_labs

__path__.extend(dict.fromkeys(str(lab.folder.parent) for lab in added_labs()))
