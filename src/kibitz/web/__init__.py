"""The board in the browser, its server side: lines and trees of moves, networks and what they answer, over HTTP.

`app.py` has the routes, `security.py` what is let in, `work.py` the threads that keep inference off the event loop.
Nothing heavy is imported at the top of what the first page needs.
"""

PORT = 8642
"""The default port; another is used if it is taken, or requested."""
