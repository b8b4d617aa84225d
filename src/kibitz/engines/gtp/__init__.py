"""The GTP engine: a module for each family of commands."""
