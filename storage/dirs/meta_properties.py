"""meta.properties: whose log directory this is (version 0, as brokers on ZooKeeper write it)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from logquake.storage.disk.seam import Disk
from logquake.storage.errors import LogDirError
from logquake.storage.file_names import join

FILE_NAME = "meta.properties"


@dataclass(frozen=True, slots=True)
class MetaProperties:
    """None stands for a key that the file lacks.

    directory_id is written by a Kafka that migrates to KRaft; it is kept where it is found.
    """

    broker_id: int | None
    cluster_id: str | None
    directory_id: str | None = None


def read_meta_properties(disk: Disk, log_dir: str) -> MetaProperties | None:
    """The file's content, None without the file. Raises LogDirError for what is no such file."""
    path = join(log_dir, FILE_NAME)
    try:
        text = disk.read(path).decode("latin-1")
    except FileNotFoundError:
        return None
    lines = [line.strip() for line in text.splitlines()]
    pairs = (line.partition("=") for line in lines if line and line[0] not in "#!")
    fields = {key.strip(): value.strip() for key, _, value in pairs}
    if fields.get("version", "0") != "0":
        raise LogDirError(
            f"{path} has version {fields['version']}; brokers on ZooKeeper support version 0 only"
        )
    return MetaProperties(
        _broker_id(fields.get("broker.id"), path),
        fields.get("cluster.id"),
        fields.get("directory.id"),
    )


def write_meta_properties(
    disk: Disk, log_dir: str, properties: MetaProperties, now_ms: int
) -> None:
    date = datetime.fromtimestamp(now_ms / 1000, UTC)
    lines = ["#", f"#{date:%a %b %d %H:%M:%S} UTC {date:%Y}"]
    if properties.directory_id is not None:
        lines.append(f"directory.id={properties.directory_id}")
    lines += [f"broker.id={properties.broker_id}", "version=0"]
    lines += [f"cluster.id={properties.cluster_id}", ""]
    disk.replace(join(log_dir, FILE_NAME), "\n".join(lines).encode())


def claim(disk: Disk, log_dir: str, owner: MetaProperties, now_ms: int) -> MetaProperties:
    """Make sure that owner may use the directory; what meta.properties then says.

    It is written where there is none, or where it names no owner. Raises LogDirError when another
    broker's or another cluster's data lies there.
    """
    found = read_meta_properties(disk, log_dir) or MetaProperties(None, None)
    _check(found, owner, log_dir)
    claimed = replace(owner, directory_id=found.directory_id)
    if found != claimed:
        write_meta_properties(disk, log_dir, claimed, now_ms)
    return claimed


def _check(found: MetaProperties, owner: MetaProperties, log_dir: str) -> None:
    path = join(log_dir, FILE_NAME)
    if found.cluster_id not in (None, owner.cluster_id):
        raise LogDirError(
            f"{path} belongs to cluster {found.cluster_id}, this is cluster {owner.cluster_id}: "
            "point zookeeper.connect at the right ZooKeeper, or use an empty log.dirs"
        )
    if found.broker_id not in (None, owner.broker_id):
        raise LogDirError(
            f"{path} belongs to broker {found.broker_id}, broker.id is {owner.broker_id}: "
            "set broker.id to match if the data was moved, or use an empty log.dirs"
        )


def _broker_id(text: str | None, path: str) -> int | None:
    if text is None:
        return None
    try:
        return int(text)
    except ValueError as error:
        raise LogDirError(f"{path} has broker.id={text}, which is no number") from error
