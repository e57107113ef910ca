"""How the links of a cluster are told what to do: a connection that its faults belong to."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from logquake.cluster.control.client import ControlClient, SupervisorGoneError, connect
from logquake.cluster.errors import ClusterError
from logquake.cluster.links.effects import LinkFault

if TYPE_CHECKING:
    from logquake.cluster.links.requests.rules import RequestFault
    from logquake.cluster.links.requests.watching import Watch

_ANSWER_TIMEOUT_S = 30.0  # they answer in milliseconds unless the machine starves them


class LinkControl:
    """One connection to the links, made when it is first needed; callable from any thread.

    Raises ClusterError.
    """

    def __init__(self, control_socket: Path) -> None:
        self._control_socket = control_socket
        self._connected: ControlClient | None = None
        self._one_at_a_time = threading.Lock()  # answers come in the order of questions

    def begin(
        self,
        fault: LinkFault | RequestFault | Watch,
        *,
        stays: bool = False,
        for_ms: int | None = None,
    ) -> int:
        """Its id. It ends with heal(), after ``for_ms``, or, unless it stays, with close()."""
        held = self._ask("begin", fault=fault.to_json(), stays=stays, for_ms=for_ms)
        return int(held["id"])

    def heal(self, fault_id: int) -> bool:
        """Whether it held."""
        return bool(self._ask("heal", id=fault_id))

    def heal_all(self) -> int:
        """Whoever began them; how many there were."""
        return int(self._ask("heal-all"))

    def held(self) -> list[dict[str, Any]]:
        """Every fault that holds, as board.HeldFault.to_json() tells it."""
        held: list[dict[str, Any]] = self._ask("list")
        return held

    def hits(self, fault_id: int) -> int:
        """How many requests, or answers, a fault of requests has met."""
        return int(self._ask("hits", id=fault_id))

    def wait_until_met(self, fault_id: int, times: int, timeout_s: float) -> int:
        """Until a fault of requests has met so many, or ends; how many it has met by then.

        On a connection of its own, beside whatever else is asked. Raises TimeoutError.
        """
        connected = self._connect()
        try:
            met = connected.ask("await", timeout_s=timeout_s, id=fault_id, times=times)
            return int(met)
        finally:
            connected.close()

    def close(self) -> None:
        connected, self._connected = self._connected, None
        if connected is not None:
            connected.close()

    def _ask(self, verb: str, **arguments: Any) -> Any:
        with self._one_at_a_time:
            if self._connected is None:
                self._connected = self._connect()
            try:
                return self._connected.ask(verb, timeout_s=_ANSWER_TIMEOUT_S, **arguments)
            except (SupervisorGoneError, TimeoutError) as error:
                self.close()
                raise ClusterError("the links do not answer: see logquake status") from error

    def _connect(self) -> ControlClient:
        try:
            return connect(self._control_socket)
        except (SupervisorGoneError, OSError) as error:
            raise ClusterError(
                "no links here: start the cluster with up --links, or Cluster(links=True)"
            ) from error
