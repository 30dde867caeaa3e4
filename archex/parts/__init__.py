"""What hardware is: one page a kind of part (its numbers, its policy functions, its counters). Knows neither programs nor engine."""
