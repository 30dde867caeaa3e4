"""How time passes: the compiled event-driven core."""
