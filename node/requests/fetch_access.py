"""What the asker of a Fetch may read: as a follower everything or nothing, else topic by topic."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import NamedTuple

from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.requests.request import Request
from logquake.wire.acls import AclOperation, ResourceType
from logquake.wire.principals import KafkaPrincipal


class _Asker(NamedTuple):
    """Of the request what outlives it: a session keeps it."""

    principal: KafkaPrincipal
    client_host: str


@dataclass(frozen=True, slots=True)
class _Access:
    """A FetchAccess. ``standing`` says when decisions have changed, or whose they are."""

    standing: Hashable
    from_follower: bool
    authorizer: Authorizer = field(compare=False)
    asker: _Asker = field(compare=False)

    def refuses(self, topic: str | None) -> bool:
        if self.from_follower:
            return not self.authorizer.allows_on_cluster(self.asker, AclOperation.CLUSTER_ACTION)
        return topic is not None and not self.authorizer.allows(
            self.asker, AclOperation.READ, ResourceType.TOPIC, topic
        )


def fetch_access(
    authorizer: Authorizer, request: Request, *, from_follower: bool
) -> _Access | None:
    """None where there is no authorizer."""
    standing = authorizer.standing(request)
    if standing is None:
        return None
    asker = _Asker(request.principal, request.client_host)
    return _Access(standing, from_follower, authorizer, asker)
