"""Runs official clients against real servers: direct, through `record`, and from `serve`.

What a client saw has to be the same each time. See README.md beside this file.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import shutil
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

from bounded import (  # noqa: E402
    INSTALL_SECONDS,
    Failure,
    run_bounded,
    signals_end_the_program,
    virtual_environment,
    work_folder,
)
from http_pairs import Crowd, compare_http, compare_old_http, planned_pair, refuse_http  # noqa: E402
from pairs import Installed, Pair, compare, compare_old, refuse  # noqa: E402

WORKERS = 2
SCRIPTS = ("scenario.mjs", "typescript1.mjs", "typescript2.mjs", "handler.mjs")


@dataclass(frozen=True)
class Job:
    """One line of the result; a pair that cannot work has one too, but is not counted as a pair."""

    title: str
    run: Callable[[], str]
    is_pair: bool = True


def main() -> int:
    """Exit 0 when every pair behaved, 1 when one did not, 2 when nothing could be run."""
    parser = argparse.ArgumentParser(prog="run", description=__doc__)
    parser.add_argument("binary", type=Path, help="mcp-cassette, the executable under test")
    parser.add_argument("--full", action="store_true", help="every pair, not the quick selection")
    parser.add_argument("--over", choices=("stdio", "http"), help="only pairs over this transport")
    parser.add_argument("--only", default="", metavar="TEXT", help="pairs whose title has this in it")
    parser.add_argument("--direct", action="store_true", help="only whether the pairs are steady without us")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="work here and leave everything")
    parser.add_argument("--examples", type=Path, required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    signals_end_the_program()
    try:
        if options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
            return run_all(options, options.keep.resolve())
        with work_folder() as folder:
            return run_all(options, folder)
    except (Failure, OSError) as failure:
        print(f"clients: {failure}", file=sys.stderr)
        return 2


def run_all(options: argparse.Namespace, folder: Path) -> int:
    """Runs the jobs two at a time and prints each as it ends."""
    matrix = tomllib.loads((HERE / "matrix.toml").read_text(encoding="utf-8"))
    installed = install(options, folder)
    jobs = planned(matrix, installed, options) if options.over != "http" else []
    if options.over != "stdio":
        http = tomllib.loads((HERE / "http.toml").read_text(encoding="utf-8"))
        jobs += planned_http(matrix, http, installed, options)
    jobs = [job for job in jobs if options.only in job.title]
    if not jobs:
        raise Failure(f"no pair has {options.only!r} in its title")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        running = {pool.submit(job.run): job for job in jobs}
        for ended in concurrent.futures.as_completed(running):
            title = running[ended].title
            try:
                print(f"{title}: {ended.result()}", flush=True)
            except Failure as failure:
                failed += 1
                print(f"{title}: FAILED\n{failure}\n", flush=True)
    pairs = sum(job.is_pair for job in jobs)
    if pairs < len(jobs):
        print(f"{len(jobs) - pairs} more cannot work, with or without us")
    print(f"clients: {pairs} pairs, {failed} failed")
    return 1 if failed else 0


def install(options: argparse.Namespace, folder: Path) -> Installed:
    """The clients and the servers, each in a folder of its own."""
    if shutil.which("npm") is None:
        raise Failure("npm not found; the clients and servers from npm need Node.js 20 or newer")
    npm = folder / "npm"
    if not npm.exists():
        npm.mkdir()
        for name in ("package.json", *SCRIPTS):
            shutil.copy(HERE / name, npm)
        words = ["npm", "install", "--no-audit", "--no-fund", "--no-update-notifier", "--ignore-scripts"]
        run_bounded(words, INSTALL_SECONDS, cwd=npm)
    for name in SCRIPTS:
        shutil.copy(HERE / name, npm)
    commands = {"npm": npm / "node_modules" / ".bin", "cargo": options.examples.resolve()}
    for name in ("python1", "python2"):
        if not (folder / name).exists():
            virtual_environment(folder / name, "-r", str(HERE / f"requirements-{name}.txt"))
        commands[name] = folder / name / "bin"
    binary = options.binary.resolve()
    if not os.access(binary, os.X_OK):
        raise Failure(f"{binary} is not an executable file")
    return Installed(binary, commands, npm, folder)


def planned(matrix: dict[str, Any], installed: Installed, options: argparse.Namespace) -> list[Job]:
    """Every pair, or those of the quick form, and the recordings made by 0.4.0."""
    jobs: list[Job] = []
    for client in matrix["client"]:
        for server in matrix["server"]:
            if not options.full and server["name"] not in client["quick"]:
                continue
            pair = Pair(client, server, installed)
            if client["name"].endswith("-pinned") and server["eras"] == ["legacy"]:
                jobs.append(Job(f"{pair.title} (refused)", lambda pair=pair: refuse(pair), is_pair=False))
            else:
                jobs.append(Job(pair.title, lambda pair=pair: compare(pair, direct_only=options.direct)))
    clients = {client["name"]: client for client in matrix["client"]}
    servers = {server["name"]: server for server in matrix["server"]}
    for old in [] if options.direct else matrix["old_recording"]:
        if options.full or old["quick"]:
            server = servers[old["server"]]
            pair = Pair(clients[old["client"]], server, installed, suffix=old["name"], skip=old.get("skip", []))
            flags = old["flags"]
            jobs.append(Job(pair.title, lambda pair=pair, flags=flags: compare_old(pair, flags)))
    return jobs


def planned_http(
    matrix: dict[str, Any], http: dict[str, Any], installed: Installed, options: argparse.Namespace
) -> list[Job]:
    """The pairs over HTTP, the clients that come at once, and the recordings made by 0.4.0."""
    clients = {client["name"]: client for client in matrix["client"]}
    scripted = {server["name"]: server for server in matrix["server"]}
    servers = {server["name"]: server for server in http["server"]}
    jobs: list[Job] = []

    def crowd(names: list[str], server: str, suffixes: list[str], skip: list[str]) -> Crowd:
        pairs = [
            planned_pair(clients[name], servers[server], scripted, installed, suffix=suffix, skip=skip)
            for name, suffix in zip(names, suffixes, strict=True)
        ]
        return Crowd(pairs)

    for name in http["quick"]:
        for server in servers:
            if not options.full and server not in http["quick"][name]:
                continue
            one = crowd([name], server, ["over HTTP"], [])
            if name.endswith("-pinned") and one.first.server["eras"] == ["legacy"]:
                title = f"{one.first.title} (refused)"
                jobs.append(Job(title, lambda one=one: refuse_http(one.first), is_pair=False))
            else:
                jobs.append(Job(one.first.title, lambda one=one: compare_http(one, direct_only=options.direct)))
    for row in http["crowd"]:
        if options.full or row["quick"]:
            numbers = [f"at once {number}" for number in range(1, len(row["clients"]) + 1)]
            many = crowd(row["clients"], row["server"], numbers, [])
            title = f"{len(many.pairs)} at once {row['server']} over HTTP"
            jobs.append(Job(title, lambda many=many: compare_http(many, direct_only=options.direct)))
    for old in [] if options.direct else http["old_recording"]:
        if options.full or old["quick"]:
            one = crowd([old["client"]], old["server"], [f"over HTTP {old['name']}"], old.get("skip", []))
            flags = old["flags"]
            jobs.append(Job(one.first.title, lambda one=one, flags=flags: compare_old_http(one, flags)))
    return jobs


if __name__ == "__main__":
    sys.exit(main())
