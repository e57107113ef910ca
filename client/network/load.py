"""The broker for requests that any broker can answer (NetworkClient.leastLoadedNode)."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from logquake.client.network.effects import Node
from logquake.client.network.node_states import NodeStates


def least_loaded(
    nodes: Sequence[Node], states: NodeStates, now_ms: int, max_in_flight: int, random: Random
) -> Node | None:
    """Of the ready brokers, the one with the fewest requests in flight; else one whose connection
    is being made; else, of those not in back-off, the one whose last attempt is oldest. None if all
    are in back-off. Ties are broken at random.
    """
    offset = random.randrange(len(nodes)) if nodes else 0
    in_turn = [*nodes[offset:], *nodes[:offset]]
    ready: list[tuple[int, Node]] = []
    connecting: list[Node] = []
    untried: list[tuple[int, Node]] = []
    for node in in_turn:
        link = states.link(node.id)
        if link is None:
            if states.may_connect(node.id, now_ms):
                untried.append((states.last_attempt_ms(node.id), node))
        elif link.may_send(now_ms, max_in_flight):
            ready.append((len(link.in_flight), node))
        elif link.serving is None:
            connecting.append(node)
    if ready:
        return min(ready, key=lambda each: each[0])[1]
    if connecting:
        return connecting[0]
    return min(untried, key=lambda each: each[0])[1] if untried else None
