"""Two clients that write no history, under the same faults: their cards differ."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

LOGQUAKE = (sys.executable, "-c", "from logquake.chaos.cli import main; main()")
_RUN_WITHIN_S = 400

IDEMPOTENT = """
import os, signal
from confluent_kafka import Producer
going = []
signal.signal(signal.SIGTERM, lambda *_: going.append("no more"))
producer = Producer({
    "bootstrap.servers": os.environ["BOOTSTRAP_SERVERS"], "client.id": "idempotent",
    "enable.idempotence": True, "log_level": 0,
})
number = 0
while not going:
    producer.produce("orders", value=b"%d" % number)
    producer.poll(0.05)
    number += 1
producer.flush(60)
"""
PLAIN = """
import logging, os, signal, time
from kafka import KafkaProducer
logging.disable(logging.CRITICAL)
going = []
signal.signal(signal.SIGTERM, lambda *_: going.append("no more"))
producer = KafkaProducer(
    bootstrap_servers=os.environ["BOOTSTRAP_SERVERS"], client_id="plain",
    acks="all", retries=1000, enable_idempotence=False,
)
number = 0
while not going:
    producer.send("orders", value=b"%d" % number)
    time.sleep(0.05)
    number += 1
producer.flush(60)
"""
SCENARIO = """
name: two-clients
title: Two clients lose the same answers
setup:
  topics:
  - {{name: orders, replicas: [[1, 2, 3]], config: {{min.insync.replicas: 2}}}}
workloads:
- {{name: idempotent, kind: command, options: {{command: "{python} {folder}/idempotent.py"}}}}
- {{name: plain, kind: command, options: {{command: "{python} {folder}/plain.py"}}}}
steps:
- await: {{rows: {{what: exchanged, key: idempotent, subject: Produce}}, times: 20}}
- await: {{rows: {{what: exchanged, key: plain, subject: Produce}}, times: 20}}
- begin: {{kind: inject, api: Produce, close: response, source: clients, times: 8}}
  as: lost
- await: {{rows: {{what: exchanged, subject: Produce, why: no answer}}, times: 8}}
- await: {{rows: {{what: exchanged, key: plain, subject: Produce}}, times: 20}}
- heal: lost
"""


def logquake_chaos(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*LOGQUAKE, "chaos", *arguments],
        capture_output=True,
        text=True,
        timeout=_RUN_WITHIN_S,
        check=False,
    )


@pytest.mark.slow
def test_who_sends_again_without_idempotence_has_it_on_its_card(tmp_path: Path) -> None:
    for name, program in (("idempotent", IDEMPOTENT), ("plain", PLAIN)):
        (tmp_path / f"{name}.py").write_text(program)
    scenario = tmp_path / "two.yaml"
    scenario.write_text(SCENARIO.format(python=sys.executable, folder=tmp_path))
    run = tmp_path / "run"
    ended = logquake_chaos("run", str(scenario), "--seed", "1", "--report", str(run))
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "longest without success" in ended.stdout

    gate = logquake_chaos("card", str(run), "--limit", "duplicates=0", "-o", "json")
    assert gate.returncode == 1, gate.stdout
    card = json.loads(gate.stdout)
    assert all(complaint.startswith("plain, ") for complaint in card["exceeded"])
    assert card["total"]["plain"]["duplicates"] > 0
    assert card["total"]["idempotent"]["duplicates"] == 0
    (fault,) = card["faults"]
    for client in ("plain", "idempotent"):
        assert fault["clients"][client]["failed"]["no answer"] > 0
        assert fault["clients"][client]["retries"] > 0
    assert logquake_chaos("card", str(run), "--limit", "rebalances=0").returncode == 0
    assert logquake_chaos("card", str(run), "--limit", "beauty=1").returncode == 2
