// A server on the handler of the TypeScript SDK 2.x, which answers both eras request by request and
// keeps nothing in between. The tools are those of `modern_server.py`, as far as a client of the
// older revisions can be asked without a session: not at all.
//
//     handler.mjs PORT

import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, fromJsonSchema, inputRequired, inputResponse, McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const INSTRUCTIONS = 'A server for tests of clients.';
const string = { type: 'string' };
const object = (properties, required) => ({ type: 'object', properties, required });
const said = (text) => ({ content: [{ type: 'text', text }] });

function build() {
    const server = new McpServer(
        { name: 'handler', version: '1.0.0' },
        { instructions: INSTRUCTIONS, capabilities: { logging: {} } },
    );
    const tool = (name, description, schema, run) =>
        server.registerTool(name, { description, inputSchema: fromJsonSchema(schema) }, run);
    const question = object({ question: string }, ['question']);
    const form = (question) =>
        inputRequired.elicit({
            message: `Please answer: ${question}`,
            requestedSchema: object({ answer: string }, ['answer']),
        });
    const sample = (question) =>
        inputRequired.createMessage({
            messages: [{ role: 'user', content: { type: 'text', text: `Say it in five words: ${question}` } }],
            maxTokens: 50,
        });
    const asks = (requests, answer) => ({ question }, ctx) => {
        const open = Object.keys(requests).some((key) => inputResponse(ctx.mcpReq.inputResponses, key).kind === 'missing');
        if (!open) return said(answer(question, (key) => inputResponse(ctx.mcpReq.inputResponses, key)));
        const inputRequests = Object.entries(requests).map(([key, request]) => [key, request(question)]);
        return inputRequired({ inputRequests: Object.fromEntries(inputRequests) });
    };
    tool('ask_user', 'Asks the user and returns the answer.', question, asks({ form }, (question, of) => `${question} ${of('form').content?.answer}`));
    tool('ask_model', 'Asks the model of the client.', question, asks({ sample }, (_, of) => JSON.stringify(of('sample').result)));
    tool(
        'ask_everything',
        'Asks the user and the model, and for the roots, all at once.',
        question,
        asks({ form, sample, roots: inputRequired.listRoots }, (_, of) => `${of('form').action}; ${of('sample').result.model}; ${of('roots').roots.length}`),
    );
    const counting = object({ steps: { type: 'integer' }, quiet: { type: 'boolean' } }, ['steps']);
    tool('count', 'Counts, and reports each step.', counting, async ({ steps, quiet }, ctx) => {
        const progressToken = ctx.mcpReq._meta?.progressToken;
        for (let progress = 1; progress <= steps; progress += 1) {
            const params = { progressToken, progress, total: steps, message: `step ${progress}` };
            if (progressToken !== undefined) await ctx.mcpReq.notify({ method: 'notifications/progress', params });
            if (!quiet) await ctx.mcpReq.log('info', `at ${progress}`);
            await sleep(100);
        }
        return { ...said(JSON.stringify({ counted: steps })), structuredContent: { counted: steps } };
    });
    tool('broken', 'Always fails.', object({}), () => {
        throw new Error('this tool is broken');
    });
    const plain = { mimeType: 'text/plain' };
    server.registerResource('about', 'modern://about', plain, (uri) => ({
        contents: [{ uri: uri.href, ...plain, text: 'A server that asks.' }],
    }));
    const greeting = new ResourceTemplate('modern://greeting/{name}', { list: undefined });
    server.registerResource('greeting', greeting, plain, (uri, { name }) => ({
        contents: [{ uri: uri.href, ...plain, text: `Grüße, ${name}!` }],
    }));
    const review = { description: 'Asks for a review.', argsSchema: fromJsonSchema(object({ code: string }, ['code'])) };
    server.registerPrompt('review', review, ({ code }) => ({
        messages: [{ role: 'user', content: { type: 'text', text: `Review this:\n\n${code}` } }],
    }));
    return server;
}

createServer(toNodeHandler(createMcpHandler(build))).listen(Number(process.argv[2]), '127.0.0.1');
