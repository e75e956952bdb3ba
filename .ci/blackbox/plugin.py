"""A pytest plugin that sends what the tests of mcp-cassette 0.4.0 do to another binary.

The tests build cassettes with 0.4.0's Python classes, and they keep doing so. What is replaced is
every door to `lint`, `diff`, `inspect`, `record` and `serve`:

- `cli.main([...])` and `python -m mcp_cassette ...` run the binary instead, also where 0.4.0's
  library hands out the command for a client to start;
- `lint.run`, `run_with_notes`, `diff_cassettes`, `build_pattern_set`, `discover_config`,
  `extract_tool_text` and `EntropyDetector` ask the binary through its command line and turn
  what it prints back into 0.4.0's own result types.

The doors in 0.4.0 are nailed shut at the same time, so a test cannot pass by going round.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import redirected

RESULTS = Path(os.environ["BLACKBOX_RESULTS"])
DESELECTED = set(json.loads(os.environ["BLACKBOX_DESELECTED"]))

# Tests in these files are about which files load; elsewhere loading is only preparation.
LOADING_TESTS = ("test_cassette_schema.py", "test_schema_v3.py")

_results: dict[str, dict[str, str]] = {}
_deselected: list[str] = []


def pytest_configure(config: pytest.Config) -> None:
    """Replaces the doors before any test module is imported."""
    import mcp_cassette
    from mcp_cassette import cli, diffing, lint
    from mcp_cassette.lint import engine, packs, secrets

    for module in (lint, engine):
        module.run = redirected.run
        module.run_with_notes = redirected.run_with_notes
    engine.extract_tool_text = redirected.extract_tool_text
    secrets.EntropyDetector = redirected.EntropyDetector
    for module in (lint, packs):
        module.discover_config = redirected.discover_config
        module.build_pattern_set = redirected.build_pattern_set
    diffing.diff_cassettes = redirected.diff_cassettes
    mcp_cassette.diff_cassettes = redirected.diff_cassettes
    mcp_cassette.lint_cassette = redirected.run

    _redirect_main(cli)
    _redirect_subprocesses()
    _know_bundled_packs()


def _redirect_main(cli: Any) -> None:
    own_main, own_parser = cli.main, cli.build_parser

    def is_usage_error(argv: list[str]) -> bool:
        """Whether 0.4.0 refuses these arguments by raising, not by returning 2."""
        with contextlib.redirect_stderr(io.StringIO()):
            try:
                # The server command is split off before 0.4.0's parser sees the rest.
                own_parser().parse_args(argv[: argv.index("--")] if "--" in argv else argv)
            except SystemExit:
                return True
        return False

    def main(argv: list[str] | None = None) -> int:
        words = list(sys.argv[1:] if argv is None else argv)
        if words[:1] and words[0] in redirected.COMMANDS:
            result = redirected.call(words)
            sys.stdout.write(result.stdout)
            sys.stderr.write(result.stderr)
            if result.returncode == 2 and is_usage_error(words):
                raise SystemExit(2)
            return result.returncode
        return own_main(argv)

    def unreachable(*_: object) -> int:
        raise AssertionError("a redirected command reached 0.4.0's own code")

    cli.main = main
    for command in redirected.COMMANDS:
        setattr(cli, f"_cmd_{command}", unreachable)


def _redirect_subprocesses() -> None:
    start = subprocess.Popen.__init__

    def redirected_start(self: Any, args: Any, *rest: Any, **options: Any) -> None:
        start(self, _redirected_words(args), *rest, **options)

    subprocess.Popen.__init__ = redirected_start  # type: ignore[method-assign]


def _redirected_words(args: Any) -> Any:
    if not isinstance(args, (list, tuple)) or len(args) < 4:
        return args
    if list(args[:3]) == [sys.executable, "-m", "mcp_cassette"] and args[3] in redirected.COMMANDS:
        return [redirected.COMMAND, *args[3:]]
    return args


def _know_bundled_packs() -> None:
    """0.4.0's library resolves a recording's packs before it hands out the command for it.

    The binary's bundled pack has another hash than 0.4.0's, by which 0.4.0 does not know it. Whether
    it is resolvable is for the binary to say, so here a pack recorded as bundled counts as found.
    """
    from mcp_cassette.redaction import replay
    from mcp_cassette.redaction.packs import bundled_packs

    own = replay._from_recorded_path

    def from_recorded_path(pack: Any) -> Any:
        bundled = [known for known in bundled_packs() if known.path == pack.path]
        return bundled[0] if bundled else own(pack)

    replay._from_recorded_path = from_recorded_path


@pytest.fixture(autouse=True)
def _loading_asks_the_binary(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.path.name in LOADING_TESTS:
        from mcp_cassette.cassette import Cassette

        monkeypatch.setattr(Cassette, "load", redirected.loader(Cassette.load))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Takes out the tests that the data file names, and remembers which they were."""
    kept = []
    for item in items:
        if DESELECTED & {item.nodeid, item.nodeid.split("[")[0]}:
            _deselected.append(item.nodeid)
        else:
            kept.append(item)
    items[:] = kept


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Any:
    """A test that passes without having asked the binary anything counts as failed."""
    before = redirected.call_count()
    result = yield
    outcome = _results.get(item.nodeid)
    if outcome and outcome["outcome"] == "passed" and redirected.call_count() == before:
        outcome.update(outcome="failed", detail="passed without ever running the binary")
    return result


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keeps the worst of set-up, call and tear-down; a skipped test is not a passed one."""
    outcome = _results.setdefault(report.nodeid, {"outcome": "passed", "detail": ""})
    if report.outcome != "passed" and outcome["outcome"] == "passed":
        outcome.update(outcome="failed", detail=report.longreprtext or report.outcome)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hands the outcomes to the runner."""
    document = {"results": _results, "deselected": _deselected}
    RESULTS.write_text(json.dumps(document), encoding="utf-8")
