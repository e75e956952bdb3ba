"""The Action on a runner: `act` from PyPI, on the host, with the workflows of `examples/ci/` as they are.

Only what needs GitHub is stood in for: checkout fetches from a local repository (as shallow as the real
one), uploads go to a folder, and the release is served from the loopback interface.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import http.server
import json
import os
import platform
import re
import shutil
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import Bench, Case, Cassettes, Repository, expect, expect_in
from manifest import manifest

PATH = "tests/cassettes/session.mcp.json"
ZEROS = "0" * 40
TARGET = f"{ {'arm64': 'aarch64'}.get(platform.machine(), platform.machine())}-unknown-linux-musl"
STUBS = Path(__file__).resolve().parent / "stubs"
# `uses: ./` with everything that it reports written to the log.
OWN = """\
on: [pull_request, pull_request_target, push, merge_group, workflow_dispatch]
jobs:
  gate:
    runs-on: ubuntu-latest
    steps:
      - uses: {checkout}
        with:
          persist-credentials: false
      - uses: ./
        with:
          checks: ""
"""


@dataclass
class Log:
    """What a run of `act` said."""

    passed: bool
    records: list[dict[str, Any]]
    text: str
    artifacts: Path
    outputs: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for record in self.records:
            if record.get("command") == "set-output":
                self.outputs[record["name"]] = record["arg"]

    @property
    def annotations(self) -> list[dict[str, Any]]:
        """The errors and warnings that the runner understood."""
        return [record for record in self.records if record.get("command") in ("error", "warning", "notice")]

    @property
    def summary(self) -> str:
        """The summary of the job."""
        return "".join(record["content"] for record in self.records if record.get("command") == "summary")

    def expect(self, code: int, **outputs: str) -> None:
        """The job failed or passed as the exit code says, with these outputs."""
        told = {name.replace("_", "-"): value for name, value in outputs.items()}
        expected = {"exit-code": str(code), **told}
        actual = {name: self.outputs.get(name) for name in expected}
        expect(actual == expected, f"{actual}, not {expected}\n{self.text}")
        expect(self.passed == (code == 0), f"the job {'passed' if self.passed else 'failed'}\n{self.text}")


@functools.cache
def packed(binary: Path) -> bytes:
    """The asset of a release."""
    return gzip.compress(binary.read_bytes(), compresslevel=1, mtime=0)


@contextlib.contextmanager
def release_server(folder: Path) -> Iterator[str]:
    """Serves a folder; yields the URL."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


