"""Each script plays in a world of its own."""

from __future__ import annotations

import pytest

from tests.golden.partition.world import World


@pytest.fixture
def world() -> World:
    return World()
