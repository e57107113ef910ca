"""What may be changed about users' SCRAM credentials (ZkAdminManager), pure.

Everything that is asked about one user is done, or nothing of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from logquake.node.authentication.scram import ScramCredential
from logquake.wire.errors import ErrorCode
from logquake.wire.sasl.scram_mechanism import ScramMechanism

NAMELESS = "Username must not be empty"
_UNKNOWN_MECHANISM = "Unknown SCRAM mechanism"
_BY_ID = {mechanism.type_id: mechanism for mechanism in ScramMechanism}

Refusal = tuple[ErrorCode, str]


@dataclass(frozen=True, slots=True, repr=False)
class Upsertion:
    """Never shown: what is in it lets its holder authenticate."""

    user: str
    mechanism_id: int
    iterations: int
    salt: bytes
    salted_password: bytes


@dataclass(frozen=True, slots=True)
class Deletion:
    user: str
    mechanism_id: int


Change = Upsertion | Deletion


def refusals(changes: Sequence[Change]) -> dict[str, Refusal]:
    """By user, what needs no look at what there is."""
    illegal = {}
    # Of a user's faults that of an upsertion is told.
    for change in sorted(changes, key=lambda change: isinstance(change, Upsertion)):
        if refusal := _fault(change):
            illegal[change.user] = refusal
    pairs = Counter((change.user, change.mechanism_id) for change in changes)
    twice = (
        ErrorCode.DUPLICATE_RESOURCE,
        ("A user credential cannot be altered twice in the same request"),
    )
    doubled = {user: twice for (user, _), times in pairs.items() if times > 1}
    return {**doubled, **illegal}


def _fault(change: Change) -> Refusal | None:
    if not change.user:
        return ErrorCode.UNACCEPTABLE_CREDENTIAL, NAMELESS
    mechanism = _BY_ID.get(change.mechanism_id)
    if mechanism is None:
        return ErrorCode.UNSUPPORTED_SASL_MECHANISM, _UNKNOWN_MECHANISM
    if isinstance(change, Deletion):
        return None
    if change.iterations > mechanism.max_iterations:
        return ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too many iterations"
    if change.iterations < mechanism.min_iterations:
        return ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too few iterations"
    return None


def changed(config: Mapping[str, str], changes: Iterable[Change]) -> dict[str, str] | Refusal:
    """A user's configuration, credentials among it, after changes that refusals() let through."""
    after = dict(config)
    for change in changes:
        mechanism = _BY_ID[change.mechanism_id]
        if isinstance(change, Upsertion):
            credential = ScramCredential.of(
                mechanism, change.salted_password, change.salt, change.iterations
            )
            after[mechanism.value] = credential.encode()
        elif mechanism.value in config:
            del after[mechanism.value]
        else:
            missing = "Attempt to delete a user credential that does not exist"
            return ErrorCode.RESOURCE_NOT_FOUND, missing
    return after


def iterations(config: Mapping[str, str]) -> dict[int, int]:
    """By mechanism's number, of the credentials that there are. Raises ValueError."""
    return {
        mechanism.type_id: ScramCredential.decode(config[mechanism.value]).iterations
        for mechanism in ScramMechanism
        if mechanism.value in config
    }
