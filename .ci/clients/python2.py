"""A client on the Python SDK 2.x, in the mode that the plan names, with every callback."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from scenario import SAMPLED, ProtocolFailure, Transcript, dumped, main, play

warnings.simplefilter("ignore", MCPDeprecationWarning)

MODERN = "2026-07-28"


async def session(plan: dict[str, Any], transcript: Transcript) -> None:
    """One session from the negotiation to the end."""

    async def on_message(message: Any) -> None:
        if isinstance(message, Exception):
            transcript.add({"unreadable": str(message)})
        else:
            transcript.add({"notification": dumped(message)})

    async def on_sampling(_: Any, params: Any) -> types.CreateMessageResult:
        transcript.add({"sampling": dumped(params)})
        return types.CreateMessageResult.model_validate(SAMPLED)

    async def on_elicitation(_: Any, params: Any) -> types.ElicitResult:
        transcript.add({"elicitation": dumped(params)})
        return types.ElicitResult(action="accept", content=plan["elicited"])

    async def on_roots(_: Any) -> types.ListRootsResult:
        transcript.add({"roots": "asked for"})
        return types.ListRootsResult(roots=[types.Root.model_validate(root) for root in plan["roots"]])

    async with Client(
        transport(plan),
        mode=plan["mode"],
        sampling_callback=on_sampling,
        elicitation_callback=on_elicitation,
        list_roots_callback=on_roots,
        message_handler=on_message,
        log_level="debug",
    ) as client:
        identity = client.server_info
        transcript.add(
            {
                "protocol": client.protocol_version,
                "server": dumped(identity) if identity else None,
                "capabilities": dumped(client.server_capabilities),
                "instructions": client.instructions,
            }
        )

        async def perform(step: dict[str, Any], on_progress: Any) -> Any:
            try:
                return dumped(await request(client, step, on_progress))
            except MCPError as failure:
                raise ProtocolFailure(dumped(failure.error)) from None

        era = "modern" if client.protocol_version >= MODERN else "legacy"
        await play(plan["steps"], era, perform, transcript)


def transport(plan: dict[str, Any]) -> Any:
    """What the SDK takes for a command or an address."""
    match plan:
        case {"url": url, "transport": "sse"}:
            return sse_client(url)
        case {"url": url}:
            return url
    command, *arguments = plan["command"]
    return StdioServerParameters(command=command, args=arguments, env=plan["env"], cwd=plan["cwd"])


async def request(client: Client, step: dict[str, Any], on_progress: Any) -> Any:
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
            return await client.read_resource(uri)
        case {"prompt": name}:
            return await client.get_prompt(name, step.get("arguments"))
        case {"complete": prompt}:
            reference = types.PromptReference(type="ref/prompt", name=prompt)
            return await client.complete(reference, step["argument"])
        case {"subscribe": uri}:
            return await client.subscribe_resource(uri)
        case {"unsubscribe": uri}:
            return await client.unsubscribe_resource(uri)
        case {"level": level}:
            return await client.set_logging_level(level)
        case {"ping": _}:
            return await client.send_ping()
    raise ValueError(f"no such step: {step}")


if __name__ == "__main__":
    sys.exit(main(session))
