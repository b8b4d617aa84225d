"""The Go part of the server of `kibitz board`: lines (a start position and moves), evaluations, and files."""
