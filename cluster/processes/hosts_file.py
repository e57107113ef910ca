"""Names and addresses that one JVM knows in the place of the system's (jdk.net.hosts.file).

So each of several JVMs can be led by one name to an address of its own. A JVM reads the file again
within half a minute.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from pathlib import Path

from logquake.cluster.processes.ports import LOOPBACK


def hosts_text(addresses: Mapping[str, str]) -> str:
    """``addresses`` by name. This machine's own names are added: a JVM then knows no others."""
    own = f"{LOOPBACK} localhost {socket.gethostname()}\n"
    return own + "".join(f"{address} {name}\n" for name, address in addresses.items())


def hosts_flag(path: Path) -> str:
    return f"-Djdk.net.hosts.file={path}"
