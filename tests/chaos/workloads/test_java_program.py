"""What a JVM is told, and that its program is compiled once, by a java that only writes it down."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from logquake.chaos.workloads.java_program import (
    MAIN_CLASS,
    JavaProgram,
    java_program,
)
from logquake.chaos.workloads.kafka_names import kafkas_settings
from logquake.chaos.workloads.plan import Option, Plan
from logquake.cluster.errors import ClusterError
from logquake.cluster.processes.java import Java

COMPILES = """\
echo "$*" >> "{ran}"
while [ $# -gt 0 ]; do
  case "$1" in -d) mkdir -p "$2"; echo "made of $*" > "$2/Workload.class";; esac
  shift
done
"""
IS_NO_JDK = """\
echo "Error: Could not find or load main class com.sun.tools.javac.Main" >&2
exit 1
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "libs").mkdir()
    for jar in ("kafka-clients-3.9.1.jar", "slf4j-api-1.7.36.jar"):
        (tmp_path / "libs" / jar).touch()
    return {
        "JAVA_HOME": str(tmp_path / "jdk"),
        "LOGQUAKE_KAFKA_LIBS": str(tmp_path / "libs"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    return tmp_path / "ran"


def install_java(environment: dict[str, str], script: str) -> None:
    home = Path(environment["JAVA_HOME"])
    (home / "bin").mkdir(parents=True)
    (home / "release").write_text('JAVA_VERSION="17.0.15"\n')
    java = home / "bin" / "java"
    java.write_text(f"#!/bin/sh\n{script}")
    java.chmod(0o755)


def test_it_is_compiled_once_for_its_jars(environment: dict[str, str], ran: Path) -> None:
    install_java(environment, COMPILES.format(ran=ran))
    program = java_program(environment)
    own, *jars = program.jars
    assert own.is_file()
    assert [jar.name for jar in jars] == ["kafka-clients-3.9.1.jar", "slf4j-api-1.7.36.jar"]
    compiled, rehearsed = ran.read_text().splitlines()
    assert "Workload.java" in compiled
    assert str(own) in rehearsed
    assert java_program(environment) == program
    assert len(ran.read_text().splitlines()) == 2
    (Path(environment["LOGQUAKE_KAFKA_LIBS"]) / "kafka-clients-3.9.1.jar").write_text("another")
    assert java_program(environment).jars[0] != own


def test_a_java_that_is_no_jdk_is_told_of_in_one_line(environment: dict[str, str]) -> None:
    install_java(environment, IS_NO_JDK)
    with pytest.raises(ClusterError, match="takes a JDK: Error: Could not find") as raised:
        java_program(environment)
    assert "\n" not in str(raised.value)


def test_without_kafkas_client_it_is_said_where_it_comes_from(environment: dict[str, str]) -> None:
    install_java(environment, IS_NO_JDK)
    with pytest.raises(ClusterError, match="Maven Central"):
        java_program({**environment, "LOGQUAKE_KAFKA_LIBS": ""})


def test_the_jvm_is_told_all_options_and_its_first_row(tmp_path: Path) -> None:
    options: dict[str, Option] = {"client": "java", "rate": 2.5, "take_over": False}
    settings: dict[str, Option] = {"linger.ms": 5, "message.send.max.retries": 0}
    plan = Plan.of("transactional", "b:1,b:2", {**options, **settings})
    program = JavaProgram(Java(tmp_path / "java", 17), (tmp_path / "own.jar",), tmp_path / "none")
    command = program.command(plan, "writer", tmp_path / "writer.jsonl")
    words = command[command.index(MAIN_CLASS) + 1 :]
    assert [word for word in words if word.startswith("-")] == ["-clinger.ms=5", "-cretries=0"]
    said = dict(word.split("=", 1) for word in words if not word.startswith("-"))
    assert json.loads(said.pop("told")) == plan.told("writer")
    assert plan.told("writer")["transactional_id"] == "writer"
    expected = {name: str(value) for name, value in plan.own_options.items()}
    assert said == expected | {
        "kind": "transactional",
        "bootstrap": "b:1,b:2",
        "process": "writer",
        "history": str(tmp_path / "writer.jsonl"),
    }


@pytest.mark.parametrize(
    ("librdkafkas", "kafkas"),
    [
        ({"linger.ms": 5}, {"linger.ms": 5}),
        ({"message.send.max.retries": 0}, {"retries": 0}),
        ({"message.timeout.ms": 9_000}, {"delivery.timeout.ms": 9_000}),
        ({"request.timeout.ms": 2_000}, {"request.timeout.ms": 2_000}),
        (
            {"socket.timeout.ms": 3_000, "request.timeout.ms": 2_000},
            {"request.timeout.ms": 3_000},
        ),
    ],
)
def test_settings_have_the_names_of_kafkas_client(
    librdkafkas: dict[str, Option], kafkas: dict[str, Option]
) -> None:
    assert kafkas_settings(librdkafkas) == kafkas
