"""Programs into machine code for one device."""
