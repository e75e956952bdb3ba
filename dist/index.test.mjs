// Runs index.mjs as the Action does, with a download server on the loopback interface and a stand-in for
// the binary that writes down how it was called. `node --test dist/index.test.mjs`; needs git and a POSIX system.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as http from "node:http";
import * as os from "node:os";
import * as path from "node:path";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const VERSION = JSON.parse(fs.readFileSync(path.join(HERE, "manifest.json"), "utf8")).version;
const MACHINE = { x64: "x86_64", arm64: "aarch64" }[process.arch];
const SYSTEM = { linux: "unknown-linux-musl", darwin: "apple-darwin" }[process.platform];
const TARGET = `${MACHINE}-${SYSTEM}`;
const TOKEN = "ghs_test_token";
const skip = SYSTEM ? false : "the stand-in for the binary is a script";

/** Writes its arguments and environment down, and behaves as CASE says. */
const STAND_IN = `#!${process.execPath}
const fs = require("fs");
const { spawnSync } = require("child_process");
if (process.argv[2] === "--version") { console.log("mcp-cassette ${VERSION}"); process.exit(0); }
const call = { args: process.argv.slice(2), cwd: process.cwd(), env: process.env };
fs.appendFileSync(process.env.CALLS, JSON.stringify(call) + "\\n");
const missing = process.env.MISSING_COMMIT;
if (missing && spawnSync("git", ["cat-file", "-e", missing + "^{commit}"]).status !== 0) {
  console.log("first try");
  fs.appendFileSync(process.env.GITHUB_OUTPUT, "findings=99\\nexit-code=2\\n");
  fs.appendFileSync(process.env.GITHUB_STEP_SUMMARY, "first summary\\n");
  console.error("mcp-cassette check: the base commit " + missing + " is not in this clone; run \`git fetch --no-tags origin " + missing + "\` and try again");
  process.exit(2);
}
console.log("checked");
console.error("told");
fs.appendFileSync(process.env.GITHUB_OUTPUT, "findings=1\\nexit-code=4\\n");
if (process.env.GITHUB_STEP_SUMMARY) fs.appendFileSync(process.env.GITHUB_STEP_SUMMARY, "last summary\\n");
process.exitCode = Number(process.env.EXIT ?? 4);
`;
const ASSET = gzipSync(STAND_IN);
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

let folder;
let server;
let other;
/** What the servers answer: path → (request, response). */
let routes;
let requests;

const listen = () => new Promise((resolve) => {
  const made = http.createServer((request, response) => {
    requests.push({ host: request.headers.host, url: request.url, authorization: request.headers.authorization });
    const route = routes[request.url];
    if (route) return route(request, response);
    response.writeHead(404).end("nothing");
  });
  made.listen(0, "127.0.0.1", () => resolve(made));
});
const origin = (of) => `http://127.0.0.1:${of.address().port}`;
const asset = (bytes) => (_, response) => response.end(bytes);

before(async () => {
  requests = [];
  [server, other] = [await listen(), await listen()];
});
after(() => {
  for (const made of [server, other]) {
    made.closeAllConnections();
    made.close();
  }
});

/** A fresh runner: an action root of its own with a manifest, temporary folders, a workspace. */
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "mcp-action-"));
  requests = [];
  routes = { [`/v${VERSION}/asset.gz`]: asset(ASSET) };
  for (const name of ["action/dist", "temp", "tools", "workspace", "empty"]) {
    fs.mkdirSync(path.join(folder, name), { recursive: true });
  }
  for (const name of ["output", "summary", "path", "calls"]) fs.writeFileSync(path.join(folder, name), "");
  fs.copyFileSync(path.join(HERE, "index.mjs"), path.join(folder, "action/dist/index.mjs"));
  fs.writeFileSync(path.join(folder, "stand-in"), STAND_IN, { mode: 0o755 });
  manifest({ name: "asset.gz", sha256: sha256(ASSET), size: ASSET.length });
});

afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

