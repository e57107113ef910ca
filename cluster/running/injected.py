"""What can be done to one API's requests, or their answers, on the links of a cluster.

``api`` is Kafka's name of it: "Produce". ``source`` asks and ``target`` is asked, ends of links as
linked.py has them; left out, any. What is done is done to the request or, with ``of="response"``,
to its answer; the first ``skip`` requests that fit are let alone, then ``times`` are met, or all,
with the probability ``rate``, drawn from ``seed``. ``versions`` are the first and the last that
fit; ``client_id`` is the one that the asker tells.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from logquake.cluster.errors import ClusterError, WaitTimeoutError
from logquake.cluster.links.control import LinkControl
from logquake.cluster.links.effects import CLIENTS
from logquake.cluster.links.requests.actions import REQUEST, one_action
from logquake.cluster.running.deeds import deed
from logquake.cluster.running.fault import Fault
from logquake.cluster.running.linked import Ends, LinkedCluster, heal_link, link_fault_name
from logquake.cluster.running.waits import DEFAULT_TIMEOUT
from logquake.wire.topic_partition import TopicPartition

if TYPE_CHECKING:
    from logquake.cluster.links.requests.rules import RequestFault


class Injected(Fault):
    """A fault of requests, which can be waited for: a request counts as met when it comes by and is
    acted on, an answer when it comes.
    """

    def __init__(
        self,
        links: LinkControl,
        fault_id: int,
        leader_epochs: Mapping[TopicPartition, int],
        what: str,
    ) -> None:
        undo = partial(heal_link, links, fault_id)
        super().__init__(link_fault_name(fault_id), leader_epochs, undo)
        self._links = links
        self._id = fault_id
        self._what = what

    def __enter__(self) -> Injected:
        return self

    @property
    def hits(self) -> int:
        """How many it has met. ClusterError once it is healed."""
        return self._links.hits(self._id)

    def wait(self, times: int = 1, timeout: float = DEFAULT_TIMEOUT) -> int:
        """Until it has met so many; how many they are. WaitTimeoutError, also if it ends before."""
        try:
            met = self._links.wait_until_met(self._id, times, timeout)
        except TimeoutError:
            raise WaitTimeoutError(
                f"{self._what}: met {self.hits} of {times} after {timeout:g} s"
            ) from None
        if met < times:
            raise WaitTimeoutError(f"{self._what}: ended when it had met {met} of {times}")
        return met


class InjectedCluster(LinkedCluster):
    """Each raises ClusterError in a cluster without links, and where TLS hides requests."""

    @deed
    def inject(
        self,
        api: str,
        *,
        error: str | None = None,
        delay_ms: float | None = None,
        drop: str | None = None,
        close: str | None = None,
        duplicate: bool = False,
        reorder: bool = False,
        hold: bool = False,
        notice: bool = False,
        answered: str | None = None,
        of: str = REQUEST,
        source: Ends | None = None,
        target: Ends | None = None,
        client_id: str | None = None,
        versions: tuple[int, int] | None = None,
        skip: int = 0,
        times: int | None = None,
        rate: float = 1.0,
        seed: int = 0,
        for_s: float | None = None,
        stays: bool = False,
    ) -> Injected:
        """One of these: an ``error`` of Kafka's in place of the answer; a delay; a ``drop`` of the
        "request" or the "response", after which nothing follows that way on its connection; the
        connection reset in its place (``close``); the request twice; overtaken by the connection's
        next of the same API; held until the fault ends; or nothing, and it is told of (``notice``),
        or told of where it is ``answered`` with this error. A delay, a hold and a notice are ``of``
        the "request" or the "response".
        """
        action = one_action(
            error=error,
            delay_ms=delay_ms,
            drop=drop,
            close=close,
            duplicate=duplicate,
            reorder=reorder,
            hold=hold,
            notice=notice,
            answered=answered,
            of=of,
        )
        # Every message of Kafka's comes along, for which whoever breaks no request need not wait.
        from logquake.cluster.links.requests.rules import RequestFault, request_api

        fault = RequestFault(
            request_api(api),
            action,
            sources=self._ends_or_any(source),
            targets=self._ends_or_any(target),
            client_id=client_id,
            versions=versions,
            skip=skip,
            times=times,
            rate=rate,
            seed=seed,
        )
        return self._inject(fault, for_s, stays=stays)

    def hold(
        self,
        api: str,
        *,
        of: str = REQUEST,
        source: Ends | None = None,
        target: Ends | None = None,
        skip: int = 0,
    ) -> Injected:
        """Keep the next where it is until the fault ends, with all behind it on its connection.

        ``with kafka.hold("UpdateMetadata") as held: held.wait()`` goes on at that moment.
        """
        return self.inject(api, hold=True, of=of, source=source, target=target, skip=skip, times=1)

    def notice(
        self,
        api: str,
        *,
        of: str = REQUEST,
        source: Ends | None = None,
        target: Ends | None = None,
        skip: int = 0,
    ) -> Injected:
        """Nothing is done; wait() and hits tell what has come by."""
        return self.inject(api, notice=True, of=of, source=source, target=target, skip=skip)

    def watch(self, file: Path, *, source: Ends = CLIENTS) -> Fault:
        """Every request of theirs and what became of it is a row of ``file``, until it is healed.

        cluster/links/requests/watching.py says what is in it.
        """
        from logquake.cluster.links.requests.watching import Watch

        watch = Watch(str(file.absolute()), self._ends(source))
        watch_id = self._begin(watch, None, stays=False)
        return Fault(link_fault_name(watch_id), {}, partial(heal_link, self.links, watch_id))

    def wait_met(self, fault: Fault, times: int = 1, timeout: float = DEFAULT_TIMEOUT) -> int:
        """Until a fault of requests has met so many; Injected.wait() for who has only its name."""
        if not isinstance(fault, Injected):
            raise ClusterError(f"{fault.member} is no fault of requests: it meets none")
        return fault.wait(times, timeout)

    # Behind it

    def _inject(self, fault: RequestFault, for_s: float | None, *, stays: bool) -> Injected:
        epochs = self.leader_epochs()
        fault_id = self._begin(fault, for_s, stays=stays)
        return Injected(self.links, fault_id, epochs, str(fault))

    def _ends_or_any(self, ends: Ends | None) -> tuple[str, ...]:
        return () if ends is None else self._ends(ends)