class Hosted:
    """A repository as GitHub holds it, with a published Action."""

    def __init__(self, bench: Bench, server: str) -> None:
        self.bench = bench
        self.action = bench.folder / "action"
        (self.action / "dist").mkdir(parents=True)
        shutil.copy(bench.root / "action.yml", self.action)
        shutil.copy(bench.root / "dist/index.mjs", self.action / "dist")
        self._publish(server)
        self.repository: Repository = bench.repository("hosted")
        self.repository.git("config", "uploadpack.allowAnySHA1InWant", "true")

    def _publish(self, server: str) -> None:
        version = json.loads((self.bench.root / "dist/manifest.json").read_text(encoding="utf-8"))["version"]
        folder = self.bench.folder / "release" / f"v{version}"
        folder.mkdir(parents=True)
        (folder / f"mcp-cassette-{TARGET}.gz").write_bytes(packed(self.bench.binary))
        text = manifest(version, server, folder, (TARGET,))
        (self.action / "dist/manifest.json").write_text(text, encoding="utf-8")

    def own_workflow(self) -> str:
        """A workflow with `uses: ./`; the repository gets the Action at its root."""
        self.repository.copy([self.action / "action.yml", self.action / "dist"])
        line = next(line for line in self.example("push").splitlines() if "actions/checkout@" in line)
        return OWN.format(checkout=line.partition("uses: ")[2])

    def example(self, name: str) -> str:
        """One of the workflows of `examples/ci/`."""
        return (self.bench.root / f"examples/ci/{name}.yml").read_text(encoding="utf-8")

    def pull_request(self, base: Mapping[str, str], head: Mapping[str, str], **more: Any) -> dict[str, Any]:
        """Commits both sides and checks the merge commit out; the payload of the event."""
        git = self.repository.git
        stale = self.repository.commit(base, "base")
        git("checkout", "--quiet", "-b", "feature")
        tip = self.repository.commit(head, "head")
        git("checkout", "--quiet", "main")
        self.main = self.repository.commit({"elsewhere": "main has moved on"}, "main")
        git("checkout", "--quiet", "--detach")
        git("merge", "--quiet", "--no-ff", "--no-edit", "feature")
        return {
            "number": 1,
            "pull_request": {
                "number": 1,
                "base": {"ref": "main", "sha": stale},
                "head": {"ref": "feature", "sha": tip, "repo": {"fork": more.get("fork", False)}},
            },
            "repository": {"default_branch": "main"},
        }

    def run(self, event: str, payload: Mapping[str, Any], workflow: str, tools: Path | None = None) -> Log:
        """Runs the workflow for HEAD of the repository."""
        folder = self.bench.folder
        (folder / "workflow.yml").write_text(workflow, encoding="utf-8")
        (folder / "event.json").write_text(json.dumps(payload), encoding="utf-8")
        artifacts = folder / "artifacts"
        artifacts.mkdir(exist_ok=True)
        stands_in = {
            f"actions/{name}@{reference}": STUBS / name
            for name in ("checkout", "upload-artifact")
            for reference in re.findall(rf"actions/{name}@(\S+)", workflow + (self.action / "action.yml").read_text())
        }
        for reference in re.findall(r"github/codeql-action/upload-sarif@(\S+)", workflow):
            stands_in[f"github/codeql-action@{reference}"] = STUBS / "codeql-action"
        for reference in re.findall(r"cheneeheng/mcp-cassette@(\S+)", workflow):
            stands_in[f"cheneeheng/mcp-cassette@{reference}"] = self.action
        words = ["act", event, "--json", "--no-skip-checkout", "--no-cache-server", "-P", "ubuntu-latest=-self-hosted"]
        words += ["--workflows", folder / "workflow.yml", "--eventpath", folder / "event.json"]
        words += ["--env", f"STUB_ORIGIN=file://{self.repository.root}", "--env", f"STUB_ARTIFACTS={artifacts}"]
        for name, place in stands_in.items():
            words += ["--local-repository", f"{name}={place}"]
        # Without the folder of the binary: the workflow must find it by itself.
        path = os.pathsep.join([*([str(tools)] if tools else []), str(self.bench.tools), os.environ["PATH"]])
        result = self.bench.result(*words, cwd=self.repository.root, PATH=path)
        text = (result.stdout + result.stderr).decode("utf-8", "replace")
        records = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
        expect(any("jobID" in record for record in records), f"no job ran\n{text}")
        return Log(result.returncode == 0, records, text, artifacts)


@contextlib.contextmanager
def hosted(bench: Bench) -> Iterator[tuple[Hosted, Cassettes]]:
    """A repository, its published Action, and the cassettes to put into it."""
    (bench.folder / "release").mkdir()
    with release_server(bench.folder / "release") as server:
        yield Hosted(bench, server), Cassettes(bench.root)


def poisoned_pull_request(bench: Bench) -> None:
    """`uses: ./` in a shallow checkout: annotations on the lines, summary, outputs, report, and a failed job."""
    with hosted(bench) as (host, cassettes):
        workflow = host.own_workflow()
        payload = host.pull_request({PATH: cassettes.clean}, {PATH: cassettes.poisoned})
        log = host.run("pull_request", payload, workflow)
        reason = "first parent of the merge commit of the pull request"
        log.expect(4, baseline_commit=host.main, baseline_reason=reason)
        at = [note["kvPairs"] for note in log.annotations if note["kvPairs"].get("title") == "R001"]
        expect(len(at) == 1 and at[0]["file"] == PATH, f"{at}")
        line = cassettes.poisoned.splitlines()[int(at[0]["line"]) - 1]
        marked = line[int(at[0]["col"]) - 1 :].lower()
        expect('"description"' in line and marked.startswith("assistant: ignore"), f"{at[0]} is at {marked[:80]!r}")
        expect_in(["mcp-cassette: failed", "R001", PATH, "description changed"], log.summary)
        report = Path(log.artifacts / log.outputs["artifact-name"])
        checked = json.loads((report / "check.json").read_text(encoding="utf-8"))
        expect(checked["summary"]["exit_code"] == 4, str(checked["summary"]))
        expect(str(checked["summary"]["errors"]) == log.outputs["errors"], str(checked["summary"]))
        expect_in(["R001"], (report / "summary.md").read_text(encoding="utf-8"))
        expect_in([f"git fetch of the base commit {host.main}: done"], log.text)