function manifest(entry) {
  const assets = entry ? { [TARGET]: entry } : {};
  const text = JSON.stringify({ version: VERSION, releases: origin(server), assets });
  fs.writeFileSync(path.join(folder, "action/dist/manifest.json"), text);
}

const read = (name) => fs.readFileSync(path.join(folder, name), "utf8");
const calls = () => read("calls").split("\n").filter(Boolean).map((line) => JSON.parse(line));
const standIn = () => ({ BINARY_PATH: path.join(folder, "stand-in") });

/** Runs the script as a step does; inputs by their INPUT_ name. */
function step(inputs = {}, more = {}) {
  const env = {
    PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env.PATH}`,
    HOME: folder,
    GITHUB_ACTIONS: "true",
    GITHUB_SERVER_URL: origin(server),
    GITHUB_OUTPUT: path.join(folder, "output"),
    GITHUB_STEP_SUMMARY: path.join(folder, "summary"),
    GITHUB_PATH: path.join(folder, "path"),
    RUNNER_TEMP: path.join(folder, "temp"),
    RUNNER_TOOL_CACHE: path.join(folder, "tools"),
    CALLS: path.join(folder, "calls"),
    INPUT_CASSETTES: "tests/**/*.mcp.json",
    INPUT_TOKEN: TOKEN,
    ...Object.fromEntries(Object.entries(inputs).map(([name, value]) => [`INPUT_${name}`, value])),
    ...more,
  };
  return new Promise((resolve) => {
    const script = path.join(folder, "action/dist/index.mjs");
    const child = spawn(process.execPath, [script], { cwd: path.join(folder, "workspace"), env });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk) => (stdout += chunk));
    child.stderr.on("data", (chunk) => (stderr += chunk));
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}

/** A PATH with node and git and without cargo. */
function pathWithoutCargo(cargo) {
  const bin = path.join(folder, "bin");
  fs.mkdirSync(bin, { recursive: true });
  if (cargo) fs.writeFileSync(path.join(bin, "cargo"), cargo, { mode: 0o755 });
  return { PATH: bin };
}

function refused(run, pattern) {
  assert.equal(run.code, 2, run.stdout + run.stderr);
  assert.match(run.stdout, /^::error title=mcp-cassette::/m);
  assert.match(run.stdout, pattern);
  assert.match(read("output"), /^exit-code=2$/m);
  assert.match(read("output"), /^findings=0$/m);
  assert.deepEqual(calls(), [], "nothing may have been run");
}

describe("the released binary", { skip }, () => {
  test("is downloaded, verified, run, and its verdict is the step's", async () => {
    const run = await step();
    assert.equal(run.code, 4, run.stdout);
    assert.match(run.stdout, /^checked$/m);
    assert.match(run.stderr, /^told$/m);
    assert.equal(calls().length, 1);
    assert.match(read("output"), /^artifact-name=mcp-cassette-report-[0-9a-f]{8}$/m);
    assert.match(read("output"), /^exit-code=4$/m);
    assert.match(read("path"), /mcp-cassette-bin-/);
  });

  test("comes from the tool cache the second time", async () => {
    await step();
    assert.equal(requests.length, 1);
    routes = {};
    assert.equal((await step()).code, 4);
    assert.equal(requests.length, 1);
    assert.equal(calls().length, 2);
  });

  test("is downloaded again if the tool cache was tampered with", async () => {
    await step();
    const cached = path.join(folder, "tools/mcp-cassette", VERSION, TARGET, "asset.gz");
    const evil = gzipSync("#!/bin/sh\nexit 0\n");
    fs.writeFileSync(cached, Buffer.concat([evil, Buffer.alloc(ASSET.length - evil.length)]));
    const run = await step();
    assert.equal(run.code, 4, run.stdout);
    assert.match(run.stdout, /tool cache is not what the manifest names/);
    assert.equal(requests.length, 2);
    assert.equal(sha256(fs.readFileSync(cached)), sha256(ASSET));
  });

  test("is not run from a tampered tool cache when the release cannot be reached", async () => {
    await step();
    fs.writeFileSync(path.join(folder, "calls"), "");
    fs.writeFileSync(path.join(folder, "output"), "");
    const cached = path.join(folder, "tools/mcp-cassette", VERSION, TARGET, "asset.gz");
    fs.writeFileSync(cached, gzipSync("#!/bin/sh\nexit 0\n"));
    routes = {};
    refused(await step({}, pathWithoutCargo()), /answers 404, and no cargo on PATH/);
  });

  test("with another hash is refused and not replaced by a build", async () => {
    const evil = Buffer.from(ASSET);
    evil[evil.length - 1] ^= 1;
    routes[`/v${VERSION}/asset.gz`] = asset(evil);
    const build = pathWithoutCargo(`#!/bin/sh\necho cargo >> ${folder}/built\n`);
    refused(await step({}, build), /has the SHA-256 [0-9a-f]{64}.*it was not run/);
    assert.equal(fs.existsSync(path.join(folder, "built")), false);
    assert.equal(fs.existsSync(path.join(folder, "tools/mcp-cassette")), false);
  });

  test("that is larger than the manifest says is cut off and refused", async () => {
    let sent = 0;
    routes[`/v${VERSION}/asset.gz`] = (_, response) => {
      const more = () => {
        while (sent < 1 << 28 && response.write(Buffer.alloc(1 << 16))) sent += 1 << 16;
      };
      response.on("drain", more);
      more();
    };
    refused(await step(), /is larger than the manifest's/);
    assert.ok(sent < 1 << 28, "the download went on");
  });

  test("that ends early is not run", async () => {
    routes[`/v${VERSION}/asset.gz`] = asset(ASSET.subarray(0, 100));
    refused(await step({}, pathWithoutCargo()), /ended after 100 of \d+ bytes, and no cargo/);
    routes[`/v${VERSION}/asset.gz`] = (_, response) => {
      response.writeHead(200, { "content-length": ASSET.length });
      response.write(ASSET.subarray(0, 100), () => response.destroy());
    };
    refused(await step({}, pathWithoutCargo()), /cannot be reached.*and no cargo/);
  });

  test("that is not there is built from the sources of the Action", async () => {
    routes = {};
    const cargo = `#!${process.execPath}
const fs = require("fs");
if (process.argv[2] === "--version") process.exit(0);
const root = process.argv.find((word) => word.startsWith("--root=")).slice(7);
fs.mkdirSync(root + "/bin");
fs.copyFileSync(${JSON.stringify(path.join(folder, "stand-in"))}, root + "/bin/mcp-cassette");
fs.writeFileSync(${JSON.stringify(path.join(folder, "built"))}, JSON.stringify([process.cwd(), process.argv.slice(2), Object.keys(process.env)]));
`;
    const run = await step({}, pathWithoutCargo(cargo));
    assert.equal(run.code, 4, run.stdout + run.stderr);
    const [where, args, names] = JSON.parse(read("built"));
    const root = fs.realpathSync(path.join(folder, "action"));
    assert.equal(where, root, "cargo must not see the configuration of the workspace");
    assert.deepEqual(args.slice(0, 2), ["install", "--locked"]);
    assert.ok(args.includes(`--path=${root}`));
    assert.deepEqual(names.filter((name) => name.startsWith("INPUT_")), []);
  });

  test("that does not exist for this machine needs cargo, and says so at once", async () => {
    manifest(undefined);
    refused(await step({}, pathWithoutCargo()), /no released binary of .* and no cargo on PATH.*install Rust.*or set binary-path/);
    assert.equal(requests.length, 0);
  });

  test("that cannot be built fails the step", async () => {
    manifest(undefined);
    const cargo = "#!/bin/sh\n[ \"$1\" = --version ] || exit 101\n";
    refused(await step({}, pathWithoutCargo(cargo)), /cargo install failed with 101/);
  });
});

