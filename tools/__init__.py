"""Tools that work on Linklab itself and are no part of the installed package: they run from a checkout."""
