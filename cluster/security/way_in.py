"""A client's way into a cluster that was launched secure."""

from __future__ import annotations

import ssl

from logquake.client.driving.sasl import each_login
from logquake.client.driving.way_in import PLAIN, WayIn
from logquake.cluster.security.cluster_security import MECHANISM, ClusterSecurity
from logquake.wire.sasl.scram_client import ScramLogin

_CLIENT_ID = "logquake"


def way_into(security: ClusterSecurity | None) -> WayIn:
    """Of a cluster that is open to all, plain TCP."""
    if security is None:
        return PLAIN
    login = ScramLogin(MECHANISM, security.user.name, security.user.password)
    return WayIn(
        tls=ssl.create_default_context(cafile=str(security.authority)),
        new_login=each_login(login, _CLIENT_ID),
    )
