"""Hold the documents against the code: ``python -m tests.docs``, a part of `make check`.

Prints one line a fault, as a compiler would, and ends with status 1 if there is any. ``--write``
writes the page that is made of the code (`make docs`) instead.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path

from tests.docs.journal import PAGE, journal_faults, page
from tests.docs.maps import unmapped
from tests.docs.names import unknown_names
from tests.docs.rooms import false_arrows
from tests.docs.tree import Tree

ROOT = Path(__file__).parents[2]


def main() -> int:
    gc.disable()  # the parsed files are a million objects, none of them garbage
    tree = Tree(ROOT)
    if "--write" in sys.argv:
        (ROOT / PAGE).write_text(page(tree))
        return 0
    faults = [*unknown_names(tree), *false_arrows(tree), *journal_faults(tree), *unmapped(tree)]
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
