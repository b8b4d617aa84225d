"""The board in the browser, its server: lines and trees of moves, networks and their outputs, over HTTP.

`app.py` has the routes, `security.py` decides which requests are accepted, `workers.py` has the threads that keep
inference off the event loop. Nothing large is imported at the top of modules that the first page needs.
"""

PORT = 8642
"""The default port; another is used if it is taken, or requested."""
