"""What the model shows its owner; what clients see is checked in tests/system/zookeeper."""

from __future__ import annotations

from logquake.zk.applied import Applied
from logquake.zk.model import ZooKeeperModel
from logquake.zk.operations import (
    Check,
    Create,
    Delete,
    EventType,
    Exists,
    Failed,
    GetData,
    Multi,
    SetData,
    WatchEvent,
    ZkError,
)


def test_the_history_holds_every_transaction_that_took_place() -> None:
    model = ZooKeeperModel()
    session = model.open_session()
    model.apply(session, Create("/a", b"x"))
    model.apply(session, Create("/a", b"y"))  # refused, and yet takes a zxid
    model.apply(session, Multi((Check("/a", 0), Create("/a/n", sequential=True))))
    assert model.history == [
        Applied(2, session, (Create("/a", b"x"),)),
        Applied(4, session, (Check("/a", 0), Create("/a/n0000000000"))),
    ]


def test_closing_a_session_deletes_its_nodes_in_one_transaction() -> None:
    model = ZooKeeperModel()
    leaver, watcher = model.open_session(), model.open_session()
    for path in ("/b", "/a"):
        model.apply(leaver, Create(path, ephemeral=True))
        model.apply(watcher, Exists(path, watch=True))
    fired = model.close_session(leaver)
    assert fired == tuple((watcher, WatchEvent(EventType.DELETED, path)) for path in ("/a", "/b"))
    assert model.history[-1] == Applied(5, leaver, (Delete("/a"), Delete("/b")), closed=True)
    assert model.sessions == {watcher}
    assert model.close_session(leaver) == ()


def test_an_ended_session_may_do_nothing() -> None:
    model = ZooKeeperModel()
    session = model.open_session()
    model.close_session(session)
    refusal = (Failed(ZkError.SESSION_EXPIRED, "/a"), ())
    assert model.apply(session, Create("/a")) == refusal
    assert model.apply(session, GetData("/a")) == refusal


def test_a_refused_multi_fires_no_watch() -> None:
    model = ZooKeeperModel()
    session = model.open_session()
    model.apply(session, Create("/a"))
    model.apply(session, GetData("/a", watch=True))
    outcome, fired = model.apply(session, Multi((SetData("/a", b""), Delete("/a", 0))))
    assert outcome == Failed(ZkError.BAD_VERSION, "/a")
    assert fired == ()
