"""Makes every test a shape test: core's annotations are checked as the tests run.

Modules named `*compiled` hold numba loops, which cannot be wrapped, and are left out.
"""

import pathlib

import jaxtyping

_CORE = pathlib.Path(__file__).parent.parent / "core"


def _checked_modules() -> list[str]:
    files = [f for f in _CORE.rglob("*.py") if f.stem != "__init__"]
    names = [
        ".".join(("belvedere.core", *f.relative_to(_CORE).with_suffix("").parts))
        for f in files
    ]
    return sorted(name for name in names if not name.endswith("compiled"))


jaxtyping.install_import_hook(_checked_modules(), "beartype.beartype")