def clean_pull_request(bench: Bench) -> None:
    """An unchanged cassette passes, and so does what the base has already."""
    with hosted(bench) as (host, cassettes):
        payload = host.pull_request({PATH: cassettes.poisoned}, {"tests/cassettes/new.mcp.json": cassettes.clean})
        log = host.run("pull_request", payload, host.example("pull-request"))
        log.expect(0, errors="0", baseline_commit=host.main)
        expect(not [note for note in log.annotations if note["command"] == "error"], log.text)


def drift_in_pull_request(bench: Bench) -> None:
    """A changed description alone is exit 5."""
    with hosted(bench) as (host, cassettes):
        payload = host.pull_request({PATH: cassettes.clean}, {PATH: cassettes.drifted})
        workflow = host.example("pull-request").replace("checks: lint,diff,redaction", "checks: diff")
        host.run("pull_request", payload, workflow).expect(5)


def fork(bench: Bench) -> None:
    """A pull request from a fork cannot switch off its own gate by its configuration."""
    with hosted(bench) as (host, cassettes):
        base = {PATH: cassettes.clean, "mcp-cassette.toml": '[lint]\nfail_on = "error"\n'}
        head = {PATH: cassettes.poisoned, "mcp-cassette.toml": '[lint]\nignore = ["R001", "R002", "R010"]\n'}
        payload = host.pull_request(base, head, fork=True)
        log = host.run("pull_request", payload, host.example("fork-safe"))
        log.expect(4, baseline_commit=host.main)
        expect_in(["R001"], log.summary)


def push(bench: Bench) -> None:
    """A push is compared with what was there before it; the first one with nothing."""
    with hosted(bench) as (host, cassettes):
        before = host.repository.commit({PATH: cassettes.clean})
        payload = {"before": ZEROS, "ref": "refs/heads/main", "repository": {"default_branch": "main"}}
        first = host.run("push", payload, host.example("push"))
        first.expect(0, baseline_commit="")
        host.repository.commit({PATH: cassettes.drifted})
        log = host.run("push", {**payload, "before": before}, host.example("push"))
        log.expect(4, baseline_commit=before)
        expect_in(["R002", "R103"], log.summary)


def merge_group(bench: Bench) -> None:
    """A group of the merge queue is compared with the base that the queue names."""
    with hosted(bench) as (host, cassettes):
        base = host.repository.commit({PATH: cassettes.clean})
        host.repository.commit({PATH: cassettes.poisoned})
        head = host.repository.git("rev-parse", "HEAD")
        payload = {"merge_group": {"base_sha": base, "head_sha": head, "base_ref": "refs/heads/main"}}
        host.run("merge_group", payload, host.example("merge-queue")).expect(4, baseline_commit=base)


def dispatch(bench: Bench) -> None:
    """Started by hand there is no base: everything in the cassettes counts."""
    with hosted(bench) as (host, cassettes):
        workflow = host.own_workflow()
        host.repository.commit({PATH: cassettes.poisoned})
        log = host.run("workflow_dispatch", {}, workflow)
        log.expect(4, baseline_commit="", baseline_reason="the event workflow_dispatch has no commit to compare with")


def target_of_pull_request(bench: Bench) -> None:
    """pull_request_target on the default branch would compare the base with itself: exit 2."""
    with hosted(bench) as (host, cassettes):
        workflow = host.own_workflow()
        payload = host.pull_request({PATH: cassettes.clean}, {PATH: cassettes.poisoned})
        host.repository.git("checkout", "--quiet", "main")
        payload["pull_request"]["base"]["sha"] = host.main
        log = host.run("pull_request_target", payload, workflow)
        log.expect(2, findings="0")
        expect_in(["part of the base itself"], log.text)


