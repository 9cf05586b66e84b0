"""The study of different switch solutions (2013): its runs, claims and page."""
