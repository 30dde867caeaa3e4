"""Register files: how operands reach the pipes."""
