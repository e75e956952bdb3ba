#!/usr/bin/env python3
"""Writes dist/manifest.json for a release: `manifest.py VERSION RELEASES-URL ASSETS-FOLDER FILE`.

Every target that the Action knows must have its asset, so that a release is never half there.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

TARGETS = (
    "aarch64-apple-darwin",
    "aarch64-unknown-linux-musl",
    "x86_64-apple-darwin",
    "x86_64-pc-windows-msvc",
    "x86_64-unknown-linux-musl",
)


def manifest(version: str, releases: str, folder: Path, targets: tuple[str, ...] = TARGETS) -> str:
    """The text of the manifest for the assets `mcp-cassette-TARGET.gz` in a folder."""
    assets = {}
    for target in targets:
        name = f"mcp-cassette-{target}.gz"
        content = (folder / name).read_bytes()
        assets[target] = {"name": name, "sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}
    return json.dumps({"version": version, "releases": releases, "assets": assets}, indent=2) + "\n"


def main() -> int:
    """Exit 0 when the file is written; a missing asset is a traceback and exit 1."""
    version, releases, folder, file = sys.argv[1:]
    Path(file).write_text(manifest(version, releases, Path(folder)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
