"""The hooks under pre-commit and prek: real commits in throwaway repositories.

The hook repository has the project's own `.pre-commit-hooks.yaml`. Only `language: rust` is replaced, so
that the binary under test is found on PATH and not built each time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench import Bench, Case, Cassettes, Repository, expect, expect_in

PATH = "tests/cassettes/session.mcp.json"
LINT, REDACTION, DIFF = "mcp-cassette-lint", "mcp-cassette-redaction-check", "mcp-cassette-diff"
BUILD_SECONDS = 1800
INSTALL_STAGES = ("pre-commit", "pre-merge-commit", "pre-push")


@dataclass(frozen=True)
class Project:
    """A repository whose commits go through the hooks."""

    repository: Repository
    tool: str

    def commit(self, files: Mapping[str, str], *words: str) -> tuple[int, str]:
        """`git add` and `git commit`, with the hooks: exit code and output."""
        self.repository.write(files)
        if files:
            self.repository.git("add", "--", *files)
        return self.run("commit", "--message", "change", *words)

    def run(self, *words: str) -> tuple[int, str]:
        """Any git command that may fail."""
        result = self.repository.bench.result("git", *words, cwd=self.repository.root)
        return result.returncode, (result.stdout + result.stderr).decode("utf-8", "replace")


def project(bench: Bench, tool: str, hooks: str, start: Mapping[str, str] | None) -> Project:
    """A repository with the hooks installed, and a first commit unless `start` is None."""
    published = bench.repository("hooks")
    text = (bench.root / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    expect(text.count("language: rust\n") == text.count("- id:"), "every hook is a Rust one")
    published.commit({".pre-commit-hooks.yaml": text.replace("language: rust\n", "language: system\n")})
    published.git("tag", "v0")
    repository = bench.repository()
    config = f"repos:\n- repo: {published.root}\n  rev: v0\n  hooks: [{hooks}]\n"
    if start is not None:
        repository.commit({".pre-commit-config.yaml": config, **start}, "start")
    else:
        repository.write({".pre-commit-config.yaml": config})
        repository.git("add", "--all")
    stages = [word for stage in INSTALL_STAGES for word in ("--hook-type", stage)]
    bench.tool(tool, "install", *stages, cwd=repository.root)
    return Project(repository, tool)


def refused(outcome: tuple[int, str], *parts: str) -> None:
    """The command failed, and said why."""
    code, text = outcome
    expect(code != 0, f"it went through:\n{text}")
    expect_in(parts, text)


def passed(outcome: tuple[int, str]) -> None:
    """The command went through."""
    code, text = outcome
    expect(code == 0, f"exit {code}:\n{text}")


def poisoned(bench: Bench, tool: str) -> None:
    """A poisoned cassette is refused with its rule and exit code 4; a clean one passes."""
    cassettes = Cassettes(bench.root)
    ours = project(bench, tool, f"{{id: {LINT}}}", {})
    passed(ours.commit({PATH: cassettes.clean}))
    refused(ours.commit({"other.mcp.json": cassettes.poisoned}), "R001", "exit code: 4", LINT)


def unscrubbed(bench: Bench, tool: str) -> None:
    """A cassette with an e-mail address in it is refused; of the address no more than a sample is shown."""
    cassettes = Cassettes(bench.root)
    ours = project(bench, tool, f"{{id: {REDACTION}}}", {})
    outcome = ours.commit({PATH: cassettes.unscrubbed})
    refused(outcome, "R203", "exit code: 4", REDACTION)
    expect("keller" not in outcome[1], f"the address is shown:\n{outcome[1]}")
    passed(ours.commit({PATH: cassettes.clean}))


def profile(bench: Bench, tool: str) -> None:
    """`args: [PROFILE]` of 0.4.0 requires the manifest of that profile."""
    cassettes = Cassettes(bench.root)
    ours = project(bench, tool, f"{{id: {REDACTION}, args: [team-baseline]}}", {})
    refused(ours.commit({PATH: cassettes.clean}), "expected 'team-baseline'", "exit code: 4")
    bench.tool(bench.binary, "redact", ours.repository.root / PATH, "--in-place", "--redact-profile", "team-baseline")
    ours.repository.git("add", PATH)
    passed(ours.commit({}))


def drifted(bench: Bench, tool: str) -> None:
    """A changed description is refused against HEAD, with exit code 5; the same again is not."""
    cassettes = Cassettes(bench.root)
    ours = project(bench, tool, f"{{id: {DIFF}}}", {PATH: cassettes.clean})
    refused(ours.commit({PATH: cassettes.drifted}), "description changed", "exit code: 5", DIFF)
    ours.repository.git("checkout", "HEAD", "--", PATH)
    passed(ours.commit({"readme": "nothing of ours"}))
    passed(ours.commit({"new.mcp.json": cassettes.clean}))


def worktree(bench: Bench, tool: str) -> None:
    """In a linked worktree, HEAD is the worktree's own."""
    cassettes = Cassettes(bench.root)
    ours = project(bench, tool, f"{{id: {LINT}}}, {{id: {DIFF}}}", {PATH: cassettes.clean})
    linked = bench.folder / "linked"
    ours.repository.git("worktree", "add", "--quiet", "-b", "other", linked)
    there = Project(Repository(bench, linked), tool)
    refused(there.commit({PATH: cassettes.drifted}), "description changed", "exit code: 5")
    passed(there.commit({PATH: cassettes.drifted}, "--no-verify"))
    # Here main has the old description and the worktree the new one.
    passed(there.commit({"second.mcp.json": cassettes.clean}))
    refused(ours.commit({PATH: cassettes.drifted}), "description changed")
    refused(there.commit({"third.mcp.json": cassettes.poisoned}), "R001")


