"""What every broker of a cluster tells, each asked by itself."""

from __future__ import annotations

from logquake.client.errors import ClientError
from logquake.client.routing import Router
from logquake.cluster.observing.told import leaders_told
from tests.waiting import wait_for


def wait_until_all_tell(router: Router, topic: str, partitions: int) -> None:
    """Until all that run know the topic with as many partitions, each with a leader."""

    def all_led(told: dict[int, dict[str, list[int]]]) -> bool:
        leaders = [each[topic] for each in told.values()]
        return all(len(each) == partitions and min(each) >= 0 for each in leaders)

    wait_for(
        f"leaders of {topic} told by all",
        lambda: leaders_told(router, [topic]),
        all_led,
        unready=(ClientError,),
    )
