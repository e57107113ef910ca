"""One module per API key: the Handler that serves it, and the versions that it serves.

A handler resolves what the request names, decides, acts, and replies: at once, or later through
the Request it was given. api_table.py puts the handlers into the table that ApiVersions advertises;
what is not in the table is not served. Authorisation and quotas are not part of it yet.

Beside the handlers: request.py and handler.py, the shape of all of them; pipelining.py and
downward.py, rules of Produce and Fetch; metadata_view.py, current_leader.py and
authorized_operations.py, parts of answers.
"""
