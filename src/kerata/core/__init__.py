"""Floor 0: what everything else stands on. Knows NumPy and no framework."""
