"""What can be done to the links of a cluster that has them: see links/effects.py.

An end of a link is a broker (2, "broker-2", "leader:orders/0", "controller"), "clients",
"zookeeper" or one of several servers ("zookeeper-1"); several ends are a list or set of them, or
a text with commas. A fault acts on bytes from ``source`` to ``target``, whoever has dialled, with
``both`` on both directions. It ends with its block, with heal(), after ``for_s`` seconds, or with
this process, however that ends; one that ``stays`` outlives the process.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias

from logquake.cluster.errors import ClusterError
from logquake.cluster.links.control import LinkControl
from logquake.cluster.links.effects import (
    CLIENTS,
    Cut,
    Delay,
    DropAfter,
    Effect,
    HalfOpen,
    LinkFault,
    Path,
    Rate,
    Reset,
)
from logquake.cluster.observing.targets import ZOOKEEPER_ROLES
from logquake.cluster.running.deeds import Deeds, deed
from logquake.cluster.running.fault import Fault
from logquake.cluster.running.observed import Target
from logquake.cluster.running.waits import WaitingCluster
from logquake.cluster.state import ZOOKEEPER, is_broker, is_zookeeper

if TYPE_CHECKING:
    from logquake.cluster.links.requests.rules import RequestFault
    from logquake.cluster.links.requests.watching import Watch

Ends: TypeAlias = Target | Iterable[Target]


class LinkedCluster(WaitingCluster):
    """Each raises ClusterError in a cluster without links."""

    deeds: Deeds

    @cached_property
    def links(self) -> LinkControl:
        """The connection that the faults of this object belong to."""
        return LinkControl(self.layout.links_socket)

    @deed
    def partition(self, *groups: Ends, for_s: float | None = None, stays: bool = False) -> Fault:
        """Cut all links between ends of different groups, both ways: partition({1}, {2, 3}).

        ZooKeeper and clients reach all, unless they are in a group.
        """
        sides = [self._ends(group) for group in groups]
        paths = [Path(one, other) for one in sides for other in sides if one is not other]
        if len(sides) < 2:
            raise ClusterError("a partition has two groups or more: partition({1}, {2, 3})")
        return self._break(Cut(), paths, for_s, stays=stays)

    @deed
    def isolate(
        self,
        target: Ends,
        *,
        clients: bool = True,
        for_s: float | None = None,
        stays: bool = False,
    ) -> Fault:
        """Cut it off from all other brokers, ZooKeeper and, unless told otherwise, clients."""
        isolated = self._ends(target)
        brokers = [member.name for member in self.state().brokers]
        others = (*(name for name in brokers if name not in isolated), ZOOKEEPER)
        path = Path(isolated, (*others, CLIENTS) if clients else others)
        return self._break(Cut(), [path, path.reversed()], for_s, stays=stays)

    @deed
    def cut(
        self,
        source: Ends,
        target: Ends,
        *,
        both: bool = False,
        for_s: float | None = None,
        stays: bool = False,
    ) -> Fault:
        """Bytes stay where they are, and new connections get no answer."""
        return self._break(Cut(), self._paths(source, target, both=both), for_s, stays=stays)

    @deed
    def delay(
        self,
        source: Ends,
        target: Ends,
        ms: float,
        *,
        jitter_ms: float = 0,
        both: bool = False,
        for_s: float | None = None,
        stays: bool = False,
    ) -> Fault:
        """Bytes arrive ``ms`` later, give or take up to ``jitter_ms``; their order is kept."""
        paths = self._paths(source, target, both=both)
        return self._break(Delay(ms, jitter_ms), paths, for_s, stays=stays)

    @deed
    def throttle(
        self,
        source: Ends,
        target: Ends,
        bytes_per_s: float,
        *,
        both: bool = False,
        for_s: float | None = None,
        stays: bool = False,
    ) -> Fault:
        """So many bytes a second, each connection by itself."""
        paths = self._paths(source, target, both=both)
        return self._break(Rate(bytes_per_s), paths, for_s, stays=stays)

    @deed
    def reset(
        self, source: Ends, target: Ends, *, for_s: float | None = None, stays: bool = False
    ) -> Fault:
        """Connections between them are reset at both ends; new ones are refused while it lasts."""
        paths = self._paths(source, target, both=False)
        return self._break(Reset(), paths, for_s, stays=stays)

    @deed
    def drop_after(
        self,
        source: Ends,
        target: Ends,
        bytes: int,
        *,
        for_s: float | None = None,
        stays: bool = False,
    ) -> Fault:
        """Each connection is reset once so many bytes have passed, or since it was made."""
        paths = self._paths(source, target, both=False)
        return self._break(DropAfter(bytes), paths, for_s, stays=stays)

    @deed
    def half_open(
        self, source: Ends, target: Ends, *, for_s: float | None = None, stays: bool = False
    ) -> Fault:
        """The target is not told that the source closed a connection, or died."""
        paths = self._paths(source, target, both=False)
        return self._break(HalfOpen(), paths, for_s, stays=stays)

    @deed
    def heal_link(self, fault_id: int) -> bool:
        """Whether a fault with this id held, whoever began it."""
        return self.links.heal(fault_id)

    @deed
    def heal_links(self) -> int:
        """Heal all links, whoever broke them; how many faults there were."""
        return self.links.heal_all()

    @property
    def has_broken_links(self) -> bool:
        """Whether a fault of links holds, as far as this object has to do with links.

        None does where the links have ended: it went with them.
        """
        try:
            return "links" in self.__dict__ and bool(self.link_faults())
        except ClusterError:
            return False

    def link_faults(self) -> list[dict[str, Any]]:
        """Those that hold, whoever began them: id, what, kind, since_ms, until_ms, paths."""
        return self.links.held()

    def close(self) -> None:
        """Let go of it, as ever; its links heal."""
        super().close()
        links: LinkControl | None = self.__dict__.pop("links", None)
        if links is not None:
            links.close()

    # Behind it

    def _break(
        self, effect: Effect, paths: Iterable[Path], for_s: float | None, *, stays: bool
    ) -> Fault:
        epochs = self.leader_epochs()
        fault_id = self._begin(LinkFault(effect, tuple(paths)), for_s, stays=stays)
        return Fault(link_fault_name(fault_id), epochs, partial(heal_link, self.links, fault_id))

    def _begin(
        self, fault: LinkFault | RequestFault | Watch, for_s: float | None, *, stays: bool
    ) -> int:
        """Its id."""
        for_ms = None if for_s is None else round(for_s * 1_000)
        return self.links.begin(fault, stays=stays, for_ms=for_ms)

    def _paths(self, source: Ends, target: Ends, *, both: bool) -> list[Path]:
        path = Path(self._ends(source), self._ends(target))
        return [path, path.reversed()] if both else [path]

    def _ends(self, ends: Ends) -> tuple[str, ...]:
        """The names of links' ends that are meant at this moment."""
        each = str(ends).split(",") if isinstance(ends, int | str) else [str(one) for one in ends]
        return tuple(dict.fromkeys(self._end(one.strip()) for one in each))

    def _end(self, text: str) -> str:
        """Servers of a ZooKeeper that is somebody else's are ends too, and no members."""
        is_name = text == CLIENTS or is_broker(text) or is_zookeeper(text)
        return text if is_name and text not in ZOOKEEPER_ROLES else self.member_name(text)


def link_fault_name(fault_id: int) -> str:
    """What stands in the place of the member that a fault was done to."""
    return f"link fault {fault_id}"


def heal_link(links: LinkControl, fault_id: int) -> None:
    """Also one that is over already."""
    links.heal(fault_id)
