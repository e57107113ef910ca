"""What takes more minutes than the gate has is asked for by EVERYTHING=1 in the environment."""

from __future__ import annotations

import os

import pytest

IS_ASKED_FOR = bool(os.environ.get("EVERYTHING"))
WHY_NOT = "takes minutes of processor: EVERYTHING=1 has it"

only_with_everything = pytest.mark.skipif(not IS_ASKED_FOR, reason=WHY_NOT)
