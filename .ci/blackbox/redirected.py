"""The doors of 0.4.0's `lint` and `diff` packages, answered by the binary under test.

Nothing here decides anything about a cassette: arguments become flags, and what the binary
prints becomes 0.4.0's result types. A refusal (exit 2) becomes the exception 0.4.0 raises,
with the binary's stderr as its text.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from mcp_cassette.cassette import FORMAT_VERSION, Cassette, UnsupportedFormatVersion
from mcp_cassette.diffing import CassetteDiff
from mcp_cassette.lint import packs as own_packs
from mcp_cassette.lint.rules import LintReport

COMMANDS = ("lint", "diff", "inspect", "record", "serve")
COMMAND = os.environ["BLACKBOX_COMMAND"]
CALLS = Path(os.environ["BLACKBOX_CALLS"])
SECONDS = 60

ProjectLintConfig = own_packs.ProjectLintConfig
EntropyConfig = own_packs.EntropyConfig
_own_build_pattern_set = own_packs.build_pattern_set


def call(words: list[str]) -> subprocess.CompletedProcess[str]:
    """Runs the binary here; output that is not UTF-8 is an error of the test."""
    return subprocess.run(
        [COMMAND, *map(str, words)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS,
    )


def call_count() -> int:
    """How often the binary ran until now; the command writes one byte each time."""
    return CALLS.stat().st_size


def run_with_notes(
    cassette: Any,
    baseline: Any = None,
    rules: list[str] | None = None,
    *,
    ignore: list[str] | None = None,
    packs: list[Any] | None = None,
    config: ProjectLintConfig | None = None,
) -> tuple[LintReport, list[str]]:
    """`lint` twice: the report from the JSON format, the notes from the text format."""
    words = ["lint", str(cassette), "--no-config"]
    if baseline is not None:
        words += ["--baseline", str(baseline)]
    for flag, values in (("--select", rules), ("--ignore", ignore)):
        for value in values or []:
            words += [flag, value]
    config = config or ProjectLintConfig()
    for pack in [*config.pattern_packs, *(packs or [])]:
        words += ["--pattern-pack", str(pack)]
    words += _entropy_flags(config.entropy)
    report = LintReport.model_validate_json(_answer([*words, "--format", "json"], (0, 4)))
    text = _answer([*words, "--format", "text"], (0, 4))
    return report, [line for line in text.splitlines() if line.startswith("note: ")]


def run(*arguments: Any, **options: Any) -> LintReport:
    """The report alone."""
    return run_with_notes(*arguments, **options)[0]


def _entropy_flags(entropy: EntropyConfig | None) -> list[str]:
    if entropy is None:
        return []
    words = ["--entropy" if entropy.enabled else "--no-entropy"]
    words += ["--entropy-min-bits", str(entropy.min_bits)]
    words += ["--entropy-min-length", str(entropy.min_length)]
    for token in entropy.allowlist:
        words += ["--entropy-allow", token]
    return words


def diff_cassettes(old: Any, new: Any) -> CassetteDiff:
    """`diff --format json`, whose exit code must agree with its `identical`."""
    words = ["diff", str(old), str(new), "--format", "json"]
    result = call(words)
    if result.returncode not in (0, 5):
        raise ValueError(f"exit {result.returncode}: {result.stderr}")
    difference = CassetteDiff.model_validate_json(result.stdout)
    assert difference.identical == (result.returncode == 0), "exit code against `identical`"
    return difference


def build_pattern_set(paths: list[Any]) -> Any:
    """Whether the packs are accepted is the binary's word; the object is 0.4.0's."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["lint", str(_cassette(Path(folder), [])), "--no-config"]
        for path in paths:
            words += ["--pattern-pack", str(path)]
        _answer(words, (0,))
    return _own_build_pattern_set(paths)


def discover_config(start: Any = None) -> ProjectLintConfig:
    """What shows of the configuration from outside: whether it is refused, and `fail_on`.

    The cassette lies outside the project and holds one warning and no error, so the exit
    code tells the threshold.
    """
    assert start is None, "the command line has no other place to search from"
    twins = [{"name": "twin", "inputSchema": {}}, {"name": "twin", "inputSchema": {}}]
    with tempfile.TemporaryDirectory() as folder:
        path = _cassette(Path(folder), [_listing(twins)])
        result = call(["lint", str(path)])
    if result.returncode == 2:
        raise ValueError(result.stderr)
    assert "R003 warning" in result.stdout, result.stdout + result.stderr
    return ProjectLintConfig(fail_on="warning" if result.returncode == 4 else "error")


