"""Floor 5: one loop and one step for every backend."""
