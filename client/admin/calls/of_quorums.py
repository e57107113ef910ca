"""Calls that only KRaft clusters support, and no broker that uses ZooKeeper.

Kafka's client learns from ApiVersions that no broker supports the request. Here the result is the
same without asking: this client does not implement these requests.
"""

from __future__ import annotations

from logquake.client.admin.calls.calling import Calling
from logquake.client.errors import UnsupportedVersionError
from logquake.client.pending import Promise


class QuorumCalls(Calling):
    """Each fails with UnsupportedVersionError."""

    def describe_metadata_quorum(self) -> Promise[None]:
        return self._nobody_answers("DescribeQuorum")

    def unregister_broker(self, broker_id: int) -> Promise[None]:
        return self._nobody_answers(f"UnregisterBroker of {broker_id}")

    def list_client_metrics_resources(self) -> Promise[None]:
        return self._nobody_answers("ListClientMetricsResources")

    def add_raft_voter(self, voter_id: int) -> Promise[None]:
        return self._nobody_answers(f"AddRaftVoter of {voter_id}")

    def remove_raft_voter(self, voter_id: int) -> Promise[None]:
        return self._nobody_answers(f"RemoveRaftVoter of {voter_id}")

    def client_instance_id(self) -> Promise[None]:
        return self._nobody_answers("GetTelemetrySubscriptions")

    def _nobody_answers(self, request: str) -> Promise[None]:
        promise: Promise[None] = self._promise()
        why = f"{request} is answered in clusters of KRaft's, not beside ZooKeeper"
        promise.settle(UnsupportedVersionError(why))
        return promise
