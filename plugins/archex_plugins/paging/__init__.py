"""Where pages of managed memory are, which of them move, and when."""
