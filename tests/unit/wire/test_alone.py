"""A module that is imported without its package leaves that as anybody else expects it."""

from __future__ import annotations

import subprocess
import sys

import pytest

_BEFORE = (
    "import sys; from logquake.wire.records.compiled import DefaultRecordBatchBuilder as ours\n"
)


def _run(program: str) -> None:
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_nothing_else_of_the_package_is_imported() -> None:
    _run(_BEFORE + "assert not {'aiokafka.client', 'aiokafka.util', 'asyncio'} & set(sys.modules)")


@pytest.mark.parametrize(
    "use",
    [
        "import aiokafka; aiokafka.AIOKafkaProducer, aiokafka.__version__",
        "from aiokafka import AIOKafkaConsumer",
        "import aiokafka.client; aiokafka.client.AIOKafkaClient",
        "import aiokafka.record; aiokafka.record.MemoryRecords",
        "from aiokafka.record.default_records import DefaultRecordBatchBuilder; "
        "assert DefaultRecordBatchBuilder is ours",
    ],
)
def test_whoever_uses_the_package_has_all_of_it(use: str) -> None:
    _run(
        f"{_BEFORE}{use}\n"
        "import aiokafka, aiokafka.record\n"
        "assert aiokafka.AIOKafkaClient and aiokafka.record.MemoryRecords\n"
        "assert aiokafka.__path__ and aiokafka.record.__path__\n"
    )


def test_a_package_that_has_run_is_taken_as_it_is() -> None:
    _run(
        "from aiokafka.record.default_records import DefaultRecordBatchBuilder as theirs\n"
        f"import aiokafka\n{_BEFORE}assert ours is theirs and aiokafka.AIOKafkaClient"
    )


def test_a_module_that_is_not_there_leaves_its_package_to_others() -> None:
    _run(
        "from logquake.wire.alone import import_alone\n"
        "try:\n    import_alone('xml.dom.nothing')\n"
        "except ImportError:\n    import xml.dom; xml.dom.Node\n"
        "else:\n    raise SystemExit('it is there')"
    )
