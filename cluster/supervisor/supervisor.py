"""The life of a supervisor: start the fleet, serve until somebody ends it, leave nothing behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from logquake.cluster.control.server import ControlConnection, ControlServer
from logquake.cluster.errors import ClusterError
from logquake.cluster.layout import Layout
from logquake.cluster.supervisor.commands import Commands
from logquake.cluster.supervisor.fleet import Fleet
from logquake.cluster.supervisor.membership import Membership
from logquake.cluster.supervisor.rewiring import Rewiring
from logquake.cluster.supervisor.signals import SignalWatch
from logquake.cluster.supervisor.standing_orders import StandingOrders
from logquake.cluster.supervisor.starts import Starts
from logquake.node.net.loop import EventLoop

PREPARE_AFTER_MS = 1_000  # the first requests of a new cluster come first
STOP_GRACE_MS = 10_000  # for all brokers together; then they are killed


@dataclass(slots=True)
class _Shutdown:
    """An end under way: whether the state directory goes as well, and who wants to be told."""

    remove: bool = False
    done: list[Callable[[], None]] = field(default_factory=list)


class Supervisor:
    """``launcher`` is told how the start went; when ``attached``, its end is the cluster's end.

    ``temporary`` removes the state directory at the end, and so has no use for a gentle one.
    """

    def __init__(
        self,
        layout: Layout,
        fleet: Fleet,
        launcher: ControlConnection,
        *,
        attached: bool,
        temporary: bool,
    ) -> None:
        self._layout = layout
        self._fleet = fleet
        self._launcher = launcher
        self._attached = attached
        self._temporary = temporary
        self._signals = SignalWatch()
        self._loop = EventLoop()
        self._shutdown: _Shutdown | None = None
        self._is_state_lost = False
        fleet.on_state_lost = self._on_state_lost

    def run(self) -> None:
        """Return when the cluster has ended.

        Raises ClusterError, StopRequested from its start; ClusterError when its directory vanished.
        """
        try:
            self._fleet.start()
            self._serve()
        finally:
            self._fleet.kill_all()
            shutdown = self._shutdown or _Shutdown()
            if shutdown.remove or self._temporary:
                self._layout.remove()
            else:
                self._layout.remove_addresses()
        if self._is_state_lost:
            raise ClusterError(f"{self._layout.root} was removed: the cluster in it has ended")
        for done in shutdown.done:
            done()

    def _serve(self) -> None:
        starts = Starts(self._loop)
        for broker in self._fleet.brokers:
            starts.follow(broker)
        orders = StandingOrders(self._fleet.making.inlets, self._loop)
        membership = Membership(self._fleet, orders, Rewiring(self._fleet, self._loop))
        commands = Commands(self._fleet, self.shut_down, self._detach, starts, orders, membership)
        ControlServer(
            self._layout.control_socket, self._loop, commands.handle, on_gone=orders.drop_owner
        )
        self._launcher.serve(self._loop, commands.handle, self._on_launcher_gone)
        self._signals.deliver(self._loop, on_stop=self._on_signal, on_child=self._fleet.reap)
        self._fleet.reap()
        self._launcher.answer(self._fleet.state().to_json())
        self._loop.call_later(PREPARE_AFTER_MS, self._fleet.prepare_next_start)
        self._loop.run()

    def shut_down(
        self,
        *,
        remove: bool = False,
        at_once: bool = False,
        done: Callable[[], None] = lambda: None,
    ) -> None:
        """Let brokers end in their own way, then the rest. Asked again, the wishes add up."""
        first = self._shutdown is None
        shutdown = self._shutdown = self._shutdown or _Shutdown()
        shutdown.remove |= remove
        shutdown.done.append(done)
        if at_once or self._temporary:
            self._loop.stop()
        elif first:
            self._loop.call_later(STOP_GRACE_MS, self._loop.stop)
            self._fleet.stop_brokers(then=self._loop.stop)

    def _on_state_lost(self) -> None:
        """Nobody can find this cluster any more, and its data is gone: end it at once."""
        if not self._is_state_lost:
            self._is_state_lost = True
            self._loop.call_soon(self._loop.stop)

    def _detach(self) -> None:
        """The launcher may go; whoever ends the cluster then says whether its data goes too."""
        self._attached = self._temporary = False

    def _on_launcher_gone(self) -> None:
        if self._attached:
            self.shut_down()

    def _on_signal(self) -> None:
        self.shut_down(at_once=self._shutdown is not None)
