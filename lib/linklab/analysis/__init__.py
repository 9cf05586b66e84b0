"""What measurements say: pure functions of numbers, which know nothing of how these were measured."""
