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

THREADS = """
import threading
import tests.leaks
from tests.leaks import threads_end_with_their_module

tests.leaks.PATIENCE_S = 0.1

def test_whose_thread_ends_soon():
    thread = threading.Thread(target=lambda: None)
    thread.start()

def test_whose_thread_goes_on():
    thread = threading.Thread(target=threading.Event().wait, name="forgotten", daemon=True)
    thread.start()
"""
NEXT = """
from tests.leaks import threads_end_with_their_module

def test_of_the_next_module():
    pass
"""

OTHERS = ("randomly", "asyncio", "anyio", "logquake")  # plugins: what they warn of is not meant


def test_a_leak_fails_the_test_that_leaked(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TESTS)
    ran = run(pytester)
    ran.assert_outcomes(passed=3, failed=1, errors=2)
    ran.stdout.fnmatch_lines(["ERROR *::test_that_fails*", "ERROR *::test_that_leaks*"])


def test_a_thread_that_goes_on_fails_the_module_that_began_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_first=THREADS, test_second=NEXT)
    ran = run(pytester)
    ran.assert_outcomes(passed=3, errors=1)
    ran.stdout.fnmatch_lines(
        [
            "*threads were left behind: forgotten, begun at *",
            "ERROR test_first.py::test_whose_thread_goes_on*",
        ]
    )


def run(pytester: pytest.Pytester) -> pytest.RunResult:
    found = ("-o", f"pythonpath={Path(__file__).parents[1]}")
    alone = [option for plugin in OTHERS for option in ("-p", f"no:{plugin}")]
    return pytester.runpytest_subprocess(*found, *alone, "-W", "error")
