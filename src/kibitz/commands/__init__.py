"""The commands: one typed function each, whose parameters are its options. Heavy imports stand inside the functions."""
