// The tools, resources and prompts that the conformance suite calls by name; `server.mjs` has the
// rest. Each behaves the same in both eras: what asks the client for something returns the request,
// and the SDK sends it itself to a client of the older era. The names, and the defaults and choices of
// the two forms that are about these, are those that the suite expects; the texts are free.

import {
    createRequestStateCodec,
    inputRequired,
    inputResponse,
    ProtocolError,
    ProtocolErrorCode,
    ResourceNotFoundError,
} from '@modelcontextprotocol/server';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const PNG =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
// Eight samples of silence.
const WAV = 'UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA==';
const STEP_MS = 50;

export const stateCodec = createRequestStateCodec({ key: randomBytes(32) });

const text = (words) => ({ type: 'text', text: words });
const image = { type: 'image', data: PNG, mimeType: 'image/png' };
const said = (words) => ({ content: [text(words)] });
const object = (properties, required = Object.keys(properties)) => ({
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
});
const string = { type: 'string' };
const form = (message, properties) => inputRequired.elicit({ message, requestedSchema: object(properties) });
const sampling = (prompt, maxTokens) =>
    inputRequired.createMessage({ messages: [{ role: 'user', content: text(prompt) }], maxTokens });

// What the client answered to a form, or undefined if that is not there or not what was asked for.
function answered(ctx, key, member, type = 'string') {
    const view = inputResponse(ctx.mcpReq.inputResponses, key);
    const value = view.kind === 'elicit' && view.action === 'accept' ? view.content?.[member] : undefined;
    return typeof value === type ? value : undefined;
}

function kind(ctx, key) {
    return inputResponse(ctx.mcpReq.inputResponses, key).kind;
}

// A tool that asks one form and quotes the whole answer.
const quoting = (prefix, request) => (args, ctx) => {
    const view = inputResponse(ctx.mcpReq.inputResponses, 'form');
    if (view.kind !== 'elicit') return inputRequired({ inputRequests: { form: request(args) } });
    return said(`${prefix}: action=${view.action}, content=${JSON.stringify(view.content ?? {})}`);
};

// A tool that asks for a confirmation and carries a sealed state.
async function confirmed(_, ctx) {
    const state = ctx.mcpReq.requestState();
    if (state?.step === 'asked' && answered(ctx, 'confirm', 'ok', 'boolean') !== undefined) return said('state-ok');
    return inputRequired({
        inputRequests: { confirm: form('Is that right?', { ok: { type: 'boolean' } }) },
        requestState: await stateCodec.mint({ step: 'asked' }),
    });
}

const options = (pairs) => pairs.map(([value, title]) => ({ const: value, title }));
const three = { type: 'string', enum: ['option1', 'option2', 'option3'] };
const ENUMS = {
    untitledSingle: three,
    titledSingle: {
        type: 'string',
        oneOf: options([['value1', 'The first'], ['value2', 'The second'], ['value3', 'The third']]),
    },
    legacyEnum: {
        type: 'string',
        enum: ['opt1', 'opt2', 'opt3'],
        enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: { type: 'array', items: three },
    titledMulti: {
        type: 'array',
        items: {
            anyOf: options([['value1', 'One'], ['value2', 'Two'], ['value3', 'Three']]),
        },
    },
};
const DEFAULTS = {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
};
const KEYWORDS = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $defs: { address: { $anchor: 'place', ...object({ street: string, city: string }, []) } },
    ...object({ way: { enum: ['phone', 'mail'] }, phone: string, mail: string, home: { $ref: '#/$defs/address' } }, []),
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['mail'] }] }],
    if: { properties: { way: { const: 'phone' } }, required: ['way'] },
    then: { required: ['phone'] },
    else: { required: ['mail'] },
    additionalProperties: false,
};

