"""Which tests are run for a module: those that name it first, then all of its package."""

from __future__ import annotations

from pathlib import Path
from typing import Final

# Where the tests of a package are, if not in the folder of its last name.
_TESTS_OF: Final = {
    "agents": ("tests/participants",),
    "coding_tools": ("tests/hooks",),
    "pages": ("tests/core", "tests/web"),
    "runner": ("tests/cli", "tests/hooks"),
    "testing": ("tests/engine",),
    "usage": ("tests/usage", "tests/telemetry"),
    "surfaces": ("tests/cli",),
    "surfaces/demo": ("tests/cli",),
    "surfaces/terminal": ("tests/cli",),
    "api/debates": ("tests/debate",),
    "api/decisions": ("tests/decision",),
    "api/guard": ("tests/hooks",),
    "api/hook_setup": ("tests/hooks",),
    "api/page": ("tests/web",),
    "api/parliaments": ("tests/parliament",),
    "api/runs": ("tests/participants",),
    "api/traces": ("tests/trace",),
}

# They start dozens of programs that wait for each other: minutes for every mutant that survives.
LEFT_OUT: Final = ("tests/presence/test_crowd.py", "tests/trace/test_ledger.py::test_twenty")


def find_package(path: Path, source: Path) -> str:
    """The package a module counts for: `core`, `verify`, `protocols/mail`, ..."""
    parts = path.relative_to(source).parts
    depth = 2 if parts[0] in ("protocols", "api", "surfaces") and len(parts) > 2 else 1
    return "/".join(parts[:depth])


def find_test_folders(path: Path, root: Path) -> list[Path]:
    source = root / "src" / "moot"
    package = find_package(path, source)
    names = _TESTS_OF.get(package, (f"tests/{package.split('/')[-1]}",))
    return [root / name for name in names if (root / name).is_dir()]


def find_test_files(path: Path, root: Path) -> list[list[Path]]:
    """Two heaps of test files: those that name the module, and the rest of its package's."""
    module = ".".join(path.relative_to(root / "src").with_suffix("").parts)
    files = sorted(
        test for folder in find_test_folders(path, root) for test in folder.rglob("test_*.py")
    )
    package, name = module.rsplit(".", 1)
    imports = (f"{module} import", f"from {package} import", f"import {module}")
    counts = {test: _count(test.read_text(), imports, name) for test in files}
    near = sorted((test for test in files if counts[test]), key=lambda test: -counts[test])
    return [heap for heap in (near, [test for test in files if not counts[test]]) if heap]


def _count(text: str, imports: tuple[str, ...], name: str) -> int:
    by_module = text.count(imports[0]) * 100
    by_package = sum(text.count(one) for one in imports[1:]) if name in text else 0
    return by_module + by_package
