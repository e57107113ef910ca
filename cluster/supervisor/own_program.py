"""Our broker: forked from the supervisor, which has its modules loaded."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Callable, Mapping
from functools import partial

from logquake.cluster.layout import Layout, write_private
from logquake.cluster.processes import broker_program
from logquake.cluster.processes.ports import hold_port
from logquake.cluster.spec import ClusterSpec, format_properties
from logquake.cluster.state import broker_name
from logquake.cluster.supervisor import zygote
from logquake.cluster.supervisor.inlet import Inlet
from logquake.cluster.supervisor.laid_links import LaidLinks
from logquake.cluster.supervisor.member import Child


class OwnProgram:
    """As a BrokerProgram. ``inlets`` gets the way into each broker whose inside can be broken."""

    def __init__(self, layout: Layout, spec: ClusterSpec, inlets: dict[str, Inlet]) -> None:
        self._inlets = inlets
        self._layout = layout
        self._spec = spec

    def hold_port(self, port: int | None) -> socket.socket:
        return hold_port(port)

    def load(self) -> None:
        zygote.preload(broker_program.MODULE)

    def links_to(self, zookeeper: str) -> LaidLinks:
        return LaidLinks(zookeeper, secure=self._spec.secure)

    def settle(self, broker_id: int, properties: Mapping[str, str]) -> Callable[[], Child]:
        path = self._layout.properties_of(broker_id)
        write_private(path, format_properties(properties))  # some hold passwords
        broker_program.check_settings(path)
        name = broker_name(broker_id)
        log = self._layout.log_of(name)
        events = self._layout.events / f"{name}.jsonl"
        run = partial(broker_program.run_broker, path, events)
        unsynced = self._layout.unsynced_of(broker_id)
        if not self._spec.has_faults:
            shutil.rmtree(unsynced, ignore_errors=True)  # nobody goes on with it
            return lambda: zygote.fork(run, log)
        inlet = self._inlets[name] = Inlet(unsynced)
        return lambda: inlet.launch(run, log)
