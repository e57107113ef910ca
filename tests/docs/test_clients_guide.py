"""The tables of docs/clients.md hold what the code has, all of it, in the code's words."""

from __future__ import annotations

import inspect
from pathlib import Path

from logquake.client import aio, errors
from logquake.client.settings.admin import AdminConfig
from logquake.client.settings.common import CommonConfig
from logquake.client.settings.consumer import ConsumerConfig
from logquake.client.settings.producer import ProducerConfig
from logquake.client.settings.security import SecurityConfig
from tests.docs.__main__ import ROOT
from tests.docs.calls import calls
from tests.docs.keys import told
from tests.docs.programs import programs
from tests.docs.tables import rows

GUIDE = Path(ROOT, "docs/clients.md").read_text()
OWN: dict[str, type[CommonConfig]] = {
    "Keys of a producer": ProducerConfig,
    "Keys of a consumer": ConsumerConfig,
    "Keys of an admin client": AdminConfig,
}
OF_WHOM: dict[str, list[type[CommonConfig]]] = {
    "all": [*OWN.values()],
    "a consumer": [ConsumerConfig],
    "an admin client": [AdminConfig],
}


def in_guide(heading: str) -> dict[str, tuple[str, str]]:
    return {key: (default, may_be) for key, default, may_be, _ in rows(GUIDE, heading)}


def test_each_key_is_there_with_its_default_and_what_it_may_be() -> None:
    of_all = in_guide("Keys of every client") | in_guide("Keys of security")
    assert in_guide("Keys of security") == told(SecurityConfig)
    assert of_all == told(CommonConfig)
    for heading, table in OWN.items():
        assert of_all | in_guide(heading) == told(table), heading
        assert not set(in_guide(heading).items()) & set(of_all.items()), heading


def test_each_key_of_kafkas_that_is_not_there_has_its_reason() -> None:
    found: dict[type[CommonConfig], dict[str, tuple[str, str]]] = {
        table: {} for table in OWN.values()
    }
    for names, whose, why, behaves_as in rows(GUIDE, "Keys of Kafka's that are not supported"):
        for table in OF_WHOM[whose]:
            found[table] |= dict.fromkeys(names.split(", "), (why, behaves_as))
    for table, keys in found.items():
        absent = {name: (each.why, each.behaves_as or "") for name, each in table.absent.items()}
        assert keys == absent, table.client


def test_each_call_of_an_admin_client_is_there_with_what_it_takes_and_gives() -> None:
    in_guide = [tuple(cells[:-1]) for cells in rows(GUIDE, "All calls")]
    assert in_guide == [tuple(call) for call in calls()]


def test_each_error_is_there_with_its_base_and_whether_to_try_again() -> None:
    in_guide = {name: (base, again) for name, base, again, *_ in rows(GUIDE, "The tree")}
    assert in_guide == {
        name: (each.__base__.__name__, again(each))
        for name, each in vars(errors).items()
        if inspect.isclass(each)
        and issubclass(each, errors.ClientError)
        and each.__base__ is not None
    }


def again(error: type[errors.ClientError]) -> str:
    if issubclass(error, errors.BrokerError):
        return "by its code"
    return "yes" if error.retriable else "no"


def test_what_is_not_awaited_on_a_loop_is_what_cannot_wait() -> None:
    (said,) = (
        cells[2] for cells in rows(GUIDE, "First programs") if cells[0].startswith("awaited")
    )
    plain = {
        name
        for name, each in vars(aio.Consumer).items()
        if inspect.isfunction(each)
        and not name.startswith("_")
        and not inspect.iscoroutinefunction(each)
    }
    listed = said.removeprefix("the same but for ").removesuffix(", which are not awaited")
    assert set(listed.split(", ")) == plain


def test_a_program_goes_with_what_it_prints_if_that_stands_right_behind_it() -> None:
    document = (
        "a\n```python\nprint(1)\n```\n```text\n1\n```\n```python\nx\n```\nb\n```text\n2\n```\n"
    )
    assert [tuple(each) for each in programs(document)] == [
        (3, "print(1)\n", "1\n"),
        (9, "x\n", ""),
    ]


def test_a_table_is_found_under_its_heading_as_it_reads() -> None:
    document = "# A\n| a | b |\n| --- | --- |\n| `x \\| y` | |\n## B\n| c |\n| --- |\n| z |\n"
    assert rows(document, "A") == [["x | y", ""]]
    assert rows(document, "B") == [["z"]]
