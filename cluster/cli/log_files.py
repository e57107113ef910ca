"""``log dump`` and ``log verify``: what the files of a log directory hold, and whether it is sound.

No broker is asked, nothing is changed.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from logquake.cluster.errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from logquake.storage.dump import DumpOptions

UNSOUND = 1
_DECODERS = "string|integer|long|hex"

app = typer.Typer(
    help="Look into the files of a log directory.", no_args_is_help=True, rich_markup_mode=None
)


@app.command()
def dump(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help=".log, .index, .timeindex, .txnindex, .snapshot, a checkpoint, meta.properties "
            "or partition.metadata.",
        ),
    ],
    print_data_log: Annotated[
        bool, typer.Option("--print-data-log", help="Show keys and values; each decoder does too.")
    ] = False,
    deep_iteration: Annotated[
        bool, typer.Option("--deep-iteration", help="Show the records, not only the batches.")
    ] = False,
    skip_record_metadata: Annotated[
        bool, typer.Option("--skip-record-metadata", help="Leave out all but key and value.")
    ] = False,
    index_sanity_check: Annotated[
        bool, typer.Option("--index-sanity-check", help="Check indexes as a starting broker does.")
    ] = False,
    verify_index_only: Annotated[
        bool,
        typer.Option("--verify-index-only", help="Hold indexes against the log only."),
    ] = False,
    key_decoder: Annotated[str | None, typer.Option(metavar=_DECODERS)] = None,
    value_decoder: Annotated[str | None, typer.Option(metavar=_DECODERS)] = None,
    offsets_decoder: Annotated[
        bool, typer.Option("--offsets-decoder", help="They are of __consumer_offsets.")
    ] = False,
    transaction_log_decoder: Annotated[
        bool,
        typer.Option("--transaction-log-decoder", help="They are of __transaction_state."),
    ] = False,
    max_message_size: Annotated[
        int | None, typer.Option(help="Of a batch that an index points at. [default: 5242880]")
    ] = None,
    max_bytes: Annotated[int | None, typer.Option(help="To read of a .log file.")] = None,
) -> None:
    """Show files as text, as Kafka's kafka-dump-log does. Status 1: something is damaged."""
    from logquake.storage.dump.options import DumpOptions, choose_decoder

    try:
        decoder = choose_decoder(
            key_decoder,
            value_decoder,
            offsets=offsets_decoder,
            transaction_log=transaction_log_decoder,
        )
    except ValueError as error:
        raise ClusterError(str(error)) from error
    defaults = DumpOptions()
    options = DumpOptions(
        deep_iteration=deep_iteration,
        print_data_log=print_data_log or decoder is not None,
        skip_record_metadata=skip_record_metadata,
        index_sanity_check=index_sanity_check,
        verify_index_only=verify_index_only,
        max_message_size=max_message_size or defaults.max_message_size,
        max_bytes=max_bytes or defaults.max_bytes,
        decoder=decoder or defaults.decoder,
    )
    if not _dump(files, options):
        raise typer.Exit(UNSOUND)


@app.command()
def verify(
    directories: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="Entries of log.dirs, or folders of partitions."),
    ],
    compacted: Annotated[
        list[str] | None,
        typer.Option(metavar="TOPIC", help="A topic that is compacted: gaps are none; repeatable."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Say whether all that lies there is sound. Status 1: it is not."""
    from logquake.cluster.cli.log_verify import ProgressLine, print_report, print_report_json
    from logquake.storage.disk.read_only_disk import ReadOnlyDisk
    from logquake.storage.verify import Progress, Verification

    line = ProgressLine() if sys.stderr.isatty() else None
    progress = Progress(line.show if line is not None else None)
    verification = Verification(ReadOnlyDisk(), compacted_topics=compacted or (), progress=progress)
    try:
        report = verification.run([str(directory) for directory in directories])
    except OSError as error:
        raise ClusterError(f"{error.filename or directories[0]}: {error.strerror}") from error
    finally:
        if line is not None:
            line.end()
    (print_report_json if as_json else print_report)(report)
    if not report.is_sound:
        raise typer.Exit(UNSOUND)


def _dump(files: list[Path], options: DumpOptions) -> bool:
    """Whether nothing was damaged. Raises ClusterError for what cannot be read."""
    from logquake.storage.disk.read_only_disk import ReadOnlyDisk
    from logquake.storage.dump import Damages, FileDump

    for file in files:
        if not file.exists():
            raise ClusterError(f"{file}: no such file")
        if file.is_dir():
            raise ClusterError(f"{file} is a directory: name its files, or use `log verify`")
    damages = Damages()
    file_dump = FileDump(ReadOnlyDisk(), os.getcwd(), options, damages)
    for file in files:
        _print(file_dump.lines(str(file)), file)
        _complain(damages.take_lines())
    _complain(damages.summary())
    return not damages.found


def _print(lines: Iterable[str], file: Path) -> None:
    try:
        for line in lines:
            print(line)
    except BrokenPipeError:
        # Whoever reads has seen enough; the interpreter must not try to flush the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit from None
    except OSError as error:
        raise ClusterError(f"{error.filename or file}: {error.strerror}") from error


def _complain(lines: Iterable[str]) -> None:
    sys.stdout.flush()
    for line in lines:
        print(line, file=sys.stderr)
