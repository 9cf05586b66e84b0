"""Names that both sides of a lab know."""

ROOT = "root"
"""A shell in the lab's first namespace, where the switches live: the guest itself, as root."""
