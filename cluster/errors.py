"""What a user of the launcher can mend.

Every message is one line that says what is wrong and what to do next; the command line prints it
and exits with status 2. Anything else that escapes is a bug of ours and shows its traceback.
"""

from __future__ import annotations


class ClusterError(Exception):
    """A fault of the surroundings or of what was asked for, in one line."""


class WaitTimeoutError(ClusterError, TimeoutError):
    """What was waited for did not come; the message ends with the state of the cluster."""
