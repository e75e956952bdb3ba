// A client on the TypeScript SDK 2.x, in the mode that the plan names, with every handler.

import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { main, play, request, SAMPLED } from './scenario.mjs';

await main(async (plan, transcript) => {
    const mode = plan.mode === 'legacy' || plan.mode === 'auto' ? plan.mode : { pin: plan.mode };
    const client = new Client(
        { name: 'scripted-typescript-2', version: '1.0.0' },
        {
            capabilities: { sampling: {}, elicitation: { form: {} }, roots: { listChanged: true } },
            versionNegotiation: { mode },
        },
    );
    client.setRequestHandler('sampling/createMessage', async (asked) => {
        transcript.add({ sampling: asked.params });
        return SAMPLED;
    });
    client.setRequestHandler('elicitation/create', async (asked) => {
        transcript.add({ elicitation: asked.params });
        return { action: 'accept', content: plan.elicited };
    });
    client.setRequestHandler('roots/list', async () => {
        transcript.add({ roots: 'asked for' });
        return { roots: plan.roots };
    });
    client.fallbackNotificationHandler = async (notification) => transcript.add({ notification });
    client.onerror = (error) => transcript.add({ unreadable: error.message });

    const transport = transportOf(plan);
    await client.connect(transport);
    transcript.open({
        protocol: client.getNegotiatedProtocolVersion(),
        server: client.getServerVersion(),
        capabilities: client.getServerCapabilities(),
        instructions: client.getInstructions(),
    });
    await play(plan.steps, client.getProtocolEra(), (step, options) => request(client, step, options), transcript);
    await transport.terminateSession?.();
    // The end of a stream of its own is an error to the SDK, if it comes before the close is done.
    client.onerror = undefined;
    await client.close();
});

function transportOf(plan) {
    if (plan.transport === 'sse') return new SSEClientTransport(new URL(plan.url));
    if (plan.url !== undefined) return new StreamableHTTPClientTransport(new URL(plan.url));
    const [command, ...args] = plan.command;
    return new StdioClientTransport({ command, args, env: { ...getDefaultEnvironment(), ...plan.env }, cwd: plan.cwd });
}
