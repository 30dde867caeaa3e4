"""Floor 0: what every other floor may use."""
