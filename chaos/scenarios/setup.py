"""The cluster of a scenario, its topics, and the programs that use it."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Option = str | int | float | bool


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TopicSetup(_Part):
    """``replicas`` names the brokers of each partition, the first of which leads at the beginning.

    Without it, partitions have ``replication`` replicas wherever the controller puts them.
    """

    name: str
    partitions: int = Field(default=1, ge=1)
    replication: int = Field(default=3, ge=1)
    replicas: tuple[tuple[int, ...], ...] | None = None
    config: dict[str, Option] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.replicas is not None and len(self.replicas) != self.partitions:
            raise ValueError(f"{self.name}: replicas of {len(self.replicas)} partitions are named")
        return self

    @property
    def names(self) -> list[str]:
        """Its partitions as a target names them: ``orders/0``."""
        return [f"{self.name}/{partition}" for partition in range(self.partitions)]


class Setup(_Part):
    """``config`` is any of the brokers' settings. More ``zookeepers`` than one are an ensemble;
    ``watch`` has the links write down what clients ask and are answered. ``planted_bugs`` are what
    brokers do wrong on purpose, by the names of `logquake chaos bugs`. With ``kafka`` the brokers
    are Apache Kafka's, from where LOGQUAKE_KAFKA_LIBS says.
    """

    brokers: int = Field(default=3, ge=1)
    zookeepers: int = Field(default=1, ge=1)
    preset: str = "fast_failover"
    config: dict[str, Option] = Field(default_factory=dict)
    watch: bool = False
    planted_bugs: tuple[str, ...] = ()
    kafka: bool = False
    topics: tuple[TopicSetup, ...] = (
        TopicSetup(name="orders", partitions=6, config={"min.insync.replicas": 2}),
    )

    @property
    def partitions(self) -> list[str]:
        return [name for topic in self.topics for name in topic.names]


COMMAND = "command"  # the kind of a program that is not ours, and its one option


class WorkloadSetup(_Part):
    """A program that uses the cluster, in a process of its own, with the options of its kind."""

    name: str
    kind: str
    options: dict[str, Option] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _says_its_command(self) -> Self:
        if self.kind == COMMAND and set(self.options) != {COMMAND}:
            raise ValueError(f"{self.name}: a program of yours has one option, its command")
        return self

    @property
    def command(self) -> str | None:
        """Of a program of the user's; it writes no history."""
        return str(self.options[COMMAND]) if self.kind == COMMAND else None
