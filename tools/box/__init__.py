"""Linklab's own Vagrant boxes: ``python -m tools.box make`` makes them, ``try`` takes one through a student's term."""
