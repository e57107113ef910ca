"""How clients get into a cluster that was launched secure."""

from __future__ import annotations

from logquake.cluster.security.cluster_security import ClusterSecurity


def show_how_to_connect(servers: str, security: ClusterSecurity) -> None:
    """The user's password included: it is printed to be copied, once, by whoever starts it."""
    ours = {"bootstrap.servers": servers, **security.for_java()}
    print("\nlogquake.client: logquake.cluster.api's kafka_config(), or")
    print(f"    {ours!r}")
    print(f"\nJava, as a file for --command-config and its like: {security.java_properties}")
    for line in _assignments(security.for_java()):
        print(f"    {line}")
    print("\nkcat and other clients of librdkafka:")
    options = {"bootstrap.servers": servers, **security.for_librdkafka()}
    print("    kcat " + " ".join(f"-X {line}" for line in _assignments(options)) + " -L")
    print("\nconfluent-kafka: logquake.cluster.api's client_config(), or")
    print(f"    {options!r}")
    print("\nkafka-python:")
    python = {"bootstrap_servers": servers, **security.for_kafka_python()}
    print(
        "    KafkaProducer(" + ", ".join(f"{key}={value!r}" for key, value in python.items()) + ")"
    )


def _assignments(settings: dict[str, str]) -> list[str]:
    return [f"{key}={value}" for key, value in settings.items()]
