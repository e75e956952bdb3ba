"""A server on the Python SDK 1.x over HTTP, as `modern_server.py` is one on 2.x.

    legacy_server.py PORT [json] [stateless] [sse]

It asks the client by every way that the older revisions have: on the stream of the call (sampling,
elicitation) and on the stream of a GET (roots).
"""

import asyncio
import sys

from mcp.server.fastmcp import Context, FastMCP
from mcp.types import SamplingMessage, TextContent
from pydantic import BaseModel

port, *words = sys.argv[1:]
server = FastMCP(
    "legacy-server",
    instructions="A server for tests of clients.",
    port=int(port),
    json_response="json" in words,
    stateless_http="stateless" in words,
    log_level="WARNING",
)


class Order(BaseModel):
    """What the client's user is asked for."""

    answer: str


@server.tool()
async def ask_user(question: str, ctx: Context) -> str:
    """Asks the user and returns the answer."""
    asked = await ctx.elicit(f"Please answer: {question}", Order)
    return f"{question} {asked.data.answer if asked.action == 'accept' else asked.action}"


@server.tool()
async def ask_model(question: str, ctx: Context) -> str:
    """Asks the client's model and returns what it said."""
    text = TextContent(type="text", text=f"Say it in five words: {question}")
    said = await ctx.session.create_message(
        [SamplingMessage(role="user", content=text)], max_tokens=50, related_request_id=ctx.request_id
    )
    return said.model_dump_json(by_alias=True, exclude_unset=True)


@server.tool()
async def ask_everything(question: str, ctx: Context) -> str:
    """Asks the user, and for the roots."""
    asked = await ctx.elicit(f"Please answer: {question}", Order)
    known = await ctx.session.list_roots()
    return f"{asked.action}; {len(known.roots)}"


@server.tool()
async def count(steps: int, ctx: Context, quiet: bool = False) -> dict[str, int]:
    """Counts, and reports each step; logs it too unless it is to be quiet."""
    for step in range(1, steps + 1):
        await ctx.report_progress(step, steps, f"step {step}")
        if not quiet:
            await ctx.info(f"at {step}")
        # The TypeScript SDKs lose progress that they read in one go with the answer.
        await asyncio.sleep(0.1)
    return {"counted": steps}


@server.tool()
async def broken() -> str:
    """Always fails."""
    raise ValueError("this tool is broken")


@server.resource("modern://about", mime_type="text/plain")
def about() -> str:
    """What this is."""
    return "A server that asks."


@server.resource("modern://greeting/{name}", mime_type="text/plain")
def greeting(name: str) -> str:
    """A greeting for a name."""
    return f"Grüße, {name}!"


@server.prompt()
def review(code: str) -> str:
    """Asks for a review."""
    return f"Review this:\n\n{code}"


if __name__ == "__main__":
    server.run("sse" if "sse" in words else "streamable-http")
