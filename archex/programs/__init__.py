"""What work is: programs, their clean-up, their execution into traces."""
