"""What a session promises, checked on the model and on a real server through kazoo."""

from __future__ import annotations

from logquake.zk.operations import (
    Check,
    Children,
    Create,
    Data,
    Delete,
    EventType,
    Exists,
    Failed,
    GetChildren,
    GetData,
    Multi,
    SetData,
    Stat,
    WatchEvent,
    ZkError,
)
from logquake.zk.paths import path_of
from tests.system.zookeeper.ensembles import Ensemble


def refused(error: ZkError, path: str) -> Failed:
    return Failed(error, path)


def test_data_comes_back_with_its_version_and_the_zxids_of_its_writes(ensemble: Ensemble) -> None:
    client = ensemble.connect()
    path = f"{ensemble.root}/a"
    assert client.perform(Create(path, b"one")) == path
    first = client.perform(GetData(path))
    assert (first.data, first.stat.version) == (b"one", 0)
    assert first.stat.czxid == first.stat.mzxid
    changed = client.perform(SetData(path, b"two", version=0))
    assert changed == Stat(first.stat.czxid, first.stat.czxid + 1, 1, 0, 0)
    assert client.perform(GetData(path)) == Data(b"two", changed)


def test_no_data_reads_as_empty(ensemble: Ensemble) -> None:
    client = ensemble.connect()
    client.perform(Create(f"{ensemble.root}/a"))
    assert client.perform(GetData(f"{ensemble.root}/a")).data == b""


def test_every_refusal_names_its_error_and_path(ensemble: Ensemble) -> None:
    client = ensemble.connect()
    root = ensemble.root
    client.perform(Create(f"{root}/a"))
    client.perform(Create(f"{root}/a/b"))
    client.perform(Create(f"{root}/e", ephemeral=True))
    refusals = {
        GetData(f"{root}/no"): ZkError.NO_NODE,
        GetChildren(f"{root}/no"): ZkError.NO_NODE,
        SetData(f"{root}/no", b""): ZkError.NO_NODE,
        Delete(f"{root}/no"): ZkError.NO_NODE,
        Create(f"{root}/no/way"): ZkError.NO_NODE,
        Create(f"{root}/a"): ZkError.NODE_EXISTS,
        SetData(f"{root}/a", b"", version=1): ZkError.BAD_VERSION,
        Delete(f"{root}/a", version=1): ZkError.BAD_VERSION,
        Delete(f"{root}/a"): ZkError.NOT_EMPTY,
        Create(f"{root}/e/x"): ZkError.NO_CHILDREN_FOR_EPHEMERALS,
    }
    for operation, error in refusals.items():
        assert client.perform(operation) == refused(error, path_of(operation))


def test_children_are_names_in_order(ensemble: Ensemble) -> None:
    client = ensemble.connect()
    for name in ("c", "a", "b"):
        client.perform(Create(f"{ensemble.root}/{name}"))
    children = client.perform(GetChildren(ensemble.root))
    assert isinstance(children, Children)
    assert children.names == ("a", "b", "c")
    assert children.stat.num_children == 3


def test_sequential_names_count_every_creation_below_the_parent(ensemble: Ensemble) -> None:
    client = ensemble.connect()
    client.perform(Create(f"{ensemble.root}/plain"))
    client.perform(Delete(f"{ensemble.root}/plain"))
    made = [client.perform(Create(f"{ensemble.root}/n_", sequential=True)) for _ in range(2)]
    assert made == [f"{ensemble.root}/n_0000000001", f"{ensemble.root}/n_0000000002"]


def test_a_multi_is_one_transaction(ensemble: Ensemble) -> None:
    client = ensemble.connect()
    a, b = f"{ensemble.root}/a", f"{ensemble.root}/b"
    made_a, made_b, none, stat = client.perform(
        Multi(
            (Create(a, b"x"), Create(f"{b}_", None, sequential=True), Check(a, 0), SetData(a, b"y"))
        )
    )
    assert (made_a, made_b, none) == (a, f"{b}_0000000001", None)
    assert stat == client.perform(GetData(a)).stat
    assert stat.czxid == stat.mzxid == client.perform(Exists(made_b)).czxid


def test_a_refused_multi_leaves_nothing_and_names_the_write_at_fault(ensemble: Ensemble) -> None:
    client = ensemble.connect()
    a, b, c = (f"{ensemble.root}/{name}" for name in "abc")
    client.perform(Create(a, b"before"))
    outcome = client.perform(Multi((SetData(a, b"after"), Create(b), Check(a, 9), Delete(c))))
    assert outcome == refused(ZkError.BAD_VERSION, a)
    assert client.perform(GetData(a)).data == b"before"
    assert client.perform(Exists(b)) is None
    assert client.perform(Create(f"{ensemble.root}/n", sequential=True)).endswith("0000000001")


