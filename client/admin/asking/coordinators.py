"""Looks up the coordinators of groups and transactional ids (CoordinatorStrategy)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from logquake.client.admin.asking.asks import ANYBODY, Ask, Terms
from logquake.client.admin.asking.keyed import Found
from logquake.client.errors import ClientError, UnsupportedVersionError, broker_error
from logquake.client.network.coordinator_lookups import found_in, lookup
from logquake.wire.coordinator_type import CoordinatorType
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse

_PASSES = (ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)


class Coordinators:
    """Looks up all keys at once, or one by one if the broker supports no more."""

    def __init__(self, kind: CoordinatorType) -> None:
        self._kind = kind
        self.takes_several = True

    def groups(self, keys: Iterable[str]) -> Iterable[tuple[Hashable, list[str]]]:
        if self.takes_several:
            return [("coordinators", list(keys))]
        return [(key, [key]) for key in keys]

    def ask(self, keys: list[str]) -> Ask[FindCoordinatorResponse]:
        return Ask(ANYBODY, FindCoordinatorResponse, lambda terms: self._request(keys, terms))

    def _request(self, keys: list[str], terms: Terms) -> FindCoordinatorRequest:
        return lookup(terms.version, self._kind, keys)

    def found(self, keys: list[str], answer: FindCoordinatorResponse) -> Found[str]:
        found: Found[str] = Found()
        for one in found_in(answer, keys[0]):
            code = ErrorCode.of_peer(one.error_code)
            if one.key not in keys:
                continue
            if code is ErrorCode.NONE:
                found.brokers[one.key] = one.node_id
            else:
                why = one.error_message or f"the coordinator of {one.key}"
                kept = found.waits if code in _PASSES else found.failed
                kept[one.key] = broker_error(one.error_code, why)
        return found

    def unsupported(
        self, keys: list[str], error: UnsupportedVersionError
    ) -> dict[str, ClientError]:
        if not self.takes_several:
            return dict.fromkeys(keys, error)
        self.takes_several = False
        return {}
