"""Whose a leak is."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = "pytester"

TESTS = """
import socket
from tests.leaks import leaks_are_its_own

class Ring:
    def __init__(self):
        self.myself = self
        self.leaked = socket.socket()

def test_that_fails():
    ring = Ring()
    assert not ring

def test_that_is_innocent():
    pass

def test_that_leaks():
    Ring()

def test_that_is_innocent_too():
    pass
"""


OTHERS = ("randomly", "asyncio", "anyio", "logquake")  # plugins: what they warn of is not meant


def test_a_leak_fails_the_test_that_leaked(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TESTS)
    found = ("-o", f"pythonpath={Path(__file__).parents[1]}")
    alone = [option for plugin in OTHERS for option in ("-p", f"no:{plugin}")]
    ran = pytester.runpytest_subprocess(*found, *alone, "-W", "error")
    ran.assert_outcomes(passed=3, failed=1, errors=2)
    ran.stdout.fnmatch_lines(["ERROR *::test_that_fails*", "ERROR *::test_that_leaks*"])
