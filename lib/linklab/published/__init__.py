"""Numbers that others published, each with the table or section it comes from. Pure data."""