def test_a_multi_sees_its_own_writes(ensemble: Ensemble) -> None:
    client = ensemble.connect()
    a = f"{ensemble.root}/a"
    outcome = client.perform(Multi((Create(a), Create(f"{a}/b"), Delete(f"{a}/b"), Delete(a, 0))))
    assert outcome == (a, f"{a}/b", None, None)
    assert client.perform(Exists(a)) is None


def test_an_empty_multi_answers_nothing(ensemble: Ensemble) -> None:
    assert ensemble.connect().perform(Multi(())) == ()


def test_a_watch_fires_once(ensemble: Ensemble) -> None:
    reader, writer = ensemble.connect(), ensemble.connect()
    path = f"{ensemble.root}/a"
    writer.perform(Create(path))
    for _ in range(2):
        reader.perform(GetData(path, watch=True))
    writer.perform(SetData(path, b"1"))
    writer.perform(SetData(path, b"2"))
    reader.settle()
    assert reader.events == [WatchEvent(EventType.CHANGED, path)]


def test_a_deletion_is_reported_once_to_who_watched_data_and_children(ensemble: Ensemble) -> None:
    reader, writer = ensemble.connect(), ensemble.connect()
    path = f"{ensemble.root}/a"
    writer.perform(Create(path))
    reader.perform(GetData(path, watch=True))
    reader.perform(GetChildren(path, watch=True))
    reader.perform(GetChildren(ensemble.root, watch=True))
    writer.perform(Delete(path))
    writer.perform(Create(path))
    reader.settle()
    assert reader.events == [
        WatchEvent(EventType.DELETED, path),
        WatchEvent(EventType.CHILD, ensemble.root),
    ]


def test_a_watch_on_no_node_reports_its_creation(ensemble: Ensemble) -> None:
    reader, writer = ensemble.connect(), ensemble.connect()
    path = f"{ensemble.root}/a"
    assert reader.perform(Exists(path, watch=True)) is None
    writer.perform(Create(path))
    reader.settle()
    assert reader.events == [WatchEvent(EventType.CREATED, path)]


def test_a_refused_read_leaves_no_watch(ensemble: Ensemble) -> None:
    reader, writer = ensemble.connect(), ensemble.connect()
    path = f"{ensemble.root}/a"
    assert isinstance(reader.perform(GetData(path, watch=True)), Failed)
    writer.perform(Create(path))
    writer.perform(SetData(path, b"1"))
    reader.settle()
    assert reader.events == []


def test_ones_own_watch_fires_before_the_answer_of_the_write(ensemble: Ensemble) -> None:
    client = ensemble.connect()
    path = f"{ensemble.root}/a"
    client.submit(Exists(path, watch=True))
    client.submit(Create(path))
    client.submit(GetData(path))
    client.settle()
    answers = client.log[1:]
    assert answers[:3] == [None, WatchEvent(EventType.CREATED, path), path]
    assert answers[3].stat.version == 0


def test_answers_come_in_the_order_of_submission(ensemble: Ensemble) -> None:
    client = ensemble.connect()
    expected = [f"{ensemble.root}/n{index:010d}" for index in range(100)]
    for _ in expected:
        client.submit(Create(f"{ensemble.root}/n", sequential=True))
    client.settle()
    assert client.log[1:] == expected


def test_the_multi_of_a_replaced_controller_is_refused(ensemble: Ensemble) -> None:
    old, new = ensemble.connect(), ensemble.connect()
    epoch, state = f"{ensemble.root}/controller_epoch", f"{ensemble.root}/state"
    old.perform(Create(epoch, b"1"))
    old.perform(Create(state, b"by one"))
    new.perform(SetData(epoch, b"2", version=0))
    guarded = Multi((Check(epoch, 0), SetData(state, b"by one again")))
    assert old.perform(guarded) == refused(ZkError.BAD_VERSION, epoch)
    assert new.perform(GetData(state)).data == b"by one"


def test_closing_removes_ephemeral_nodes_and_tells_others(ensemble: Ensemble) -> None:
    leaver, watcher = ensemble.connect(), ensemble.connect()
    path = f"{ensemble.root}/e"
    leaver.perform(Create(path, ephemeral=True))
    assert watcher.perform(Exists(path, watch=True)).ephemeral_owner == leaver.session_id
    leaver.session.close()
    watcher.run_until(lambda: bool(watcher.events))
    assert watcher.events == [WatchEvent(EventType.DELETED, path)]
