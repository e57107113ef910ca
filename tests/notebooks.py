"""A notebook's cells, executed one after the other: ``python -m tests.notebooks FILE``.

With ``--write`` the file keeps what they print and show, as Jupyter would.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

SVG = "image/svg+xml"
TEXT = "text/plain"


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """The names that the cells leave behind; outputs are put into the cells."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for count, cell in enumerate(cells, 1):
        cell["execution_count"] = count
        cell["outputs"] = list(_outputs("".join(cell["source"]), namespace, count))
    return namespace


def _outputs(source: str, namespace: dict[str, Any], count: int) -> Iterator[dict[str, Any]]:
    printed = io.StringIO()
    with redirect_stdout(printed):
        value = _run(source, namespace, count)
    if printed.getvalue():
        yield {"output_type": "stream", "name": "stdout", "text": _lines(printed.getvalue())}
    if value is not None:
        yield {
            "output_type": "execute_result",
            "execution_count": count,
            "metadata": {},
            "data": _shown(value),
        }


def _run(source: str, namespace: dict[str, Any], count: int) -> Any:
    """The value of the last expression, if a cell ends in one."""
    body = ast.parse(source, f"cell {count}").body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), f"cell {count}", "exec"), namespace)
    if last is None or not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), f"cell {count}", "eval"), namespace)


def _shown(value: Any) -> dict[str, list[str]]:
    picture = getattr(value, "_repr_svg_", None)
    if picture is None:
        return {TEXT: _lines(repr(value))}
    return {SVG: _lines(picture()), TEXT: [f"<{type(value).__name__}>"]}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.notebooks", description=__doc__)
    parser.add_argument("notebook", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    notebook = json.loads(options.notebook.read_text())
    executed(notebook)
    if options.write:
        options.notebook.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
