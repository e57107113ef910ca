"""Who looks at a cluster, or sets it up, and is none of those whose life on it is told."""

from __future__ import annotations

# The client id of tools and harness: report cards leave it out.
ONLOOKER = "logquake"
