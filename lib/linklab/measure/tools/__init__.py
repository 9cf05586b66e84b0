"""The tools that measure, one module each."""
