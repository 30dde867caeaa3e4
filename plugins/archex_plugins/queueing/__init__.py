"""Which queue a stream's commands go to."""
