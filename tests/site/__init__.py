"""The documentation site: what it has of its own, and in ``make test-thorough`` all of it, built twice."""