describe("a redirect", { skip }, () => {
  test("to the same host keeps the token", async () => {
    routes[`/v${VERSION}/asset.gz`] = (_, response) => response.writeHead(302, { location: "/there" }).end();
    routes["/there"] = asset(ASSET);
    assert.equal((await step()).code, 4);
    assert.deepEqual(requests.map((request) => request.authorization), [`Bearer ${TOKEN}`, `Bearer ${TOKEN}`]);
  });

  test("to another host loses the token, also on the way back", async () => {
    routes[`/v${VERSION}/asset.gz`] = (_, response) => response.writeHead(302, { location: `${origin(other)}/away` }).end();
    routes["/away"] = (_, response) => response.writeHead(307, { location: `${origin(server)}/back` }).end();
    routes["/back"] = asset(ASSET);
    assert.equal((await step()).code, 4);
    assert.deepEqual(requests.map((request) => request.authorization), [`Bearer ${TOKEN}`, undefined, undefined]);
  });

  test("without end is refused", async () => {
    routes[`/v${VERSION}/asset.gz`] = (request, response) => response.writeHead(302, { location: request.url }).end();
    refused(await step(), /more than 5 redirects/);
  });

  test("does not take the token to a server that is not the run's", async () => {
    assert.equal((await step({}, { GITHUB_SERVER_URL: "https://github.example" })).code, 4);
    assert.deepEqual(requests.map((request) => request.authorization), [undefined]);
  });
});

