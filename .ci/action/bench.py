"""What the cases share: the bench that they run on, throwaway repositories and cassettes."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from subprocess import CompletedProcess

from bounded import Failure, plain_environment, run_bounded

STEP_SECONDS = 120
# What git and the hook tools must not take from the machine that runs this.
_AUTHOR = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Test"), ("EMAIL", "test@example.com"), ("DATE", "2026-01-15T09:30:00Z"))
}


@dataclass(frozen=True)
class Case:
    """One thing that must hold."""

    name: str
    run: Callable[[Bench], None]


@dataclass(frozen=True)
class Bench:
    """The project, the binary under test, the tools and a folder to work in."""

    root: Path
    binary: Path
    tools: Path
    folder: Path

    def fresh(self, name: str) -> Bench:
        """The same bench with an empty folder."""
        folder = self.folder / name
        folder.mkdir()
        return replace(self, folder=folder)

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """What a tool sees: a home of its own, and the binary and the tools on PATH."""
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        path = os.pathsep.join([str(self.binary.parent), str(self.tools), os.environ["PATH"]])
        own = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "GIT_CONFIG_NOSYSTEM": "1", "PATH": path}
        return {**plain_environment(), **own, **_AUTHOR, **(more or {})}

    def tool(self, *words: str | Path, cwd: Path | None = None, codes: tuple[int, ...] = (0,), **more: str) -> str:
        """Runs a tool; returns all that it printed, and fails on another exit code."""
        result = self.result(*words, cwd=cwd, **more)
        text = (result.stdout + result.stderr).decode("utf-8", "replace")
        expect(result.returncode in codes, f"exit {result.returncode} from {' '.join(map(str, words))}\n{text}")
        return text

    def result(
        self, *words: str | Path, cwd: Path | None = None, seconds: float = STEP_SECONDS, **more: str
    ) -> CompletedProcess[bytes]:
        """Runs a tool to whatever end."""
        return run_bounded(words, seconds, cwd=cwd or self.folder, env=self.environment(more), check=False)

    def repository(self, name: str = "repository") -> Repository:
        """An empty repository on the branch main."""
        root = self.folder / name
        self.tool("git", "init", "--quiet", "--initial-branch=main", root)
        return Repository(self, root)


@dataclass(frozen=True)
class Repository:
    """A throwaway repository."""

    bench: Bench
    root: Path

    def git(self, *words: str | Path, codes: tuple[int, ...] = (0,), **more: str) -> str:
        """What git printed, without the last newline."""
        return self.bench.tool("git", *words, cwd=self.root, codes=codes, **more).strip()

    def write(self, files: Mapping[str, str]) -> None:
        """Puts files into the working tree."""
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def copy(self, sources: Iterable[Path], folder: str = ".") -> None:
        """Copies files or directories into a folder of the working tree."""
        target = self.root / folder
        target.mkdir(parents=True, exist_ok=True)
        for source in sources:
            if source.is_dir():
                shutil.copytree(source, target / source.name, dirs_exist_ok=True)
            else:
                shutil.copy(source, target)

    def commit(self, files: Mapping[str, str], message: str = "change") -> str:
        """Commits files past any hook; returns the commit."""
        self.write(files)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--no-verify", "--message", message)
        return self.git("rev-parse", "HEAD")


def expect(holds: bool, message: str) -> None:
    """Fails the case unless something holds."""
    if not holds:
        raise Failure(message)


def expect_in(parts: Iterable[str], text: str) -> None:
    """Fails unless the text has each part."""
    missing = [part for part in parts if part not in text]
    expect(not missing, f"no {missing} in:\n{text}")


class Cassettes:
    """The recordings of `examples/`, and what somebody might make of them."""

    def __init__(self, root: Path) -> None:
        self._folder = root / "examples" / "cassettes"
        self.clean = self._text("tools.mcp.json")
        self.poisoned = self._text("injected.mcp.json")
        # An innocent change, so that nothing but the comparison can object.
        self.drifted = self._changed(self.clean, "Adds two integers and returns their sum.", "Adds two whole numbers.")
        self.unscrubbed = self._with_result("Write to maria.keller@contoso-mail.net today.")

    def _text(self, name: str) -> str:
        return (self._folder / name).read_text(encoding="utf-8")

    @staticmethod
    def _changed(text: str, old: str, new: str) -> str:
        expect(text.count(old) == 1, f"{old!r} is {text.count(old)} times in the example")
        return text.replace(old, new)

    def _with_result(self, text: str) -> str:
        document = json.loads(self._text("echo_and_add.mcp.json"))
        results = [message["payload"].get("result") or {} for message in document["messages"]]
        contents = [result["content"] for result in results if "content" in result]
        contents[0][0]["text"] = text
        return json.dumps(document, indent=2) + "\n"
