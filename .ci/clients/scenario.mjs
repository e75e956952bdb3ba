// What the two TypeScript clients share; the same steps and transcript as in scenario.py.

import { readFileSync } from 'node:fs';

const STEP_MS = 30_000;

export const SAMPLED = {
    role: 'assistant',
    content: { type: 'text', text: 'A short answer, with ümlaut.' },
    model: 'scripted-model',
    stopReason: 'endTurn',
};

// Takes down what happens, and lets a step wait for something to happen.
export class Transcript {
    #entries = [];
    #waiting = [];
    #unheard;

    constructor(unheard) {
        this.#unheard = unheard;
    }

    // One more thing that was seen, but for the notifications that the plan does not want.
    add(entry) {
        if (this.#unheard.includes(entry.notification?.method)) return;
        const text = JSON.stringify(entry, undefined, 1);
        this.#entries.push(text);
        this.#waiting = this.#waiting.filter(({ wanted, resolve }) => {
            if (text.includes(wanted)) resolve();
            return !text.includes(wanted);
        });
    }

    // What the handshake brought comes first: whether the messages that follow it are read before
    // or after `connect` returns is a race inside of the SDK.
    open(entry) {
        this.#entries.unshift(JSON.stringify(entry, undefined, 1));
    }

    holds(wanted) {
        if (this.#entries.some((entry) => entry.includes(wanted))) return Promise.resolve();
        return new Promise((resolve) => this.#waiting.push({ wanted, resolve }));
    }

    text() {
        return this.#entries.map((entry) => `${entry}\n`).join('');
    }
}

// Goes through the steps that this era has. `perform(step, options)` is the SDK's method.
export async function play(steps, era, perform, transcript) {
    for (const step of steps) {
        if ((step.era ?? era) !== era) continue;
        if (step.wait_for !== undefined) {
            await within(transcript.holds(step.wait_for), step);
        } else if (step.together !== undefined) {
            const inner = step.together.map((one) => outcome(one, perform));
            for (const entry of await within(Promise.all(inner), step)) transcript.add(entry);
        } else {
            transcript.add(await within(outcome(step, perform), step));
        }
    }
}

async function within(work, step) {
    let timer;
    const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`no end of ${JSON.stringify(step)}`)), STEP_MS);
    });
    try {
        return await Promise.race([work, late]);
    } finally {
        clearTimeout(timer);
    }
}

// What became of one step; fails if it is not what the scenario expects.
async function outcome(step, perform) {
    const progress = [];
    const entry = { step };
    try {
        entry.result = await perform(step, options(step, progress));
    } catch (failure) {
        if (step.cancel) return { ...entry, cancelled: failure.message, progress };
        if (failure.code === undefined) throw failure;
        entry.error = { code: failure.code, message: failure.message, data: failure.data };
    }
    if (step.progress) entry.progress = progress;
    const failed = entry.error !== undefined || Boolean(entry.result.isError);
    if (failed !== (step.error ?? false)) {
        throw new Error(`unexpected outcome: ${JSON.stringify(entry).slice(0, 2000)}`);
    }
    return entry;
}

// What the SDK is told beside the parameters; `progress` takes what it reports.
function options(step, progress) {
    if (!step.progress) return {};
    const controller = new AbortController();
    const onprogress = (update) => {
        progress.push(update);
        if (step.cancel) controller.abort('the scenario cancels this');
    };
    return { onprogress, signal: controller.signal };
}

// Both SDKs name their methods alike.
export function request(client, step, options) {
    if ('call' in step) return client.callTool(...callParameters(client, step), options);
    if ('list' in step) {
        return {
            tools: () => client.listTools(),
            prompts: () => client.listPrompts(),
            resources: () => client.listResources(),
            templates: () => client.listResourceTemplates(),
        }[step.list]();
    }
    if ('read' in step) return client.readResource({ uri: step.read });
    if ('prompt' in step) return client.getPrompt({ name: step.prompt, arguments: step.arguments });
    if ('complete' in step) {
        const { name, value } = step.argument;
        return client.complete({ ref: { type: 'ref/prompt', name: step.complete }, argument: { name, value } });
    }
    if ('subscribe' in step) return client.subscribeResource({ uri: step.subscribe });
    if ('unsubscribe' in step) return client.unsubscribeResource({ uri: step.unsubscribe });
    if ('level' in step) return client.setLoggingLevel(step.level);
    if ('ping' in step) return client.ping();
    throw new Error(`no such step: ${JSON.stringify(step)}`);
}

// 1.x takes the schema of the result as second argument, 2.x knows it.
function callParameters(client, step) {
    const parameters = { name: step.call, arguments: step.arguments };
    return client.takesResultSchema ? [parameters, undefined] : [parameters];
}

// Reads the plan that the command line names, runs the session, prints the transcript.
export async function main(session) {
    const plan = JSON.parse(readFileSync(process.argv[2], 'utf8'));
    const transcript = new Transcript(plan.unheard ?? []);
    let code = 0;
    try {
        await session(plan, transcript);
    } catch (failure) {
        console.error(failure);
        code = 1;
    }
    process.stdout.write(transcript.text(), () => process.exit(code));
}
