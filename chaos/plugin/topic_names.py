"""The topic of a test is named after it, so that whoever looks on knows whose it is."""

from __future__ import annotations

import re

MAX_NAME_LENGTH = 100  # Kafka takes 249; folders of partitions have to fit on any disk


def topic_of(test_name: str) -> str:
    """``test_failover[3-all]`` is ``test_failover-3-all``."""
    return re.sub(r"[^a-zA-Z0-9._-]+", "-", test_name).strip("-.")[:MAX_NAME_LENGTH]
