"""``fault error`` and ``fault request``: what is done to requests of one API, or to answers."""

from __future__ import annotations

from typing import Annotated

import typer

from logquake.cluster.cli.faults import report
from logquake.cluster.cli.options import DEFAULT_NAME, DataDir, Name, cluster_of
from logquake.cluster.cli.standing import For, until

Api = Annotated[str, typer.Argument(help="Kafka's name: Produce, Fetch, EndTxn, LeaderAndIsr, ...")]
From = Annotated[
    str | None, typer.Option("--from", help="Who asks: clients, a broker's id. [default: anyone]")
]
To = Annotated[
    str | None, typer.Option("--broker", "--to", help="The broker that is asked. [default: any]")
]
ClientId = Annotated[str | None, typer.Option(help="As the asker tells it. [default: any]")]
Skip = Annotated[int, typer.Option(help="Let so many pass first.")]
Times = Annotated[int | None, typer.Option(help="Then meet so many. [default: all]")]
Rate = Annotated[float, typer.Option(help="Each with this probability.")]
Seed = Annotated[int, typer.Option(help="Draws which, if not all.")]
HALF = "request|response"


def error(
    api: Api,
    code: Annotated[str, typer.Argument(metavar="ERROR", help="NOT_LEADER_OR_FOLLOWER, ...")],
    from_: From = None,
    broker: To = None,
    client_id: ClientId = None,
    skip: Skip = 0,
    times: Times = None,
    rate: Rate = 1.0,
    seed: Seed = 0,
    for_: For = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """Answer requests with an error of Kafka's; the broker does not hear of them."""
    with cluster_of(name, data_dir) as cluster:
        fault = cluster.inject(
            api,
            error=code,
            source=from_,
            target=broker,
            client_id=client_id,
            skip=skip,
            times=times,
            rate=rate,
            seed=seed,
            **until(for_),
        )
        report(fault)


def request(
    api: Api,
    delay_ms: Annotated[float | None, typer.Option(help="Let it arrive later.")] = None,
    drop: Annotated[
        str | None, typer.Option(metavar=HALF, help="Lose it, and what follows.")
    ] = None,
    close: Annotated[str | None, typer.Option(metavar=HALF, help="Reset its connection.")] = None,
    duplicate: Annotated[bool, typer.Option("--duplicate", help="Let it arrive twice.")] = False,
    reorder: Annotated[bool, typer.Option("--reorder", help="Let the next overtake it.")] = False,
    hold: Annotated[
        bool, typer.Option("--hold", help="Keep it until the fault is healed.")
    ] = False,
    of: Annotated[str, typer.Option(metavar=HALF, help="What is delayed or held.")] = "request",
    from_: From = None,
    broker: To = None,
    client_id: ClientId = None,
    skip: Skip = 0,
    times: Times = None,
    rate: Rate = 1.0,
    seed: Seed = 0,
    for_: For = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """Delay, drop, double, overtake or hold requests, or reset their connections."""
    with cluster_of(name, data_dir) as cluster:
        fault = cluster.inject(
            api,
            delay_ms=delay_ms,
            drop=drop,
            close=close,
            duplicate=duplicate,
            reorder=reorder,
            hold=hold,
            of=of,
            source=from_,
            target=broker,
            client_id=client_id,
            skip=skip,
            times=times,
            rate=rate,
            seed=seed,
            **until(for_),
        )
        report(fault)
