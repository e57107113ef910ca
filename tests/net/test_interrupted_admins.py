"""Admin clients at whose end somebody waits, who was interrupted."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest

from logquake.client import Admin
from logquake.client.aio import Admin as AioAdmin
from logquake.client.aio.futures import Future
from logquake.client.errors import ClosedError, TimedOutError
from logquake.client.sync.futures import Future as SyncFuture


def test_what_ends_by_ctrl_c_does_not_wait_for_calls_that_nobody_answers() -> None:
    asked: list[SyncFuture[Any]] = []

    def program() -> None:
        with Admin(bootstrap_servers="127.0.0.1:1", default_api_timeout_ms=2**31 - 1) as admin:
            asked.append(admin.list_topics())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        program()
    assert isinstance(asked[0].exception(), ClosedError)


def test_a_program_that_exits_waits_for_its_calls() -> None:
    asked: list[SyncFuture[Any]] = []

    def program() -> None:
        with Admin(bootstrap_servers="127.0.0.1:1") as admin:
            asked.append(admin.list_topics(timeout_ms=1))
            sys.exit()

    with pytest.raises(SystemExit):
        program()
    assert isinstance(asked[0].exception(), TimedOutError)


def test_a_task_that_is_cancelled_does_not_wait_for_calls_that_nobody_answers() -> None:
    async def main() -> None:
        keys = {"default_api_timeout_ms": 2**31 - 1}
        async with AioAdmin(bootstrap_servers="127.0.0.1:1", **keys) as admin:
            asked.append(admin.list_topics())
            asyncio.current_task().cancel()  # type: ignore[union-attr]
            await asyncio.sleep(0)

    asked: list[Future[Any]] = []
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(main())
    assert asked[0].done()
