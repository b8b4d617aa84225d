"""The routes of the server's API. Each module has a list `ROUTES`, and `kibitz.web.app` combines the lists.

These modules are imported before the first page is served. So numpy, chess and networks are imported only inside the
functions that handle requests.
"""
