"""What the tests of several rooms share: time that moves by hand."""

from __future__ import annotations

import pytest

from tests.doubles.scheduler import ManualScheduler


@pytest.fixture
def scheduler() -> ManualScheduler:
    return ManualScheduler()
