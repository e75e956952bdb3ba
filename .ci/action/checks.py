"""Static checks of the Action, the hooks and the workflows, and the tests of the Action's script."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

from bench import Bench, Case, expect, expect_in
from manifest import TARGETS, manifest

# Written for 0.4.0 and left as it was, with tags where we pin by SHA.
OLD = "from-0.4.0.yml"


def _workflows(bench: Bench) -> list[Path]:
    return sorted(bench.root.glob(".github/workflows/*.yml")) + sorted(bench.root.glob("examples/ci/*.yml"))


def schemas(bench: Bench) -> None:
    """The Action and the workflows are what GitHub's schemas describe."""
    bench.tool("check-jsonschema", "--builtin-schema", "vendor.github-actions", bench.root / "action.yml")
    bench.tool("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *_workflows(bench))
    stubs = sorted(bench.root.glob(".ci/action/stubs/**/action.yml"))
    bench.tool("check-jsonschema", "--builtin-schema", "vendor.github-actions", *stubs)


def zizmor(bench: Bench) -> None:
    """No audit of zizmor objects, and it does object to a flaw."""
    ours = [path for path in _workflows(bench) if path.name != OLD]
    bench.tool("zizmor", "--offline", "--no-progress", bench.root / "action.yml", *ours)
    flawed = bench.folder / "flawed.yml"
    flawed.write_text("on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - uses: actions/checkout@v4\n")
    bench.tool("zizmor", "--offline", "--no-progress", flawed, codes=(11, 12, 13, 14))


def actionlint(bench: Bench) -> None:
    """actionlint finds nothing."""
    bench.tool("actionlint", "-no-color", *[path for path in _workflows(bench) if path.name != OLD], cwd=bench.root)


def pins(bench: Bench) -> None:
    """Every action of others is pinned by a whole SHA, with its version beside it."""
    pinned = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")
    ours = re.compile(r"(\./|cheneeheng/mcp-cassette@v[\d.]+)( # zizmor: ignore.*)?$")
    for path in [bench.root / "action.yml", *_workflows(bench)]:
        if path.name == OLD:
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            _, found, used = line.partition("uses: ")
            if found and not line.lstrip().startswith("#"):
                expect(bool(pinned.match(used) or ours.match(used)), f"{path.name}: not pinned: {used}")


def hook_manifest(bench: Bench) -> None:
    """Both tools accept the hooks and the example of a configuration."""
    hooks, config = bench.root / ".pre-commit-hooks.yaml", bench.root / "examples/ci/pre-commit-config.yaml"
    for tool in ("pre-commit", "prek"):
        bench.tool(tool, "validate-manifest", hooks)
        bench.tool(tool, "validate-config", config)


def release_manifest(bench: Bench) -> None:
    """What release.yml writes is what the script of the Action reads, for every target."""
    for target in TARGETS:
        (bench.folder / f"mcp-cassette-{target}.gz").write_bytes(target.encode())
    written = json.loads(manifest("1.2.3", "https://host.example/releases", bench.folder))
    expect(written["version"] == "1.2.3" and list(written["assets"]) == sorted(TARGETS), str(written))
    for target, asset in written["assets"].items():
        digest = hashlib.sha256(target.encode()).hexdigest()
        expected = {"name": f"mcp-cassette-{target}.gz", "sha256": digest, "size": len(target)}
        expect(asset == expected, f"{target}: {asset}")
    (bench.folder / f"mcp-cassette-{TARGETS[0]}.gz").unlink()
    try:
        manifest("1.2.3", "https://host.example/releases", bench.folder)
    except FileNotFoundError:
        pass
    else:
        expect(False, "a release without all its assets was accepted")
    script = (bench.root / "dist/index.mjs").read_text(encoding="utf-8")
    workflow = (bench.root / ".github/workflows/release.yml").read_text(encoding="utf-8")
    for target in TARGETS:
        machine, _, system = target.partition("-")
        expect_in([f'"{machine}"', f'"{system}"'], script)
        expect_in([f"target: {target},"], workflow)


def script(bench: Bench) -> None:
    """The tests of dist/index.mjs pass."""
    text = bench.tool("node", "--test", "--test-reporter=tap", bench.root / "dist/index.test.mjs")
    expect_in(["# fail 0", "# skipped 0", "# cancelled 0"], text)
    expect("# pass 0" not in text, "no test ran")


CASES = [
    Case("check: schemas", schemas),
    Case("check: zizmor", zizmor),
    Case("check: actionlint", actionlint),
    Case("check: pinned actions", pins),
    Case("check: hook manifest", hook_manifest),
    Case("check: manifest of a release", release_manifest),
    Case("check: script of the Action", script),
]
