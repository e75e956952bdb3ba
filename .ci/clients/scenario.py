"""What the two Python clients share: the steps of a session and the transcript of it.

A transcript holds everything that the client saw, in the order in which it saw it, as JSON
texts one after the other. Nothing is left out or smoothed over: a scenario has to choose calls
whose answers do not vary.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

STEP_SECONDS = 30
SAMPLED = {
    "role": "assistant",
    "content": {"type": "text", "text": "A short answer, with ümlaut."},
    "model": "scripted-model",
    "stopReason": "endTurn",
}


class Unscripted(Exception):
    """A step went otherwise than its scenario says."""


class ProtocolFailure(Exception):
    """A JSON-RPC error, whichever class the SDK has for it."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error)
        self.error = error


class Transcript:
    """Takes down what happens, and lets a step wait for something to happen."""

    def __init__(self, unheard: list[str]) -> None:
        self._entries: list[str] = []
        self._unheard = unheard
        self._grown = asyncio.Event()

    def add(self, entry: dict[str, Any]) -> None:
        """One more thing that was seen, but for the notifications that the plan does not want."""
        notification = entry.get("notification")
        if notification and notification["method"] in self._unheard:
            return
        self._entries.append(json.dumps(entry, indent=1, ensure_ascii=False))
        self._grown.set()

    async def holds(self, text: str) -> None:
        """Returns once an entry has this text in it."""
        while not any(text in entry for entry in self._entries):
            self._grown.clear()
            await self._grown.wait()

    def print(self) -> None:
        """Prints everything; a name or text of the server may not be fit for the terminal."""
        sys.stdout.write("".join(entry + "\n" for entry in self._entries))


# Performs one step with the SDK's own method and returns the result as the wire has it.
Perform = Callable[[dict[str, Any], Callable[..., Awaitable[None]] | None], Awaitable[Any]]


async def play(steps: list[dict[str, Any]], era: str, perform: Perform, transcript: Transcript) -> None:
    """Goes through the steps that this era has."""
    for step in steps:
        if step.get("era", era) != era:
            continue
        async with asyncio.timeout(STEP_SECONDS):
            if "wait_for" in step:
                await transcript.holds(step["wait_for"])
            elif "together" in step:
                entries = await asyncio.gather(*(outcome(inner, perform) for inner in step["together"]))
                for entry in entries:
                    transcript.add(entry)
            else:
                transcript.add(await outcome(step, perform))


async def outcome(step: dict[str, Any], perform: Perform) -> dict[str, Any]:
    """What became of one step; fails if it is not what the scenario expects."""
    progress: list[Any] = []

    async def on_progress(done: float, total: float | None, message: str | None) -> None:
        progress.append([done, total, message])

    entry: dict[str, Any] = {"step": step}
    try:
        entry["result"] = await perform(step, on_progress if step.get("progress") else None)
    except ProtocolFailure as failure:
        entry["error"] = failure.error
    if step.get("progress"):
        entry["progress"] = progress
    failed = "error" in entry or bool(entry["result"].get("isError"))
    if failed != step.get("error", False):
        raise Unscripted(f"unexpected outcome: {json.dumps(entry)[:2000]}")
    return entry


def dumped(model: Any) -> Any:
    """A model of the SDK as it came over the wire: members that were absent stay absent."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


def main(session: Callable[[dict[str, Any], Transcript], Awaitable[None]]) -> int:
    """Reads the plan that the command line names, runs the session, prints the transcript."""
    with open(sys.argv[1], encoding="utf-8") as file:
        plan = json.load(file)
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[attr-defined]

    async def run() -> int:
        transcript = Transcript(plan.get("unheard", []))
        try:
            await session(plan, transcript)
        except BaseExceptionGroup as group:
            for failure in _leaves(group):
                print(f"{type(failure).__name__}: {failure}", file=sys.stderr)
            return 1
        except Exception as failure:  # The runner shows the last words of a client that failed.
            print(f"{type(failure).__name__}: {failure}", file=sys.stderr)
            return 1
        finally:
            with contextlib.suppress(BrokenPipeError):
                transcript.print()
        return 0

    return asyncio.run(run())


def _leaves(group: BaseExceptionGroup) -> list[BaseException]:
    leaves: list[BaseException] = []
    for member in group.exceptions:
        leaves += _leaves(member) if isinstance(member, BaseExceptionGroup) else [member]
    return leaves
