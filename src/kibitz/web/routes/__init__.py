"""The routes of the board's API, a list `ROUTES` in each module; `kibitz.web.app` joins them.

These modules are imported before the first page is served. So numpy, chess and networks are imported only inside the
functions that handle requests.
"""