def commit_all(bench: Bench, tool: str) -> None:
    """`git commit -a` takes what was never staged, and so do the hooks."""
    cassettes = Cassettes(bench.root)
    ours = project(bench, tool, f"{{id: {LINT}}}, {{id: {DIFF}}}", {PATH: cassettes.clean})
    ours.repository.write({PATH: cassettes.poisoned})
    refused(ours.commit({}, "--all"), "R001", "exit code: 4")
    ours.repository.write({PATH: cassettes.clean + "\n"})
    passed(ours.commit({}, "--all"))


def partial(bench: Bench, tool: str) -> None:
    """`git commit PATH` checks that path, whatever else is staged or lies around."""
    cassettes = Cassettes(bench.root)
    ours = project(bench, tool, f"{{id: {LINT}}}, {{id: {DIFF}}}", {})
    ours.repository.write({"bad.mcp.json": cassettes.poisoned, "good.mcp.json": cassettes.clean})
    ours.repository.git("add", "bad.mcp.json", "good.mcp.json")
    passed(ours.commit({}, "--", "good.mcp.json"))
    refused(ours.commit({}, "--", "bad.mcp.json"), "R001")


def unstaged(bench: Bench, tool: str) -> None:
    """What counts is what is staged: the unstaged part of a file is put aside meanwhile."""
    cassettes = Cassettes(bench.root)
    ours = project(bench, tool, f"{{id: {LINT}}}", {PATH: "{}\n"})
    ours.repository.write({PATH: cassettes.clean})
    ours.repository.git("add", PATH)
    ours.repository.write({PATH: cassettes.poisoned})
    passed(ours.commit({}))
    text = (ours.repository.root / PATH).read_text(encoding="utf-8")
    expect(text == cassettes.poisoned, "the working copy came back otherwise")
    ours.repository.git("add", PATH)
    ours.repository.write({PATH: cassettes.clean})
    refused(ours.commit({}), "R001")


