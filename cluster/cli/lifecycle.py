"""``up``, ``status``, ``down``, ``env``."""

from __future__ import annotations

import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from logquake.cluster.cli.options import (
    DEFAULT_NAME,
    DataDir,
    Name,
    Output,
    Settings,
    Wait,
    cluster_of,
    layout_of,
    wants_json,
)
from logquake.cluster.cli.times import seconds
from logquake.cluster.errors import ClusterError

if TYPE_CHECKING:
    from logquake.cluster.layout import Layout
    from logquake.cluster.running.cluster import RunningCluster
    from logquake.cluster.spec import ClusterSpec

INTERRUPTED = 130  # what a shell expects after Ctrl-C


def up(
    brokers: Annotated[int | None, typer.Option("-n", "--brokers", help="[default: 3]")] = None,
    detach: Annotated[
        bool, typer.Option("-d", "--detach", help="Return once it is ready; it runs on.")
    ] = False,
    name: Name = DEFAULT_NAME,
    port: Annotated[
        int | None, typer.Option("-p", "--port", help="Of broker 1. [default: 9092]")
    ] = None,
    any_port: Annotated[bool, typer.Option("--any-port", help="Take free ports.")] = False,
    config: Settings = None,
    data_dir: DataDir = None,
    zookeeper: Annotated[
        str | None, typer.Option(help="HOST:PORT[/CHROOT] of one that runs.")
    ] = None,
    zookeepers: Annotated[
        int | None, typer.Option(help="Servers of an ensemble to be started. [default: 1]")
    ] = None,
    log_dirs: Annotated[
        int | None, typer.Option(help="Directories of a broker's data. [default: 1]")
    ] = None,
    preset: Annotated[
        str | None, typer.Option(help="fast_failover or kafka_defaults. [default: fast_failover]")
    ] = None,
    secure: Annotated[
        bool, typer.Option("--secure", help="TLS and SCRAM; prints how to connect.")
    ] = False,
    control: Annotated[
        bool, typer.Option("--control", help="Faults by HTTP, on loopback: see logquake env.")
    ] = False,
    links: Annotated[
        bool, typer.Option("--links", help="Proxies between all, for `logquake fault`.")
    ] = False,
    faults: Annotated[
        bool, typer.Option("--faults", help="Disks and clocks can be broken; --links has it too.")
    ] = False,
    kafka: Annotated[
        bool, typer.Option("--kafka", help="Apache Kafka's brokers, from $LOGQUAKE_KAFKA_LIBS.")
    ] = False,
    wait: Wait = "60s",
) -> None:
    """Start a cluster, or find that it runs."""
    from logquake.cluster.kafka.libraries import find_libraries
    from logquake.cluster.layout import is_locked, read_json
    from logquake.cluster.spec import DEFAULT_PORT, ClusterSpec, parse_assignments

    timeout_s = seconds(wait)
    layout = layout_of(name, data_dir)
    asked: dict[str, Any] = {"brokers": brokers, "preset": preset, "zookeeper": zookeeper}
    asked["zookeepers"] = zookeepers
    asked["added"] = asked["removed"] = None if brokers is None else ()  # who is in it, said anew
    asked["log_dirs"] = log_dirs
    asked["secure"] = secure or None
    asked["links"] = links or None
    asked["faults"] = faults or None
    asked["control"] = control or None
    asked["kafka"] = str(find_libraries()) if kafka else None
    asked["config"] = parse_assignments(config) if config else None
    changes = {key: value for key, value in asked.items() if value is not None}
    if any_port or port is not None:
        changes["port"] = None if any_port else port
    kept = read_json(layout.spec)
    spec = ClusterSpec.from_json(kept) if kept else ClusterSpec(name=name, port=DEFAULT_PORT)
    if is_locked(layout):
        _find_running(layout, spec, replace(spec, **changes), timeout_s)
    else:
        _start(layout, replace(spec, **changes), detach=detach, timeout_s=timeout_s)


