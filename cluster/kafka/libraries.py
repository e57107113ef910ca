"""Where Apache Kafka's jars are: in a folder, or in a distribution's folder ``libs``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from logquake.cluster.errors import ClusterError

VARIABLE = "LOGQUAKE_KAFKA_LIBS"
_SERVER = "kafka_2.*-3.*.jar"  # Kafka 4 has no ZooKeeper mode
CLIENTS = "kafka-clients-*.jar"


def find_libraries(
    folder: str | Path | None = None,
    environment: Mapping[str, str] = os.environ,
    jar: str = _SERVER,
) -> Path:
    """The folder of the jars, this one among them; without ``folder`` the variable names it.

    Raises ClusterError.
    """
    named = folder or environment.get(VARIABLE)
    if not named:
        raise ClusterError(f"where is Apache Kafka? {_how_to_have_it()}")
    for place in (Path(named), Path(named) / "libs"):
        if any(place.glob(jar)):
            return place.absolute()
    raise ClusterError(f"no Apache Kafka 3 in {named}: {_how_to_have_it()}")


def _how_to_have_it() -> str:
    return (
        f"set {VARIABLE} to an unpacked distribution of 3.9, or to a folder with Maven Central's "
        "org.apache.kafka:kafka_2.13:3.9.1 and org.slf4j:slf4j-reload4j and all that they need"
    )
