"""Installs mcp-cassette 0.4.0 with its tests, runs them against a binary, compares.

See README.md beside this file for usage and for what the lists mean.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import tarfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

from bounded import (  # noqa: E402
    INSTALL_SECONDS,
    Failure,
    plain_environment,
    run_bounded,
    signals_end_the_program,
    virtual_environment,
    work_folder,
)

VERSION = "0.4.0"
ARCHIVE_SHA256 = "48d6ba9e5b74230739bedd458560a723685e082bfda407080d6c8c16a99490e0"
TESTS_SECONDS = 1800
DETAIL_LINES = 30


def main() -> int:
    """Runs everything in a temporary folder; exit 0 when each test behaved as listed."""
    parser = argparse.ArgumentParser(prog="run", description=__doc__)
    parser.add_argument("binary", help=f"executable under test, or {VERSION} for the reference itself")
    options = parser.parse_args()
    signals_end_the_program()
    try:
        with work_folder() as folder:
            return compare(options.binary, folder)
    except Failure as failure:
        print(f"blackbox: {failure}", file=sys.stderr)
        return 2


def compare(binary: str, folder: Path) -> int:
    """Runs the selected tests and prints the table, the surprises and the counts."""
    deselected = listed("deselected.txt")
    # The reference has no deviations of its own, so it must pass everything.
    expected = {} if binary == VERSION else listed("expected-failures.txt")
    outcome = run_tests(binary, folder, sorted(deselected))
    results = outcome["results"]
    failed = {test for test, result in results.items() if result["outcome"] != "passed"}

    surprises = []
    for test in sorted(failed):
        if not matching(test, expected):
            surprises.append((test, results[test]["detail"]))
    for entry in sorted(expected):
        meant = [test for test in results if entry in (test, test.split("[")[0])]
        surprises += [(test, "listed as failing, but passes") for test in meant if test not in failed]
        if not meant:
            surprises.append((entry, "listed as failing, but no such test ran"))
    for entry in sorted(deselected):
        if not any(entry in (test, test.split("[")[0]) for test in outcome["deselected"]):
            surprises.append((entry, "listed as deselected, but no such test exists"))

    print_table(results, failed, expected)
    for test, detail in surprises:
        print(f"\n== {test}")
        print("\n".join(detail.rstrip().splitlines()[-DETAIL_LINES:]))
    wrong = len({test for test, _ in surprises})
    as_listed = len([test for test in failed if matching(test, expected)])
    print(f"\ndeselected: {len(outcome['deselected'])}, failed as listed: {as_listed}")
    print(f"{len(results) - len(failed)} passed, {wrong} failed")
    return 1 if wrong or not results else 0


def print_table(results: dict, failed: set[str], expected: dict[str, str]) -> None:
    """One line a test."""
    for test in sorted(results):
        if test not in failed:
            verdict = "passed"
        elif reason := matching(test, expected):
            verdict = f"failed as listed ({reason})"
        else:
            verdict = "FAILED"
        print(f"{test}: {verdict}")


def matching(test: str, entries: dict[str, str]) -> str | None:
    """The reason listed for a test, by its full id or for all its parameters."""
    return entries.get(test) or entries.get(test.split("[")[0])


def listed(name: str) -> dict[str, str]:
    """The entries of a data file: test id -> reason. Each needs a reason."""
    entries = {}
    for line in lines_of(name):
        test, _, reason = line.partition("  # ")
        if not reason.strip():
            raise Failure(f"{name}: no reason given for {test}")
        entries[test.strip()] = reason.strip()
    return entries


def lines_of(name: str) -> list[str]:
    """The lines of a data file without blank ones and comments."""
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def run_tests(binary: str, folder: Path, deselected: list[str]) -> dict:
    """Runs pytest in the unpacked archive with the plugin; returns what it wrote down."""
    scripts = virtual_environment(folder / "env", "-r", str(HERE / "requirements.txt"))
    archive = unpack_archive(scripts, folder)
    own = scripts / "mcp-cassette"
    reference = own.rename(scripts / "mcp-cassette-reference")
    target = str(reference) if binary == VERSION else str(Path(binary).resolve())
    calls = folder / "calls"
    calls.touch()
    # The tests of the composite action find the command next to the interpreter.
    own.write_text(f'#!/bin/sh\nprintf . >>{shlex.quote(str(calls))}\nexec {shlex.quote(target)} "$@"\n')
    own.chmod(0o755)

    # The action's script leaves folders behind where temporary files go.
    (folder / "tmp").mkdir()
    results = folder / "results.json"
    environment = plain_environment() | {
        "BLACKBOX_COMMAND": str(own),
        "BLACKBOX_CALLS": str(calls),
        "BLACKBOX_RESULTS": str(results),
        "BLACKBOX_DESELECTED": json.dumps(deselected),
        "PYTHONPATH": str(HERE),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUTF8": "1",
        "TMPDIR": str(folder / "tmp"),
    }
    pytest = [scripts / "python", "-m", "pytest", "-q", "-p", "plugin", "-p", "no:cacheprovider"]
    pytest += ["--basetemp", str(folder / "pytest"), *lines_of("selected.txt")]
    finished = run_bounded(pytest, TESTS_SECONDS, cwd=archive, env=environment, check=False)
    # pytest exits 0 or 1 after a whole run; anything else means that it did not get there.
    if finished.returncode not in (0, 1) or not results.is_file():
        text = (finished.stdout + finished.stderr).decode("utf-8", "replace")
        raise Failure(f"pytest exit {finished.returncode}\n{text}")
    return json.loads(results.read_text(encoding="utf-8"))


def unpack_archive(scripts: Path, folder: Path) -> Path:
    """Downloads the source archive, checks that it is the one the lists were made for."""
    hashes = folder / "archive.txt"
    hashes.write_text(f"mcp-cassette=={VERSION} --hash=sha256:{ARCHIVE_SHA256}\n")
    pip = [scripts / "python", "-m", "pip", "--disable-pip-version-check", "download", "--quiet"]
    pip += ["--no-deps", "--no-binary", ":all:", "--require-hashes", "-d", folder, "-r", hashes]
    run_bounded(pip, INSTALL_SECONDS)
    with tarfile.open(folder / f"mcp_cassette-{VERSION}.tar.gz") as tar:
        tar.extractall(folder, filter="data")
    return folder / f"mcp_cassette-{VERSION}"


if __name__ == "__main__":
    sys.exit(main())
