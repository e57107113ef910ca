"""What a stream's reader says before there is a cluster."""

from __future__ import annotations

import pytest

from logquake.pipeline.options.values import OptionError


def test_wrong_options_are_told_when_it_is_asked_and_not_when_it_is_made() -> None:
    pytest.importorskip("pyspark", reason="the extra logquake[spark] is not installed")
    from logquake.pipeline.source.stream import LogquakeStreamReader

    servers = {"kafka.bootstrap.servers": "localhost:1", "subscribe": "orders"}
    reader = LogquakeStreamReader({**servers, "endingOffsets": "latest"})
    with pytest.raises(OptionError, match=r"(?i)endingoffsets"):
        reader.getDefaultReadLimit()
    with pytest.raises(OptionError, match=r"(?i)endingoffsets"):
        reader.initialOffset()
