"""Tests of ``linklab grade``. Those with labs are marked; all others pretend a judge, given as a command."""
