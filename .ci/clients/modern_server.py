"""A server on the Python SDK 2.x that uses what the revision 2026-07-28 is made of.

    modern_server.py [PORT [json] [stateless]]

None of the servers that others publish asks the client for something in that revision, so this
one does: by elicitation, by sampling and for roots, all as `input_required` results there and as
server requests in the older revisions. It also reports progress and logs.
"""

import asyncio
import sys
from typing import Annotated

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, ListRoots, Resolve, Sample
from mcp_types import CreateMessageResult, ListRootsResult, SamplingMessage, TextContent
from pydantic import BaseModel

server = MCPServer("modern-server", version="1.0.0", instructions="A server for tests of clients.")


class Order(BaseModel):
    """What the client's user is asked for."""

    answer: str


async def ask(question: str) -> Elicit[Order]:
    return Elicit(f"Please answer: {question}", Order)


async def sample(question: str) -> Sample:
    text = TextContent(type="text", text=f"Say it in five words: {question}")
    return Sample([SamplingMessage(role="user", content=text)], max_tokens=50)


async def roots() -> ListRoots:
    return ListRoots()


@server.tool()
async def ask_user(question: str, order: Annotated[Order, Resolve(ask)]) -> str:
    """Asks the user and returns the answer."""
    return f"{question} {order.answer}"


@server.tool()
async def ask_model(question: str, said: Annotated[CreateMessageResult, Resolve(sample)]) -> str:
    """Asks the client's model and returns what it said."""
    return said.model_dump_json(by_alias=True, exclude_unset=True)


@server.tool()
async def ask_everything(
    question: str,
    order: Annotated[Order, Resolve(ask)],
    said: Annotated[CreateMessageResult, Resolve(sample)],
    known: Annotated[ListRootsResult, Resolve(roots)],
) -> str:
    """Asks the user and the model, and for the roots, all at once where that is possible."""
    return f"{order.answer}; {said.model}; {len(known.roots)}"


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
    match sys.argv[1:]:
        case []:
            server.run("stdio")
        case [port, *words]:
            server.run(
                "streamable-http",
                port=int(port),
                json_response="json" in words,
                stateless_http="stateless" in words,
            )
