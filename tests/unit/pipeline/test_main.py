"""How a job's command ends."""

from __future__ import annotations

import pytest

from logquake.pipeline import __main__ as program
from logquake.pipeline.jobs.lake.ledger import LakeError
from logquake.pipeline.options.values import OptionError


@pytest.mark.parametrize(
    ("ends", "status", "line"),
    [
        (OptionError("no schema"), 2, "no schema"),
        (LakeError("another job writes to it"), 1, "another job writes to it"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_whatever_ends_a_job_is_told_in_a_line(
    ends: BaseException,
    status: int,
    line: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def end(_: object) -> int:
        raise ends

    monkeypatch.setattr(program, "_run", end)
    assert program.main(["lake", "a:1", "/folder", "--topics", "orders"]) == status
    assert capsys.readouterr().err == f"python -m logquake.pipeline lake: {line}\n"
