from __future__ import annotations

import pytest

from logquake.node.process.descriptors import open_segments


@pytest.mark.parametrize(
    ("asked", "limit", "given"), [(100, 1_000, 100), (4_096, 1_024, 512), (4_096, 1, 1)]
)
def test_segments_get_what_is_asked_and_never_more_than_half(
    asked: int, limit: int, given: int
) -> None:
    assert open_segments(asked, limit) == given
