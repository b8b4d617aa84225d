"""The web server of `kibitz board`, whose page in the browser shows positions, networks and their outputs.

`app.py` has the routes, `security.py` decides which requests are accepted, and `workers.py` has the threads that run
networks, so that the event loop never waits. Modules that the first page needs import no large packages at the top.
"""

PORT = 8642
"""The default port. If another program uses it, kibitz uses the next free port."""
