"""One module per API key: the Handler that serves it, and the versions that it serves.

A handler resolves what the request names, decides, acts, and replies: at once, or later through
the Request it was given. api_table.py puts the handlers into the table that ApiVersions advertises;
what is not in the table is not served. Quotas are not part of it yet.

Who may not do what an API does to the cluster as a whole, or to one group, is refused by guard.py
before the handler is called (wire/refusals has the answers). What is decided a topic, a group of
several or a transactional id the handler asks its Authorizer.

Beside the handlers: request.py and handler.py, the shape of all of them; pipelining.py and
downward.py and fetch_access.py, rules of Produce and Fetch; metadata_view.py and current_leader.py,
parts of answers.
"""
