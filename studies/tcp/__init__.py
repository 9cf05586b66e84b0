"""TCP versions through the switches paper's switches, which its future work asks for."""