test("plain HTTP beyond the loopback interface is refused", { skip }, async () => {
  const file = path.join(folder, "action/dist/manifest.json");
  fs.writeFileSync(file, read("action/dist/manifest.json").replace(origin(server), "http://github.example"));
  refused(await step(), /github\.example: downloads need HTTPS/);
});

describe("inputs", { skip }, () => {
  const HOSTILE = [
    "$(touch PWNED)", "`touch PWNED`", "; touch PWNED", "a\"b'c", "x\n--help", "--version", "-", "%0A::error::x",
    "*", "**/*", "${IFS}", "${{ github.token }}", "a && touch PWNED", "é 日本", "\\", "$HOME", "|", "~",
  ];

  test("reach the binary as single arguments and never a shell", async () => {
    for (const value of HOSTILE) {
      fs.writeFileSync(path.join(folder, "calls"), "");
      const run = await step({
        ...standIn(), BASELINE_REF: value, REQUIRE_REDACTION: value, FAIL_ON: value, POLICY_FROM: value,
      });
      assert.equal(run.code, 4, value);
      const [call] = calls();
      for (const name of ["base", "require-redaction", "fail-on", "policy-from"]) {
        assert.ok(call.args.includes(`--${name}=${value.trim()}`), `${name}: ${JSON.stringify(call.args)}`);
      }
    }
    const left = fs.readdirSync(folder, { recursive: true }).filter((name) => String(name).includes("PWNED"));
    assert.deepEqual(left, []);
  });

  test("that name cassettes are split at white space and follow --", async () => {
    const cassettes = HOSTILE.join("\n");
    await step({ ...standIn(), CASSETTES: `${cassettes} ` });
    const { args } = calls()[0];
    assert.deepEqual(args.slice(args.indexOf("--") + 1), cassettes.split(/\s+/));
  });

  test("that name packs are one a line, blanks kept", async () => {
    await step({ ...standIn(), PATTERN_PACKS: "a b.toml\n\n  --help.toml \r\nc.toml\n" });
    const packs = calls()[0].args.filter((word) => word.startsWith("--pattern-pack"));
    assert.deepEqual(packs, ["--pattern-pack=a b.toml", "--pattern-pack=--help.toml", "--pattern-pack=c.toml"]);
  });

  test("of 0.4.0 become the flags of check", async () => {
    await step({
      ...standIn(), CHECKS: "lint, diff", BASELINE_REF: "", PATTERN_PACKS: "lint/packs/team.toml",
      REQUIRE_REDACTION: "team-baseline", FAIL_ON: "error", VERSION: `v${VERSION}`,
    });
    const { args } = calls()[0];
    const report = args.splice(1, 1)[0];
    assert.match(report, /^--report-dir=.*mcp-cassette-report-/);
    assert.deepEqual(args, [
      "check", "--checks=lint,diff", "--base=auto", "--pattern-pack=lint/packs/team.toml",
      "--require-redaction=team-baseline", "--fail-on=error", "--", "tests/**/*.mcp.json",
    ]);
  });

  test("turn annotations, summary and SARIF on and off", async () => {
    await step({ ...standIn(), ANNOTATIONS: "false", SUMMARY: "false", SARIF: "true", REPORT_DIR: "r d" });
    const [call] = calls();
    const report = path.join(fs.realpathSync(path.join(folder, "workspace")), "r d");
    assert.ok(call.args.includes("--output=text"));
    assert.ok(call.args.includes(`--output=sarif=${path.join(report, "check.sarif")}`));
    assert.ok(call.args.includes(`--report-dir=${report}`));
    assert.equal(call.env.GITHUB_STEP_SUMMARY, undefined);
    assert.equal(read("summary"), "");
  });

  test("do not reach the environment of the binary, nor does the token", async () => {
    await step(standIn());
    const text = JSON.stringify(calls()[0].env);
    assert.doesNotMatch(text, /INPUT_/);
    assert.doesNotMatch(text, new RegExp(TOKEN));
  });

  test("with a word that is none of theirs are refused", async () => {
    for (const name of ["ANNOTATIONS", "SUMMARY", "SARIF"]) {
      fs.writeFileSync(path.join(folder, "output"), "");
      refused(await step({ ...standIn(), [name]: "yes\n::error::" }), new RegExp(`the input ${name.toLowerCase()} is`));
    }
  });

  test("choose the working directory", async () => {
    fs.mkdirSync(path.join(folder, "workspace/a b"));
    await step({ ...standIn(), WORKING_DIRECTORY: "a b" });
    assert.equal(path.basename(calls()[0].cwd), "a b");
    fs.writeFileSync(path.join(folder, "calls"), "");
    refused(await step({ ...standIn(), WORKING_DIRECTORY: "nowhere" }), /working-directory .*nowhere does not exist/);
  });

  test("that ask for another version are refused, unless a binary of it is given", async () => {
    refused(await step({ VERSION: "9.9.9" }), new RegExp(`brings mcp-cassette ${VERSION.replaceAll(".", "\\.")}, not 9\\.9\\.9`));
    fs.writeFileSync(path.join(folder, "output"), "");
    refused(await step({ ...standIn(), VERSION: "9.9.9" }), /the input version asks for 9\.9\.9/);
    assert.equal((await step({ ...standIn(), VERSION })).code, 4);
  });

  test("with a binary-path that cannot be run are refused", async () => {
    refused(await step({ BINARY_PATH: "no-such-file" }), /binary-path .*no-such-file cannot be run/);
  });
});

