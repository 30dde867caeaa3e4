"""Floor 6: what rows say. Reads rows only, runs nothing."""
