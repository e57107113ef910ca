"""A session's password follows from its id, as in ZooKeeper."""

from __future__ import annotations

import pytest

from logquake.cluster.zookeeper.session_end import password_of


@pytest.mark.parametrize(
    ("session_id", "password"),
    [
        (0x10003A9FE450000, "1174b56dcae2ca46d7d75c522359497d"),
        (0x10003A9FE450001, "2495af6d6a2eaa8bcc1ac47df7e15d4a"),
    ],
)
def test_a_password_is_the_one_that_a_real_server_gave(session_id: int, password: str) -> None:
    assert password_of(session_id).hex() == password