def drift_job(bench: Bench) -> None:
    """The scheduled job records, finds that the server has moved, and opens an issue with the summary."""
    with hosted(bench) as (host, cassettes):
        record = "#!/bin/sh\nset -e\nmcp-cassette --version > recorded-with\ncp fresh.json " + PATH + "\n"
        host.repository.write({"scripts/record-cassettes": record})
        (host.repository.root / "scripts/record-cassettes").chmod(0o755)
        host.repository.commit({PATH: cassettes.clean, "fresh.json": cassettes.clean})
        tools = bench.folder / "gh"
        tools.mkdir()
        (tools / "gh").write_text('#!/bin/sh\nfor file; do :; done\ncp "$file" "$STUB_ARTIFACTS/issue.md"\n')
        (tools / "gh").chmod(0o755)
        quiet = host.run("workflow_dispatch", {}, host.example("scheduled-drift"), tools)
        head = host.repository.git("rev-parse", "HEAD")
        quiet.expect(0, baseline_commit=head)
        expect(not (quiet.artifacts / "issue.md").exists(), "an issue was opened for nothing")
        host.repository.commit({"fresh.json": cassettes.drifted})
        moved = host.run("schedule", {}, host.example("scheduled-drift"), tools)
        head = host.repository.git("rev-parse", "HEAD")
        moved.expect(4, baseline_commit=head)
        expect_in(["R103"], (moved.artifacts / "issue.md").read_text(encoding="utf-8"))


def sarif(bench: Bench) -> None:
    """The SARIF file is there for the upload step, of a failed gate too."""
    with hosted(bench) as (host, cassettes):
        payload = host.pull_request({PATH: cassettes.clean}, {PATH: cassettes.poisoned})
        log = host.run("pull_request", payload, host.example("sarif"))
        log.expect(4)
        document = json.loads((log.artifacts / "uploaded.sarif").read_text(encoding="utf-8"))
        expect("R001" in {result["ruleId"] for result in document["runs"][0]["results"]}, str(document))


def sarif_from_fork(bench: Bench) -> None:
    """A fork's token may not upload, so nothing is."""
    with hosted(bench) as (host, cassettes):
        payload = host.pull_request({PATH: cassettes.clean}, {PATH: cassettes.poisoned}, fork=True)
        log = host.run("pull_request", payload, host.example("sarif"))
        log.expect(4)
        expect(not (log.artifacts / "uploaded.sarif").exists(), "it was uploaded")


def from_0_4_0(bench: Bench) -> None:
    """A workflow for the Action of 0.4.0 runs as it is: baseline, packs and the required profile."""
    with hosted(bench) as (host, cassettes):
        pack = (bench.root / "examples/lint-pack.toml").read_text(encoding="utf-8")
        workflow = host.example("from-0.4.0")
        head = {"tests/cassettes/new.mcp.json": cassettes.clean}
        payload = host.pull_request({PATH: cassettes.clean, "lint/packs/team.toml": pack}, head)
        log = host.run("pull_request", payload, workflow)
        # A new cassette must have the profile that is named.
        log.expect(4, baseline_commit=host.main)
        expect_in(["expected 'team-baseline'"], log.text)
        expect((log.artifacts / log.outputs["artifact-name"] / "check.json").exists(), "no report")
    with hosted(bench.fresh("scrubbed")) as (host, cassettes):
        (host.repository.root / PATH).parent.mkdir(parents=True)
        host.repository.write({PATH: cassettes.clean})
        words = ["redact", host.repository.root / PATH, "--in-place", "--redact-profile", "team-baseline"]
        bench.tool(bench.binary, *words)
        payload = host.pull_request({"lint/packs/team.toml": pack}, {"readme": "new"})
        host.run("pull_request", payload, workflow).expect(0, baseline_commit=host.main)


def hostile_inputs(bench: Bench) -> None:
    """Inputs with quotes, globs, commands and newlines are file names to the gate and nothing else."""
    with hosted(bench) as (host, cassettes):
        workflow = host.own_workflow()
        host.repository.commit({PATH: cassettes.clean})
        hostile = '          cassettes: |\n            $(touch PWNED)`touch PWNED` "x" \'y\' *.nothing\n            --help ;touch PWNED\n'
        log = host.run("workflow_dispatch", {}, workflow + hostile)
        log.expect(2, findings="0")
        expect("PWNED" not in os.listdir(host.repository.root), "a shell saw an input")
        found = list(bench.folder.rglob("PWNED*"))
        expect(not found, f"a shell saw an input: {found}")


CASES = [
    Case(f"act: {run.__name__}", run)
    for run in (
        poisoned_pull_request,
        clean_pull_request,
        drift_in_pull_request,
        fork,
        push,
        merge_group,
        dispatch,
        target_of_pull_request,
        drift_job,
        sarif,
        sarif_from_fork,
        from_0_4_0,
        hostile_inputs,
    )
]
