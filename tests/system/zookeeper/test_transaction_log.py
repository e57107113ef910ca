"""What a real server wrote down is what was done to it."""

from __future__ import annotations

import itertools
from pathlib import Path

from kazoo.client import KazooClient
from kazoo.exceptions import BadVersionError

from logquake.cluster.zookeeper.program import write_config
from logquake.zk.applied import Applied
from logquake.zk.operations import Check, Create, Delete, SetData
from logquake.zk.transaction_log.files import read_server
from tests.system.zookeeper.conftest import Server
from tests.waiting import PATIENCE_S


def test_every_write_of_a_session_is_in_the_log(zookeeper_server: Server) -> None:
    client = KazooClient(f"127.0.0.1:{zookeeper_server.port}")
    client.start(PATIENCE_S)
    session_id = client.client_id[0]
    client.create("/told", b"1")
    client.create("/told/ephemeral", b"", ephemeral=True)
    path = client.create("/told/n-", b"2", sequence=True)
    client.set("/told", b"3")
    multi = client.transaction()
    multi.check("/told", 1)
    multi.set_data("/told", b"4")
    multi.delete(path)
    multi.commit()
    multi = client.transaction()
    multi.check("/told", 1)
    multi.delete("/told")
    assert isinstance(multi.commit()[0], BadVersionError)
    client.stop()
    client.close()
    written = _of(session_id, zookeeper_server.directory / "data")
    assert [applied.writes for applied in written] == [
        (),
        (Create("/told", b"1"),),
        (Create("/told/ephemeral", b"", ephemeral=True),),
        (Create("/told/n-0000000001", b"2"),),
        (SetData("/told", b"3", 0),),
        (Check("/told", 1), SetData("/told", b"4", 1), Delete("/told/n-0000000001")),
        (Delete("/told/ephemeral"),),
    ]
    assert written[-1].closed
    assert all(one.zxid < next_.zxid for one, next_ in itertools.pairwise(written))


def test_a_server_of_ours_keeps_all_its_logs(tmp_path: Path) -> None:
    write_config(tmp_path / "zoo.cfg", tmp_path / "data", "127.0.0.1", 2181)
    assert "autopurge" not in (tmp_path / "zoo.cfg").read_text()


def _of(session_id: int, data_dir: Path) -> list[Applied]:
    return [applied for applied in read_server(data_dir) if applied.session_id == session_id]
