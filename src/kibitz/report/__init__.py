"""Reports: the result page of a test, with its pictures and boards."""
