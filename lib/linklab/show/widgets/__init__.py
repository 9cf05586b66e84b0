"""Widgets: what moves and can be touched, in a notebook, in a report and as a file.

One script draws all widgets: ``widgets.min.js`` with ``widgets.min.css``. ``make widgets`` builds both from ``src``,
which has a module for each widget; who uses Linklab needs no Node.js. `page` makes a page that needs no kernel,
`widget` the base class of widgets that talk with one.
"""
