"""The commands: one typed function each, whose parameters are its options. Heavy modules are imported inside the
functions, so that `kibitz --help` is quick."""