def first_commit(bench: Bench, tool: str) -> None:
    """Before the first commit there is no HEAD and nothing to compare with."""
    cassettes = Cassettes(bench.root)
    hooks = f"{{id: {LINT}}}, {{id: {REDACTION}}}, {{id: {DIFF}}}"
    ours = project(bench, tool, hooks, None)
    refused(ours.commit({PATH: cassettes.poisoned}), "R001", "exit code: 4")
    passed(ours.commit({PATH: cassettes.clean}))


def many(bench: Bench, tool: str) -> None:
    """Among 500 cassettes with blanks in their paths, the poisoned one is found; without it all pass."""
    cassettes = Cassettes(bench.root)
    ours = project(bench, tool, f"{{id: {LINT}}}, {{id: {DIFF}}}", {})
    files = {f"tests/some cassettes/session {number}.mcp.json": cassettes.clean for number in range(499)}
    refused(ours.commit({**files, "z.mcp.json": cassettes.poisoned}), "R001", "z.mcp.json", "exit code: 4")
    ours.repository.git("rm", "--quiet", "--cached", "z.mcp.json")
    passed(ours.commit({}))


def push(bench: Bench, tool: str) -> None:
    """On push the base is what the remote has, so that drift in any of the commits is seen."""
    cassettes = Cassettes(bench.root)
    ours = project(bench, tool, f"{{id: {DIFF}, stages: [pre-push]}}", {PATH: cassettes.clean})
    bench.tool("git", "init", "--quiet", "--bare", bench.folder / "remote.git")
    ours.repository.git("remote", "add", "origin", bench.folder / "remote.git")
    ours.repository.git("push", "--quiet", "--no-verify", "origin", "main")
    ours.repository.commit({PATH: cassettes.drifted})
    ours.repository.commit({"readme": "a commit after it"})
    refused(ours.run("push", "origin", "main"), "description changed", "exit code: 5")


def merge(bench: Bench, tool: str) -> None:
    """A merge that brings a poisoned cassette is refused."""
    cassettes = Cassettes(bench.root)
    ours = project(bench, tool, f"{{id: {LINT}}}", {PATH: cassettes.clean})
    ours.repository.git("checkout", "--quiet", "-b", "topic")
    ours.repository.commit({"other.mcp.json": cassettes.poisoned})
    ours.repository.git("checkout", "--quiet", "main")
    ours.repository.commit({"readme": "apart"})
    refused(ours.run("merge", "--no-edit", "topic"), "R001")


def built(bench: Bench, tool: str) -> None:
    """The hooks as they are published, with the build that pre-commit does on first use."""
    cassettes = Cassettes(bench.root)
    ours = bench.repository()
    ours.commit({PATH: cassettes.clean})
    ours.write({PATH: cassettes.poisoned})
    ours.git("add", PATH)
    words = [tool, "try-repo", bench.root, LINT, "--files", PATH]
    # The home of the bench is empty; the toolchain is in that of the caller.
    homes = {
        name: os.environ.get(name) or str(Path.home() / folder)
        for name, folder in (("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup"))
    }
    result = bench.result(*words, cwd=ours.root, seconds=BUILD_SECONDS, **homes)
    text = (result.stdout + result.stderr).decode("utf-8", "replace")
    refused((result.returncode, text), "R001", "exit code: 4")


def _cases(runs: list[Callable[[Bench, str], None]]) -> list[Case]:
    def bound(run: Callable[[Bench, str], None], tool: str) -> Callable[[Bench], None]:
        return lambda bench: run(bench, tool)

    return [Case(f"{tool}: {run.__name__}", bound(run, tool)) for tool in ("pre-commit", "prek") for run in runs]


CASES = _cases(
    [
        poisoned,
        unscrubbed,
        profile,
        drifted,
        worktree,
        commit_all,
        partial,
        unstaged,
        first_commit,
        many,
        push,
        merge,
    ]
)
LONG_CASES = _cases([built])
