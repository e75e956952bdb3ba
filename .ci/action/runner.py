"""Tests the Action, the hooks and the workflows with a binary, without GitHub.

See README.md beside this file.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE)]

import checks  # noqa: E402
import hooks  # noqa: E402
import workflows  # noqa: E402
from bench import Bench, Case  # noqa: E402
from bounded import (  # noqa: E402
    INSTALL_SECONDS,
    Failure,
    run_bounded,
    signals_end_the_program,
    virtual_environment,
    work_folder,
)


def main() -> int:
    """Exit 0 when every case went as it should, 1 when one did not, 2 when none could run."""
    parser = argparse.ArgumentParser(prog="run", description=__doc__)
    parser.add_argument("binary", type=Path, help="the mcp-cassette under test")
    parser.add_argument("--only", default="", help="only cases whose name has this in it")
    parser.add_argument("--full", action="store_true", help="also the case that builds with cargo, as pre-commit does")
    options = parser.parse_args()
    signals_end_the_program()
    try:
        with work_folder() as folder:
            bench = prepare(options.binary.resolve(strict=True), folder)
            cases = [*checks.CASES, *hooks.CASES, *workflows.CASES, *(hooks.LONG_CASES if options.full else [])]
            return report(bench, [case for case in cases if options.only in case.name])
    except (Failure, OSError) as failure:
        print(f"action: {failure}", file=sys.stderr)
        return 2


def prepare(binary: Path, folder: Path) -> Bench:
    """Installs the tools and puts the binary where it is found by its name."""
    for needed in ("git", "node"):
        if shutil.which(needed) is None:
            raise Failure(f"{needed} not found")
    tools = virtual_environment(folder / "tools", "--requirement", str(HERE / "requirements.txt"))
    on_path = folder / "bin"
    on_path.mkdir()
    shutil.copy(binary, on_path / "mcp-cassette")
    run_bounded([on_path / "mcp-cassette", "--version"], INSTALL_SECONDS)
    return Bench(root=HERE.parent.parent, binary=on_path / "mcp-cassette", tools=tools, folder=folder)


def report(bench: Bench, cases: list[Case]) -> int:
    """Runs the cases, each in a folder of its own; prints a line for each and the counts."""
    failed = 0
    for number, case in enumerate(cases):
        begun = time.monotonic()
        try:
            case.run(bench.fresh(str(number)))
            outcome = "ok"
        except Failure as failure:
            outcome = f"FAILED\n{failure}"
        except Exception:  # noqa: BLE001 - the other cases still tell something
            outcome = f"FAILED\n{traceback.format_exc()}"
        failed += outcome != "ok"
        print(f"{case.name} ({time.monotonic() - begun:.1f} s): {outcome}", flush=True)
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
