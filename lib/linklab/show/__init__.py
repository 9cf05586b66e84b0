"""Figures and tables for notebooks."""
