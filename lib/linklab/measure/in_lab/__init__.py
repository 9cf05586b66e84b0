"""Programs that run inside a lab, by themselves: they import nothing of Linklab."""
