"""Lost connections and ended sessions, on the model and on a real server through kazoo."""

from __future__ import annotations

from logquake.zk.operations import (
    Create,
    Data,
    Delete,
    EventType,
    Exists,
    Failed,
    GetChildren,
    GetData,
    SetData,
    WatchEvent,
    ZkError,
)
from tests.system.zookeeper.ensembles import Ensemble


def test_an_expired_session_is_told_loses_its_nodes_and_is_followed_by_another(
    ensemble: Ensemble,
) -> None:
    client, other = ensemble.connect(), ensemble.connect()
    path = f"{ensemble.root}/e"
    client.perform(Create(path, ephemeral=True))
    ensemble.expire(client)
    client.run_until(lambda: len(client.sessions) == 2)
    assert client.log[-2:] == ["expired", "connected"]
    assert client.sessions[0] != client.sessions[1]
    assert other.perform(Exists(path)) is None
    assert client.perform(Create(path, ephemeral=True)) == path


def test_watches_end_with_their_session(ensemble: Ensemble) -> None:
    client, other = ensemble.connect(), ensemble.connect()
    path = f"{ensemble.root}/a"
    client.perform(Exists(path, watch=True))
    ensemble.expire(client)
    client.run_until(lambda: len(client.sessions) == 2)
    other.perform(Create(path))
    client.settle()
    assert client.events == []


def test_a_cut_fails_what_is_asked_while_it_lasts(ensemble: Ensemble) -> None:
    client = ensemble.connect()
    ensemble.cut(client)
    client.run_until(lambda: client.session_id is None)
    assert client.perform(Create(f"{ensemble.root}/a")) == Failed(
        ZkError.CONNECTION_LOSS, f"{ensemble.root}/a"
    )


def test_the_session_outlives_a_cut_with_its_ephemeral_nodes(ensemble: Ensemble) -> None:
    client = ensemble.connect()
    session = client.session_id
    path = f"{ensemble.root}/e"
    client.perform(Create(path, ephemeral=True))
    ensemble.cut(client)
    client.run_until(lambda: client.session_id is None)
    ensemble.heal(client)
    client.run_until(lambda: client.session_id is not None)
    assert client.session_id == session
    assert client.perform(Exists(path)).ephemeral_owner == session


def test_what_watches_missed_during_a_cut_is_reported_after_it(ensemble: Ensemble) -> None:
    client, other = ensemble.connect(), ensemble.connect()
    root = ensemble.root
    data, gone, born, parent = (f"{root}/{name}" for name in ("data", "gone", "born", "parent"))
    for path in (data, gone, parent):
        other.perform(Create(path))
    client.perform(GetData(data, watch=True))
    client.perform(Exists(gone, watch=True))
    client.perform(Exists(born, watch=True))
    client.perform(GetChildren(parent, watch=True))
    ensemble.cut(client)
    client.run_until(lambda: client.session_id is None)
    other.perform(SetData(data, b"new"))
    other.perform(Delete(gone))
    other.perform(Create(born))
    other.perform(Create(f"{parent}/child"))
    ensemble.heal(client)
    client.run_until(lambda: client.session_id is not None)
    client.settle()
    assert set(client.events) == {
        WatchEvent(EventType.CHANGED, data),
        WatchEvent(EventType.DELETED, gone),
        WatchEvent(EventType.CREATED, born),
        WatchEvent(EventType.CHILD, parent),
    }
    assert len(client.events) == 4


def test_what_a_cut_hid_is_told_before_an_answer_that_shows_it(ensemble: Ensemble) -> None:
    client, other = ensemble.connect(), ensemble.connect()
    path = f"{ensemble.root}/a"
    other.perform(Create(path))
    client.perform(GetData(path, watch=True))
    ensemble.cut(client)
    client.run_until(lambda: client.session_id is None)
    other.perform(SetData(path, b"new"))
    ensemble.heal(client)
    client.run_until(lambda: client.session_id is not None)
    client.submit(GetData(path))
    client.run_until(lambda: isinstance(client.log[-1], Data))
    assert client.log[-2:-1] == [WatchEvent(EventType.CHANGED, path)]


def test_watches_that_missed_nothing_still_hold_after_a_cut(ensemble: Ensemble) -> None:
    client, other = ensemble.connect(), ensemble.connect()
    there, absent = f"{ensemble.root}/there", f"{ensemble.root}/absent"
    other.perform(Create(there))
    client.perform(GetData(there, watch=True))
    client.perform(GetChildren(there, watch=True))
    client.perform(Exists(absent, watch=True))
    client.perform(GetData(absent, watch=True))  # refused: no watch of its own
    ensemble.cut(client)
    client.run_until(lambda: client.session_id is None)
    ensemble.heal(client)
    client.run_until(lambda: client.session_id is not None)
    client.settle()
    assert client.events == []
    other.perform(SetData(there, b"1"))
    other.perform(Create(f"{there}/child"))
    other.perform(Create(absent))
    client.settle()
    assert client.events == [
        WatchEvent(EventType.CHANGED, there),
        WatchEvent(EventType.CHILD, there),
        WatchEvent(EventType.CREATED, absent),
    ]


def test_a_session_that_expired_during_a_cut_is_told_on_return(ensemble: Ensemble) -> None:
    client, other = ensemble.connect(), ensemble.connect()
    path = f"{ensemble.root}/e"
    client.perform(Create(path, ephemeral=True))
    ensemble.cut(client)
    client.run_until(lambda: client.session_id is None)
    ensemble.expire(client)
    assert other.perform(Exists(path)) is None
    ensemble.heal(client)
    client.run_until(lambda: client.session_id is not None)
    assert client.log[-3:] == ["disconnected", "expired", "connected"]
