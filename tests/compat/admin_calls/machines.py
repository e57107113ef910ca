"""As Machines.java: the cluster and its brokers, their directories and features."""

from __future__ import annotations

from functools import partial

from logquake.client import Admin
from logquake.client.admin.cluster import FeatureUpdate, UpgradeType
from logquake.client.admin.log_dirs import TopicPartitionReplica
from logquake.client.admin.topics import NewTopic
from tests.compat.admin_calls.said import Said, all_of, done, text
from tests.compat.admin_calls.topics import SHORT_MS, write_some
from tests.waiting import PATIENCE_S


def make(admin: Admin, servers: str, said: Said) -> None:
    said.of("describe the cluster", lambda: _cluster(admin))
    said.of("client instance id", lambda: admin.client_instance_id().result(PATIENCE_S))
    _directories(admin, servers, said)
    _features(admin, said)
    said.of("describe the quorum", lambda: admin.describe_metadata_quorum().result(PATIENCE_S))
    said.of("unregister a broker", lambda: admin.unregister_broker(7).result(PATIENCE_S))
    said.of("add a voter", lambda: admin.add_raft_voter(1).result(PATIENCE_S))
    said.of("remove a voter", lambda: admin.remove_raft_voter(1).result(PATIENCE_S))


def _cluster(admin: Admin) -> str:
    found = admin.describe_cluster(include_authorized_operations=True).result(PATIENCE_S)
    operations = {each.name for each in found.authorized_operations or ()}
    return (
        f"{len(found.cluster_id or '')} {text(found.controller)} {text(list(found.nodes))} "
        f"{text(operations)}"
    )


def _directories(admin: Admin, servers: str, said: Said) -> None:
    done(admin.create_topics([NewTopic("stored", 2, 1)]))
    write_some(servers, "stored", 5)
    said.of("describe log directories", lambda: _stored(admin))
    said.of(
        "describe log directories of another",
        lambda: done(admin.describe_log_dirs([7], timeout_ms=SHORT_MS)),
    )
    replica = TopicPartitionReplica("stored", 0, 1)
    said.of(
        "describe a replica's directory",
        lambda: all_of(admin.describe_replica_log_dirs([replica]))[replica].current_lag,
    )
    for wrong in ("/nowhere", "relative"):
        moved = admin.alter_replica_log_dirs({replica: wrong})
        said.of(f"move a replica to {wrong}", partial(done, moved))
    unknown = TopicPartitionReplica("unknown", 0, 1)
    said.of(
        "move an unknown replica", lambda: done(admin.alter_replica_log_dirs({unknown: "/nowhere"}))
    )


def _stored(admin: Admin) -> dict[str, str]:
    return {
        str(place): f"ReplicaInfo(size={info.size}, offsetLag={info.offset_lag}, "
        f"isFuture={text(info.is_future)})"
        for each in admin.describe_log_dirs([1])[1].result(PATIENCE_S).values()
        for place, info in each.replica_infos.items()
        if place.topic == "stored"
    }


def _features(admin: Admin, said: Said) -> None:
    said.of("describe features", lambda: _described(admin))
    for validate_only in (True, False):
        updated = admin.update_features({"odd": FeatureUpdate(1)}, validate_only=validate_only)
        said.of(
            f"update an unknown feature {text(validate_only)}",
            partial(done, updated),
        )
    removed = {"odd": FeatureUpdate(0, UpgradeType.SAFE_DOWNGRADE)}
    said.of("remove an unknown feature", lambda: done(admin.update_features(removed)))


def _described(admin: Admin) -> str:
    found = admin.describe_features().result(PATIENCE_S)
    epoch = "<none>" if found.finalized_epoch is None else str(found.finalized_epoch)
    return (
        f"FeatureMetadata{{finalizedFeatures:{text(found.finalized)}, "
        f"finalizedFeaturesEpoch:{epoch}, supportedFeatures:{text(found.supported)}}}"
    )
