"""The server of the board in the browser: lines and trees of moves, networks and their outputs, over HTTP.

`app.py` has the routes, `security.py` decides which requests are accepted, `workers.py` has the threads that keep
inference off the event loop. Modules that the first page needs import no large packages at the top.
"""

PORT = 8642
"""The default port. If another program uses it, kibitz uses the next free port."""
