"""The command `kibitz analyze`."""