test("every exit code of the binary is the step's, and its death is 2", { skip }, async () => {
  for (const code of [0, 2, 4, 5, 101]) {
    assert.equal((await step(standIn(), { EXIT: String(code) })).code, code);
  }
  fs.writeFileSync(path.join(folder, "stand-in"), "#!/bin/sh\n[ \"$1\" = --version ] || kill -9 $$\n");
  assert.equal((await step(standIn())).code, 2);
});

describe("a missing base commit", { skip }, () => {
  let git;
  let base;
  let head;

  beforeEach(() => {
    const env = { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: "1" };
    const author = ["-c", "user.name=Test", "-c", "user.email=test@example.com"];
    git = (where, ...list) => execFileSync("git", ["-C", path.join(folder, where), ...author, ...list], { env, encoding: "utf8" }).trim();
    fs.mkdirSync(path.join(folder, "upstream"));
    git("upstream", "init", "-q", "-b", "main");
    git("upstream", "config", "uploadpack.allowAnySHA1InWant", "true");
    git("upstream", "commit", "-q", "--allow-empty", "-m", "one");
    base = git("upstream", "rev-parse", "HEAD");
    git("upstream", "commit", "-q", "--allow-empty", "-m", "two");
    head = git("upstream", "rev-parse", "HEAD");
  });

  const clone = (...options) => {
    fs.rmSync(path.join(folder, "workspace"), { recursive: true });
    execFileSync("git", ["clone", "-q", ...options, `file://${folder}/upstream`, path.join(folder, "workspace")], { env: { ...process.env, HOME: folder } });
  };

  test("is fetched into the checkout whatever GIT_ variables say", async () => {
    clone("--depth=1");
    const elsewhere = { GIT_DIR: "/nowhere", GIT_WORK_TREE: "/nowhere", GIT_INDEX_FILE: "/nowhere" };
    // The stand-in asks git with these variables, so for it the commit stays missing.
    assert.equal((await step(standIn(), { MISSING_COMMIT: base, ...elsewhere })).code, 2);
    assert.equal(calls().length, 2, "one fetch, one more try");
    assert.equal(git("workspace", "cat-file", "-t", base), "commit");
  });

  test("is fetched into a shallow clone, and of the first try nothing stays", async () => {
    clone("--depth=1");
    fs.writeFileSync(path.join(folder, "summary"), "from before\n");
    const run = await step(standIn(), { MISSING_COMMIT: base });
    assert.equal(run.code, 4, run.stdout + run.stderr);
    assert.equal(calls().length, 2);
    assert.doesNotMatch(run.stdout, /first try/);
    assert.match(run.stdout, /checked/);
    assert.equal(read("summary"), "from before\nlast summary\n");
    assert.doesNotMatch(read("output"), /findings=99|exit-code=2/);
    assert.match(read("output"), /^artifact-name=.*\nfindings=1\nexit-code=4\n$/);
  });

  test("is fetched into a whole clone without cutting it off", async () => {
    clone();
    git("upstream", "checkout", "-q", "--orphan", "elsewhere");
    git("upstream", "commit", "-q", "--allow-empty", "-m", "three");
    git("upstream", "commit", "-q", "--allow-empty", "-m", "four");
    const far = git("upstream", "rev-parse", "HEAD");
    assert.equal((await step(standIn(), { MISSING_COMMIT: far })).code, 4);
    assert.equal(fs.existsSync(path.join(folder, "workspace/.git/shallow")), false);
    assert.equal(git("workspace", "rev-list", "--count", far), "2");
    assert.equal(git("workspace", "rev-list", "--count", head), "2");
  });

  test("that the remote does not have is an error after one try", async () => {
    clone("--depth=1");
    const run = await step(standIn(), { MISSING_COMMIT: "0123456789012345678901234567890123456789" });
    assert.equal(run.code, 2);
    assert.match(run.stdout, /git fetch of the base commit 0123.*: failed/);
    assert.match(run.stderr, /is not in this clone/);
    assert.equal(calls().length, 1);
  });

  test("is left alone with fetch: never", async () => {
    clone("--depth=1");
    const run = await step({ ...standIn(), FETCH: "never" }, { MISSING_COMMIT: base });
    assert.equal(run.code, 2);
    assert.equal(calls().length, 1);
    assert.match(read("output"), /findings=99/);
  });

  test("is asked for with the token only where the checkout left no credentials", async () => {
    clone("--depth=1");
    git("workspace", "remote", "set-url", "origin", `${origin(server)}/owner/repository`);
    const headers = () => requests.map((request) => request.authorization);
    await step(standIn(), { MISSING_COMMIT: base });
    const basic = `basic ${Buffer.from(`x-access-token:${TOKEN}`).toString("base64")}`;
    assert.deepEqual([...new Set(headers())], [basic]);
    requests = [];
    git("workspace", "config", `http.${origin(server)}/.extraheader`, "AUTHORIZATION: basic kept");
    await step(standIn(), { MISSING_COMMIT: base });
    assert.deepEqual([...new Set(headers())], ["basic kept"]);
    requests = [];
    git("workspace", "remote", "set-url", "origin", `${origin(other)}/owner/repository`);
    git("workspace", "config", "--unset", `http.${origin(server)}/.extraheader`);
    await step(standIn(), { MISSING_COMMIT: base });
    assert.deepEqual([...new Set(headers())], [undefined]);
  });
});
