"""Who may clean a partition now (the states of Kafka's LogCleanerManager, as types).

A cleaning that is aborted is not interrupted: it stays in its state until it has noticed. Pauses
count, so that two who hold off the cleaner do not undo each other's.
"""

from __future__ import annotations

from dataclasses import dataclass

from logquake.wire.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True)
class InProgress:
    """A cleaner works on it."""


@dataclass(frozen=True, slots=True)
class Aborted:
    """A cleaner still works on it, for nothing; pauses begin when it has noticed."""

    pauses: int


@dataclass(frozen=True, slots=True)
class Paused:
    """No cleaner may begin before so many resumptions."""

    pauses: int


State = InProgress | Aborted | Paused


class CleaningStates:
    """A partition without a state may be cleaned."""

    def __init__(self) -> None:
        self._states: dict[TopicPartition, State] = {}

    def get(self, key: TopicPartition) -> State | None:
        return self._states.get(key)

    def begin(self, key: TopicPartition) -> None:
        """A cleaner takes the partition. Raises RuntimeError where none may."""
        if key in self._states:
            raise RuntimeError(f"{key} cannot be cleaned: {self._states[key]}")
        self._states[key] = InProgress()

    def is_aborted(self, key: TopicPartition) -> bool:
        return isinstance(self._states.get(key), Aborted)

    def done(self, key: TopicPartition) -> bool:
        """The cleaner lets go of the partition; whether its work counts: nobody aborted it."""
        match self._states.pop(key, None):
            case InProgress():
                return True
            case Aborted(pauses):
                if pauses:
                    self._states[key] = Paused(pauses)
                return False
            case state:
                raise RuntimeError(f"{key} is not being cleaned: {state}")

    def pause(self, key: TopicPartition) -> None:
        """Abort, and let none begin before resume()."""
        match self._states.get(key):
            case None:
                self._states[key] = Paused(1)
            case InProgress():
                self._states[key] = Aborted(1)
            case Aborted(pauses):
                self._states[key] = Aborted(pauses + 1)
            case Paused(pauses):
                self._states[key] = Paused(pauses + 1)

    def resume(self, key: TopicPartition) -> None:
        """Undo one pause(). Raises RuntimeError where there is none."""
        match self._states.get(key):
            case Paused(1):
                del self._states[key]
            case Paused(pauses):
                self._states[key] = Paused(pauses - 1)
            case Aborted(pauses) if pauses:
                self._states[key] = Aborted(pauses - 1)
            case state:
                raise RuntimeError(f"{key} is not paused: {state}")
