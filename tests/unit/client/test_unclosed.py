"""A client that nobody closes is told of by its name, and with the records that it still holds."""

from __future__ import annotations

import gc
import subprocess
import sys
import warnings
from dataclasses import dataclass

import pytest

from logquake.client.unclosed import tell_if_unclosed
from tests.unit.client.producer.test_producing import Program

AT_THE_END = """
from logquake.client import Admin, Consumer, Producer
{name} = {name}(bootstrap_servers="127.0.0.1:1", client_id="c")
{then}
"""


@dataclass
class Driver:
    is_closed: bool = False
    held: int = 0

    def count_held(self) -> int:
        return self.held


class Client: ...


@pytest.mark.parametrize(("held", "lost"), [(0, ""), (3, ", and 3 of its records are not written")])
def test_who_lets_go_of_a_client_is_warned(held: int, lost: str) -> None:
    driver = Driver(held=held)
    kept = [Client()]
    tell_if_unclosed(kept[0], driver, "c-1", driver.count_held)
    with pytest.warns(ResourceWarning, match=f"^Client c-1 was never closed{lost}$"):
        kept.clear()


@pytest.mark.parametrize("then", ["is closed", "went before"])
def test_nobody_is_warned_of_one_that_was_closed(then: str) -> None:
    driver = Driver()
    client = Client()
    tell_if_unclosed(client, driver, "c-1")
    if then == "is closed":
        driver.is_closed = True
    else:
        del driver
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        del client
        gc.collect()


@pytest.mark.parametrize("name", ["Producer", "Consumer", "Admin"])
def test_a_program_that_ends_without_a_close_is_warned(name: str) -> None:
    assert f"ResourceWarning: {name} c was never closed" in said_by(
        AT_THE_END.format(name=name, then="")
    )
    closed = AT_THE_END.format(name=name, then=f"{name}.close()")
    assert "ResourceWarning" not in said_by(closed)


def said_by(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "default", "-c", program], capture_output=True, text=True, check=True
    )
    return done.stderr


def test_a_producer_counts_the_records_that_it_holds() -> None:
    program = Program()
    core = program.producing.core
    assert core.records_held() == 0
    assert program.producing.appending.at_once(program.outgoing(partition=0)) is not None
    assert core.records_held() == 1
