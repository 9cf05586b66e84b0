"""What the documentation site has of its own; CI builds it, runs its examples and follows its links."""