def extract_tool_text(cassette: Cassette) -> tuple[list[Any], list[str]]:
    """The surfaces that packs can name: one pattern a surface that matches any text."""
    kinds = {"N1": "name", "N2": "schema_description", "N3": "schema_enum"}
    pack = "version = 1\n" + "".join(
        f'[[patterns]]\nid = "{rule}"\nlabel = "any"\nregex = ".+"\nsurfaces = ["{kind}"]\n'
        for rule, kind in kinds.items()
    )
    with tempfile.TemporaryDirectory() as folder:
        path, pack_path = Path(folder, "c.mcp.json"), Path(folder, "pack.toml")
        cassette.save(path)
        pack_path.write_text(pack, encoding="utf-8")
        report, notes = run_with_notes(path, packs=[pack_path])
        places = _places(json.loads(path.read_text(encoding="utf-8")))
    order = {pointer: number for number, pointer in enumerate(places)}
    surfaces = [
        SimpleNamespace(kind=kinds[f.rule], locator=f.locator, text=places[f.locator], tool=f.tool)
        for f in report.findings
        if f.rule in kinds
    ]
    return sorted(surfaces, key=lambda surface: order[surface.locator]), notes


def _places(document: Any) -> dict[str, Any]:
    """Every JSON pointer of a document with its value, in document order."""
    found: dict[str, Any] = {}

    def visit(pointer: str, value: Any) -> None:
        found[pointer] = value
        if isinstance(value, dict):
            for name, member in value.items():
                visit(f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}", member)
        elif isinstance(value, list):
            for index, member in enumerate(value):
                visit(f"{pointer}/{index}", member)

    visit("", document)
    return found


class EntropyDetector:
    """R005 on one text, read back from the length and first characters that it shows."""

    def __init__(self, config: EntropyConfig) -> None:
        self._config = ProjectLintConfig(entropy=config)

    def scan(self, text: str) -> Any:
        """The tokens reported for this text in a notification."""
        with tempfile.TemporaryDirectory() as folder:
            report = run(_cassette(Path(folder), [_notification(text)]), config=self._config)
        tokens = []
        for finding in report.findings:
            if finding.rule != "R005":
                continue
            shown = re.search(r'(\d+) chars, "(.{1,6})…"', finding.message)
            assert shown, f"no length and sample in {finding.message!r}"
            start = text.index(shown[2])
            tokens.append(SimpleNamespace(token=text[start : start + int(shown[1])]))
        return SimpleNamespace(secrets=tokens)


def loader(own_load: Callable[..., Cassette]) -> Callable[..., Cassette]:
    """A `Cassette.load` that asks `inspect` first and compares what both read."""

    def load(path: Any) -> Cassette:
        result = call(["inspect", str(path), "--format", "json"])
        if result.returncode == 2:
            kind = UnsupportedFormatVersion if _is_newer(path) else ValueError
            raise kind(result.stderr)
        document = json.loads(result.stdout)
        cassette = own_load(path)
        read = (document["format_version"], document["transport"], document["messages"])
        assert read == (cassette.format_version, cassette.transport, len(cassette.messages))
        return cassette

    return load


def _is_newer(path: Any) -> bool:
    try:
        version = json.loads(Path(path).read_text(encoding="utf-8"))["format_version"]
    except (ValueError, KeyError, TypeError):
        return False
    return isinstance(version, int) and version > FORMAT_VERSION


def _answer(words: list[str], expected: tuple[int, ...]) -> str:
    result = call(words)
    if result.returncode not in expected:
        raise ValueError(f"exit {result.returncode}: {result.stderr}")
    return result.stdout


def _cassette(folder: Path, messages: list[list[dict[str, Any]]]) -> Path:
    """A stdio cassette that holds these groups of messages."""
    document = {
        "format_version": 3,
        "recorded_at": "2026-01-01T00:00:00Z",
        "messages": [
            {"seq": seq, "t_offset_ms": seq, **message}
            for seq, message in enumerate(message for group in messages for message in group)
        ],
    }
    path = folder / "probe.mcp.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def _listing(tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    answer = {"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}}
    return [
        {"sender": "client", "kind": "request", "method": "tools/list", "msg_id": 1, "payload": request},
        {"sender": "server", "kind": "response", "msg_id": 1, "payload": answer},
    ]


def _notification(text: str) -> list[dict[str, Any]]:
    method = "notifications/message"
    params = {"level": "info", "data": text}
    payload = {"jsonrpc": "2.0", "method": method, "params": params}
    return [{"sender": "server", "kind": "notification", "method": method, "payload": payload}]