// Every tool: its description, the schema of its arguments, and what it does. `notifier` announces
// changes to the streams of `subscriptions/listen`.
export const tools = (notifier) => ({
    test_simple_text: ['A text', object({}), () => said('A plain answer.')],
    test_image_content: ['An image', object({}), () => ({ content: [image] })],
    test_audio_content: [
        'A sound',
        object({}),
        () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }),
    ],
    test_embedded_resource: [
        'A resource inside of the result',
        object({}),
        () => ({ content: [resource('test://embedded-resource', 'text/plain', 'What is in the resource.')] }),
    ],
    test_multiple_content_types: [
        'A text, an image and a resource',
        object({}),
        () => ({
            content: [
                text('Three kinds of content:'),
                image,
                resource('test://mixed-content-resource', 'application/json', '{"answer":42}'),
            ],
        }),
    ],
    test_tool_with_logging: ['Logs while it runs', object({}), logging],
    test_logging_tool: ['Logs while it runs, if it is asked to', object({}), logging],
    test_tool_with_progress: ['Reports progress', object({}), progress],
    test_error_handling: [
        'Always fails',
        object({}),
        () => ({ ...said('This tool fails each time.'), isError: true }),
    ],
    test_reconnection: ['Ends its stream and answers on the next one', object({}), reconnection],
    test_sampling: [
        'Asks the model of the client',
        object({ prompt: string }),
        ({ prompt }, ctx) => {
            const view = inputResponse(ctx.mcpReq.inputResponses, 'said');
            if (view.kind !== 'sampling') return inputRequired({ inputRequests: { said: sampling(prompt, 100) } });
            return said(`The model said: ${view.result.content.text}`);
        },
    ],
    test_elicitation: [
        'Asks the user of the client',
        object({ message: string }),
        quoting('The user said', ({ message }) => form(message, { username: string, email: string })),
    ],
    test_elicitation_sep1034_defaults: [
        'Asks with defaults',
        object({}),
        quoting('The user chose', () => form('Please check these values', DEFAULTS)),
    ],
    test_elicitation_sep1330_enums: [
        'Asks with choices',
        object({}),
        quoting('The user chose', () => form('Please choose', ENUMS)),
    ],
    json_schema_2020_12_tool: ['Has a schema with the newer keywords', KEYWORDS, () => said('fine')],
    pick_region: [
        'Has an argument that a header repeats',
        object({ region: { type: 'string', 'x-mcp-header': 'Region' } }),
        ({ region }) => said(region),
    ],
    ...asking,
    test_trigger_tool_change: announcing(() => notifier().toolsChanged()),
    test_trigger_prompt_change: announcing(() => notifier().promptsChanged()),
});

const announcing = (announce) => [
    'Says that a list has changed',
    object({}),
    () => {
        announce();
        return said('announced');
    },
];

// What only the newer era calls.
const asking = {
    test_missing_capability: [
        'Needs a model',
        object({}),
        (_, ctx) => {
            if (kind(ctx, 'said') === 'sampling') return said('done');
            return inputRequired({ inputRequests: { said: sampling('Say a word.', 10) } });
        },
    ],
    test_streaming_elicitation: [
        'Asks after a report of progress',
        object({}),
        (_, ctx) => {
            if (answered(ctx, 'user_name', 'name') !== undefined) return said('done');
            return inputRequired({ inputRequests: { user_name: form('What is your name?', { name: string }) } });
        },
    ],
    test_input_required_result_elicitation: [
        'Asks for a name',
        object({}),
        (_, ctx) => {
            const name = answered(ctx, 'user_name', 'name');
            if (name !== undefined) return said(`Hello, ${name}!`);
            return inputRequired({ inputRequests: { user_name: form('What is your name?', { name: string }) } });
        },
    ],
    test_input_required_result_sampling: [
        'Asks a model',
        object({}),
        (_, ctx) => {
            const view = inputResponse(ctx.mcpReq.inputResponses, 'capital_question');
            if (view.kind === 'sampling') return said(JSON.stringify(view.result.content));
            const capital_question = sampling('What is the capital of France?', 100);
            return inputRequired({ inputRequests: { capital_question } });
        },
    ],
    test_input_required_result_list_roots: [
        'Asks for the roots',
        object({}),
        (_, ctx) => {
            const view = inputResponse(ctx.mcpReq.inputResponses, 'client_roots');
            if (view.kind === 'roots') return said(view.roots.map((root) => root.uri).join(' '));
            return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
        },
    ],
    test_input_required_result_request_state: ['Carries a state', object({}), confirmed],
    test_input_required_result_tampered_state: ['Checks its state', object({}), confirmed],
    test_input_required_result_multiple_inputs: [
        'Asks for three things at once',
        object({}),
        async (_, ctx) => {
            const kinds = ['user_name', 'greeting', 'client_roots'].map((key) => kind(ctx, key));
            if (!kinds.includes('missing')) return said(kinds.join(', '));
            return inputRequired({
                inputRequests: {
                    user_name: form('What is your name?', { name: string }),
                    greeting: sampling('Say hello.', 50),
                    client_roots: inputRequired.listRoots(),
                },
                requestState: await stateCodec.mint({ step: 'asked' }),
            });
        },
    ],
    test_input_required_result_multi_round: [
        'Asks twice, one after the other',
        object({}),
        async (_, ctx) => {
            const state = ctx.mcpReq.requestState();
            const color = answered(ctx, 'step2', 'color');
            if (state?.name !== undefined && color !== undefined) return said(`${state.name} likes ${color}`);
            const name = state?.name ?? answered(ctx, 'step1', 'name');
            const inputRequests =
                name === undefined
                    ? { step1: form('What is your name?', { name: string }) }
                    : { step2: form('Which colour do you like?', { color: string }) };
            return inputRequired({ inputRequests, requestState: await stateCodec.mint({ name }) });
        },
    ],
    test_input_required_result_capabilities: [
        'Asks only for what the client can do',
        object({}),
        (_, ctx) => {
            const can = ctx.mcpReq.envelope?.['io.modelcontextprotocol/clientCapabilities'] ?? {};
            const inputRequests = {
                ...(can.sampling && { said: sampling('Say a word.', 10) }),
                ...(can.elicitation && { form: form('What is your name?', { name: string }) }),
            };
            const open = Object.keys(inputRequests).filter((key) => kind(ctx, key) === 'missing');
            return open.length === 0 ? said('done') : inputRequired({ inputRequests });
        },
    ],
};

