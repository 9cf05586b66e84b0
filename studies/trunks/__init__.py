"""Bonded trunks and a priority class in the switches paper's testbeds, which its future work asks for."""
