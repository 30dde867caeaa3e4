"""Floor 7: the command `archex`."""
