// A client on the TypeScript SDK 1.x, with every handler that it has.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
    CreateMessageRequestSchema,
    ElicitRequestSchema,
    ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { main, play, request, SAMPLED } from './scenario.mjs';

await main(async (plan, transcript) => {
    const client = new Client(
        { name: 'scripted-typescript-1', version: '1.0.0' },
        { capabilities: { sampling: {}, elicitation: { form: {} }, roots: { listChanged: true } } },
    );
    client.takesResultSchema = true;
    client.setRequestHandler(CreateMessageRequestSchema, (asked) => {
        transcript.add({ sampling: asked.params });
        return SAMPLED;
    });
    client.setRequestHandler(ElicitRequestSchema, (asked) => {
        transcript.add({ elicitation: asked.params });
        return { action: 'accept', content: plan.elicited };
    });
    client.setRequestHandler(ListRootsRequestSchema, () => {
        transcript.add({ roots: 'asked for' });
        return { roots: plan.roots };
    });
    client.fallbackNotificationHandler = async (notification) => transcript.add({ notification });
    client.onerror = (error) => transcript.add({ unreadable: error.message });

    const transport = transportOf(plan);
    await client.connect(transport);
    transcript.open({
        server: client.getServerVersion(),
        capabilities: client.getServerCapabilities(),
        instructions: client.getInstructions(),
    });
    await play(plan.steps, 'legacy', (step, options) => request(client, step, options), transcript);
    await transport.terminateSession?.();
    // The end of a stream of its own is an error to the SDK, if it comes before the close is done.
    client.onerror = undefined;
    await client.close();
});

function transportOf(plan) {
    if (plan.transport === 'sse') return new SSEClientTransport(new URL(plan.url));
    if (plan.url !== undefined) return new StreamableHTTPClientTransport(new URL(plan.url));
    const [command, ...args] = plan.command;
    return new StdioClientTransport({ command, args, env: environment(plan.env), cwd: plan.cwd });
}

// `env` replaces the default environment in part of the 1.x versions, so it holds all of it.
function environment(more) {
    const names = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER'].filter((name) => name in process.env);
    return { ...Object.fromEntries(names.map((name) => [name, process.env[name]])), ...more };
}
