"""What a member of a group asks its coordinator, and what its program is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.membership.membership_player import MembershipPlayer
from tests.golden.player import check_script, scripts_beside


@pytest.mark.parametrize("script", scripts_beside(__file__), ids=lambda path: path.stem)
def test_script(script: Path) -> None:
    check_script(script, MembershipPlayer())
