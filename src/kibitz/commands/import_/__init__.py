"""The command `kibitz import`."""
