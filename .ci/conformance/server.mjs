// The server that the conformance suite is run against: the official TypeScript SDK under the
// surface of `surface.mjs`, in both eras on one address. Clients of the older revisions get
// sessions with streams that can be resumed, clients of 2026-07-28 get what the SDK's handler does.
//
//     server.mjs [PORT]

import { hostHeaderValidation, NodeStreamableHTTPServerTransport, originValidation, toNodeHandler, toWebRequest } from '@modelcontextprotocol/node';
import { createMcpHandler, fromJsonSchema, isInitializeRequest, isLegacyRequest, McpServer } from '@modelcontextprotocol/server';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { prompts, read, resources, stateCodec, template, tools, unknown } from './surface.mjs';

const LOCAL = ['localhost', '127.0.0.1', '[::1]'];
const known = tools(() => handler.notify);

function build() {
    const changes = { listChanged: true };
    const outer = new McpServer(
        { name: 'conformance-fixture', version: '1.0.0' },
        {
            capabilities: {
                tools: changes,
                prompts: changes,
                resources: { ...changes, subscribe: true },
                completions: {},
                logging: {},
            },
            requestState: { verify: stateCodec.verify },
        },
    );
    for (const [name, [description, schema, run]] of Object.entries(known)) {
        outer.registerTool(name, { description, inputSchema: fromJsonSchema(schema) }, run);
    }
    const { server } = outer;
    server.setRequestHandler('resources/list', () => ({
        resources: resources.map(([uri, mimeType]) => ({ uri, name: uri, description: `What is at ${uri}`, mimeType })),
    }));
    server.setRequestHandler('resources/templates/list', () => ({
        resourceTemplates: [
            { uriTemplate: template, name: 'by-id', description: 'The data of an id', mimeType: 'application/json' },
        ],
    }));
    server.setRequestHandler('resources/read', ({ params }) => read(params.uri));
    server.setRequestHandler('resources/subscribe', () => ({}));
    server.setRequestHandler('resources/unsubscribe', () => ({}));
    server.setRequestHandler('prompts/list', () => ({
        prompts: Object.entries(prompts).map(([name, [description, names]]) => ({
            name,
            description,
            arguments: names.map((one) => ({ name: one, description: `The ${one}`, required: true })),
        })),
    }));
    server.setRequestHandler('prompts/get', ({ params }, ctx) => {
        const prompt = Object.hasOwn(prompts, params.name) ? prompts[params.name] : undefined;
        if (!prompt) throw unknown('prompt', params.name);
        const result = prompt[2](params.arguments ?? {}, ctx);
        return Array.isArray(result) ? { messages: result } : result;
    });
    server.setRequestHandler('completion/complete', ({ params }) => {
        const values = ['paris', 'park', 'party'].filter((word) => word.startsWith(params.argument.value));
        return { completion: { values, total: values.length, hasMore: false } };
    });
    return outer;
}

const handler = createMcpHandler(build, { legacy: 'reject' });
const modern = toNodeHandler(handler);
const sessions = new Map();

// Keeps the events of one session, so that a stream that ended early goes on where it was.
function eventStore() {
    const events = [];
    return {
        async storeEvent(stream, message) {
            events.push({ stream, message });
            return String(events.length);
        },
        async replayEventsAfter(last, { send }) {
            const { stream } = events[Number(last) - 1];
            for (const [index, event] of events.entries()) {
                // The first event of a stream has no message: it is there for its id.
                const later = index >= Number(last) && event.stream === stream && event.message.jsonrpc;
                if (later) await send(String(index + 1), event.message);
            }
            return stream;
        },
        async getStreamIdForEventId(id) {
            return events[Number(id) - 1]?.stream;
        },
    };
}

async function legacy(request, response, body) {
    const id = request.headers['mcp-session-id'];
    if (sessions.has(id)) return sessions.get(id).handleRequest(request, response, body);
    if (id !== undefined) return refuse(response, 404, -32001, 'there is no such session');
    if (!isInitializeRequest(body)) return refuse(response, 400, -32000, 'a session begins with initialize');
    const transport = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        eventStore: eventStore(),
        retryInterval: 200,
        onsessioninitialized: (id) => sessions.set(id, transport),
        onsessionclosed: (id) => sessions.delete(id),
    });
    await build().connect(transport);
    return transport.handleRequest(request, response, body);
}

function refuse(response, status, code, message) {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } }));
}

async function parsed(request) {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    return text === '' ? undefined : JSON.parse(text);
}

const guards = [hostHeaderValidation(LOCAL), originValidation(LOCAL)];
const server = createServer(async (request, response) => {
    if (!guards.every((guard) => guard(request, response))) return;
    if (new URL(request.url, 'http://localhost').pathname !== '/mcp') {
        response.writeHead(404).end();
        return;
    }
    try {
        const body = await parsed(request);
        const old = await isLegacyRequest(await toWebRequest(request, body), body);
        await (old ? legacy : modern)(request, response, body);
    } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        refuse(response, 400, -32700, 'not JSON');
    }
});
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => {
    console.error(`listening at http://127.0.0.1:${server.address().port}/mcp`);
});
process.on('SIGTERM', () => process.exit(0));
