"""Floor 5: rows, where they come from and where they are kept."""
