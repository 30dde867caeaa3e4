"""Floor 6: many designs from one command line. The only Hydra import lives here."""
