"""A client on the Python SDK 1.x, with every callback that it has."""

from __future__ import annotations

import sys
from typing import Any

from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from pydantic import AnyUrl
from scenario import SAMPLED, ProtocolFailure, Transcript, dumped, main, play


async def session(plan: dict[str, Any], transcript: Transcript) -> None:
    """One session from the handshake to the end."""

    async def on_message(message: Any) -> None:
        if isinstance(message, types.ServerNotification):
            transcript.add({"notification": dumped(message.root)})
        elif isinstance(message, Exception):
            transcript.add({"unreadable": str(message)})

    async def on_sampling(_: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        transcript.add({"sampling": dumped(params)})
        return types.CreateMessageResult.model_validate(SAMPLED)

    async def on_elicitation(_: Any, params: Any) -> types.ElicitResult:
        transcript.add({"elicitation": dumped(params)})
        return types.ElicitResult(action="accept", content=plan["elicited"])

    async def on_roots(_: Any) -> types.ListRootsResult:
        transcript.add({"roots": "asked for"})
        return types.ListRootsResult(roots=[types.Root.model_validate(root) for root in plan["roots"]])

    async with (
        transport(plan) as (receiving, sending, *_),
        ClientSession(
            receiving,
            sending,
            sampling_callback=on_sampling,
            elicitation_callback=on_elicitation,
            list_roots_callback=on_roots,
            message_handler=on_message,
        ) as client,
    ):
        transcript.add({"initialize": dumped(await client.initialize())})

        async def perform(step: dict[str, Any], on_progress: Any) -> Any:
            try:
                return dumped(await request(client, step, on_progress))
            except McpError as failure:
                raise ProtocolFailure(dumped(failure.error)) from None

        await play(plan["steps"], "legacy", perform, transcript)


def transport(plan: dict[str, Any]) -> Any:
    """The SDK's transport for a command or an address."""
    match plan:
        case {"url": url, "transport": "sse"}:
            return sse_client(url)
        case {"url": url}:
            return streamable_http_client(url)
    command, *arguments = plan["command"]
    return stdio_client(StdioServerParameters(command=command, args=arguments, env=plan["env"], cwd=plan["cwd"]))


async def request(client: ClientSession, step: dict[str, Any], on_progress: Any) -> Any:
    """The SDK's method for a step."""
    match step:
        case {"call": name}:
            return await client.call_tool(name, step.get("arguments"), progress_callback=on_progress)
        case {"list": "tools"}:
            return await client.list_tools()
        case {"list": "prompts"}:
            return await client.list_prompts()
        case {"list": "resources"}:
            return await client.list_resources()
        case {"list": "templates"}:
            return await client.list_resource_templates()
        case {"read": uri}:
            return await client.read_resource(AnyUrl(uri))
        case {"prompt": name}:
            return await client.get_prompt(name, step.get("arguments"))
        case {"complete": prompt}:
            reference = types.PromptReference(type="ref/prompt", name=prompt)
            return await client.complete(reference, step["argument"])
        case {"subscribe": uri}:
            return await client.subscribe_resource(AnyUrl(uri))
        case {"unsubscribe": uri}:
            return await client.unsubscribe_resource(AnyUrl(uri))
        case {"level": level}:
            return await client.set_logging_level(level)
        case {"ping": _}:
            return await client.send_ping()
    raise ValueError(f"no such step: {step}")


if __name__ == "__main__":
    sys.exit(main(session))