async function logging(_, ctx) {
    for (const words of ['begun', 'half done', 'done']) {
        await ctx.mcpReq.log('info', words);
        await sleep(STEP_MS);
    }
    return said('logged');
}

async function progress(_, ctx) {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined) {
            await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
        }
        await sleep(STEP_MS);
    }
    return said('reported');
}

async function reconnection(_, ctx) {
    ctx.http?.closeSSE?.();
    await sleep(2 * STEP_MS);
    return said('answered after the stream ended');
}

function resource(uri, mimeType, words) {
    return { type: 'resource', resource: { uri, mimeType, text: words } };
}

export const resources = [
    ['test://static-text', 'text/plain', { text: 'A text that stays the same.' }],
    ['test://static-binary', 'image/png', { blob: PNG }],
    ['test://watched-resource', 'text/plain', { text: 'A text that could change.' }],
];
export const template = 'test://template/{id}/data';

export function read(uri) {
    const known = resources.find(([one]) => one === uri);
    if (known) return { contents: [{ uri, mimeType: known[1], ...known[2] }] };
    const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
    if (id === undefined) throw new ResourceNotFoundError(uri);
    const data = JSON.stringify({ id, templateTest: true, data: `what belongs to ${id}` });
    return { contents: [{ uri, mimeType: 'application/json', text: data }] };
}

const message = (content) => ({ role: 'user', content });

// Every prompt: its description, the names of its arguments, and its result.
export const prompts = {
    test_simple_prompt: ['A text', [], () => [message(text('A plain prompt.'))]],
    test_prompt_with_arguments: [
        'A text with arguments',
        ['arg1', 'arg2'],
        ({ arg1, arg2 }) => [message(text(`The arguments are '${arg1}' and '${arg2}'.`))],
    ],
    test_prompt_with_embedded_resource: [
        'A resource and a text',
        ['resourceUri'],
        ({ resourceUri }) => [
            message(resource(resourceUri, 'text/plain', 'What is in the resource.')),
            message(text('What does it say?')),
        ],
    ],
    test_prompt_with_image: [
        'An image and a text',
        [],
        () => [message(image), message(text('What does it show?'))],
    ],
    test_input_required_result_prompt: [
        'Asks for a context',
        [],
        (_, ctx) => {
            const context = answered(ctx, 'user_context', 'context');
            if (context !== undefined) return [message(text(`In this context: ${context}`))];
            const user_context = form('What context should the prompt use?', { context: string });
            return inputRequired({ inputRequests: { user_context } });
        },
    ],
};

export function unknown(what, name) {
    return new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no ${what} ${name}`);
}
