"""rust-rdkafka's own tests, from its crate. They want cargo, a C compiler and make."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.suites.commands import must_succeed, run_to_end
from tests.suites.suite import CACHE, PASSED, Brokers, SuiteError

RELEASE = "0.39.0"
FETCH_S = 300
BUILD_S = 1_800
RUN_S = 900
KAFKA_VERSION = "3.9.1"
MANIFEST = f"""[package]
name = "fetched"
version = "0.0.0"
[lib]
path = "lib.rs"
[dependencies]
rdkafka = "={RELEASE}"
"""
TARGET = re.compile(r"Running (?:unittests )?(?:tests|src)/(\w+)\.rs|Doc-tests (\w+)")
TEST = re.compile(r"test (\S+) .*\.\.\. ?(ok|FAILED|ignored)?")
ENDED = re.compile(r"(ok|FAILED|ignored)$")
OUTCOMES = {"ok": PASSED, "FAILED": "failed", "ignored": "skipped"}


class RustRdkafkaSuite:
    what = "rust-rdkafka's tests, from its crate (cargo builds them first, for minutes)"

    def brokers(self, scratch: Path) -> Brokers:  # noqa: ARG002
        """As its authors' docker-compose.yaml has it; some tests know the port."""
        return Brokers({"num.partitions": 3}, first_port=9092)

    def run(self, servers: str, scratch: Path, only: str | None) -> Mapping[str, str]:
        if shutil.which("cargo") is None:
            raise SuiteError("cargo is not on the path")
        source = _source(scratch)
        must_succeed(["cargo", "test", "--no-run"], timeout_s=BUILD_S, cwd=source)
        _, printed = run_to_end(
            ["cargo", "test", "--no-fail-fast", "--tests", "--", "--test-threads=1", only or ""],
            timeout_s=RUN_S,
            cwd=source,
            env={"KAFKA_HOST": servers, "KAFKA_VERSION": KAFKA_VERSION, "RUST_LOG": "off"},
        )
        return dict(outcomes(printed))


def _source(scratch: Path) -> Path:
    """A copy of the crate, where cargo may build."""
    copy = CACHE / f"rdkafka-{RELEASE}"
    if not copy.exists():
        (scratch / "Cargo.toml").write_text(MANIFEST)
        (scratch / "lib.rs").touch()
        must_succeed(["cargo", "fetch"], timeout_s=FETCH_S, cwd=scratch)
        described = must_succeed(
            ["cargo", "metadata", "--format-version=1", "--offline", "--quiet"],
            timeout_s=FETCH_S,
            cwd=scratch,
        )
        packages = json.loads(described)["packages"]
        manifest = next(one["manifest_path"] for one in packages if one["name"] == "rdkafka")
        shutil.copytree(Path(manifest).parent, copy)
    return copy


def outcomes(printed: str) -> Iterator[tuple[str, str]]:
    """What cargo said of each test; a test's own lines may stand before its verdict."""
    target = test = ""
    for line in printed.splitlines():
        if found := TARGET.search(line):
            target = found[1] or found[2]
        elif found := TEST.match(line):
            test = f"{target}::{found[1]}"
        if test and (ended := ENDED.search(line)):
            yield test, OUTCOMES[ended[1]]
            test = ""