def status(name: Name = DEFAULT_NAME, data_dir: DataDir = None, output: Output = "table") -> None:
    """Show its processes, how each ended, and who leads."""
    from logquake.cluster.cli.status import show_status

    with cluster_of(name, data_dir) as cluster:
        show_status(cluster, as_json=wants_json(output))


def down(
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
    keep_data: Annotated[
        bool, typer.Option("--keep-data", help="A later up goes on from here.")
    ] = False,
) -> None:
    """Stop it and remove its data. Nothing to stop is no error."""
    from logquake.cluster.cli.output import say
    from logquake.cluster.layout import is_locked
    from logquake.cluster.running.cluster import RunningCluster

    layout = layout_of(name, data_dir)
    if is_locked(layout):
        say(f"stopping cluster {name}")
        RunningCluster(layout).shut_down(remove=not keep_data)
    elif layout.spec.exists() and not keep_data:
        say(f"cluster {name} does not run; removing what is left of it")
        layout.remove()
    else:
        say(f"cluster {name} does not run")


def env(name: Name = DEFAULT_NAME, data_dir: DataDir = None) -> None:
    """Print where it is, to be read by a shell: eval $(logquake env)."""

    with cluster_of(name, data_dir) as cluster:
        state, control_port = cluster.state(), cluster.control_port
        print(f"export BOOTSTRAP_SERVERS={state.bootstrap_servers}")
        print(f"export ZOOKEEPER_CONNECT={state.zookeeper}")
        if control_port is not None:
            print(f"export LOGQUAKE_CONTROL_URL={control_port.url}")
            print(f"export LOGQUAKE_CONTROL_TOKEN={control_port.token}")


def _start(layout: Layout, spec: ClusterSpec, *, detach: bool, timeout_s: float) -> None:
    from logquake.cluster.cli.foreground import Foreground
    from logquake.cluster.cli.output import say
    from logquake.cluster.launcher import launch
    from logquake.cluster.running.cluster import RunningCluster

    began = time.monotonic()
    with closing(RunningCluster(layout)) as cluster:
        launched = launch(cluster, spec, attached=not detach)
        with Foreground(launched) as foreground:
            try:
                launched.wait_until_ready(timeout_s, say)
            except ClusterError:
                if foreground.was_asked_to_stop:  # then that it fails is no failure
                    sys.exit(INTERRUPTED)
                raise
            _show_summary(cluster, spec, layout.root)
            say(
                f"ready after {time.monotonic() - began:.1f} s"
                + ("" if detach else "; Ctrl-C stops it")
            )
            if detach:
                launched.leave()
            else:
                launched.wait_until_ended()


def _find_running(
    layout: Layout, running: ClusterSpec, asked: ClusterSpec, timeout_s: float
) -> None:
    from logquake.cluster.cli.output import say
    from logquake.cluster.running.cluster import RunningCluster

    if asked != running:
        raise ClusterError(
            f"cluster {running.name} runs already with other settings "
            f"({len(running.broker_ids)} brokers, preset {running.preset}): "
            "logquake down first, or choose another --name"
        )
    with closing(RunningCluster(layout)) as cluster:
        cluster.wait_ready(timeout_s)
        _show_summary(cluster, running, layout.root)
    say("it runs already")


def _show_summary(cluster: RunningCluster, spec: ClusterSpec, root: Path) -> None:
    from logquake.cluster.spec import PRESETS

    state = cluster.state()
    preset = ", ".join(f"{key}={value}" for key, value in PRESETS[spec.preset].items())
    print(f"bootstrap servers  {state.bootstrap_servers}")
    print(f"ZooKeeper          {state.zookeeper}")
    if spec.kafka is not None:
        print(f"brokers            Apache Kafka's, of {spec.kafka}")
    print(f"preset             {spec.preset}{f' ({preset})' if preset else ''}")
    if cluster.control_port is not None:
        print(f"control port       {cluster.control_port.url} (logquake env has the token)")
    print(f"state              {root}", flush=True)
    if cluster.security is not None:
        from logquake.cluster.cli.connecting import show_how_to_connect

        show_how_to_connect(state.bootstrap_servers, cluster.security)
