"""The command `kibitz match`."""
