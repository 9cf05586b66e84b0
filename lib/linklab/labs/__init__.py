"""The labs: a folder for each, with its questions, rules and figures, and what several of them share."""
