"""The course report's five test cases as a study: `linklab.published.report` has its numbers and claims."""
