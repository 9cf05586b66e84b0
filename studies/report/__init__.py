"""The course report's five test cases as a study (2023): its runs, claims and page."""
