// Finds the mcp-cassette binary that belongs to this revision of the Action and calls
// `mcp-cassette check` with it. All judgement is in the binary. Inputs come as INPUT_* variables
// and leave as single arguments: no shell sees them, here or further on. See README.md.
import { spawn, spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const BINARY = process.platform === "win32" ? "mcp-cassette.exe" : "mcp-cassette";
const MAX_REDIRECTS = 5;
const MAX_BINARY_BYTES = 256 << 20;
const DOWNLOAD_MILLISECONDS = 120_000;
const FETCH_MILLISECONDS = 300_000;
const CANNOT_RUN = 2;
const MACHINES = { x64: "x86_64", arm64: "aarch64" };
const SYSTEMS = { linux: "unknown-linux-musl", darwin: "apple-darwin", win32: "pc-windows-msvc" };

/** The asset cannot be had just now; building from source is as good. */
class Unavailable extends Error {}

const say = (text) => console.log(`mcp-cassette: ${text}`);
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");
const words = (text, blank = /\s+/) => text.split(blank).map((word) => word.trim()).filter(Boolean);

/** An input of the Action; an empty one is its default. */
const input = (name, otherwise = "") => (process.env[`INPUT_${name}`] ?? "").trim() || otherwise;

/** Whether an input has the first of the two words that it takes; the second is its default. */
function is(name, ...taken) {
  const value = input(name, taken[1]);
  if (taken.includes(value)) return value === taken[0];
  const shown = name.toLowerCase().replaceAll("_", "-");
  throw new Error(`the input ${shown} is ${JSON.stringify(value)}; it takes ${taken.join(" or ")}`);
}

/** The environment of a child without what it must not see: our inputs, the token among them. */
const environment = (without = /^INPUT_/i) =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !without.test(name)));

/** A folder for this step alone. */
function temporaryFolder(prefix) {
  if (!process.env.RUNNER_TEMP) throw new Error("RUNNER_TEMP is not set; this script is for GitHub Actions");
  return fs.mkdtempSync(path.join(process.env.RUNNER_TEMP, prefix));
}

/** The arguments of `check`, `--flag=value` for each input, so that no value is taken for a flag. */
function checkArguments(reportFolder) {
  const list = ["check", `--report-dir=${reportFolder}`];
  const add = (name, value) => value && list.push(`--${name}=${value}`);
  add("checks", words(input("CHECKS"), /[\s,]+/).join(","));
  add("base", input("BASELINE_REF", "auto"));
  for (const pack of words(input("PATTERN_PACKS"), /[\r\n]+/)) add("pattern-pack", pack);
  add("require-redaction", input("REQUIRE_REDACTION"));
  add("fail-on", input("FAIL_ON"));
  add("policy-from", input("POLICY_FROM"));
  if (is("ANNOTATIONS", "false", "true")) add("output", "text");
  if (is("SARIF", "true", "false")) add("output", `sarif=${path.join(reportFolder, "check.sarif")}`);
  // Globs stay globs: the binary matches them on both sides of the comparison.
  return [...list, "--", ...words(input("CASSETTES"))];
}

/** Where the binary of this revision is; downloads or builds it if need be. */
async function findBinary(manifest, workingDirectory) {
  const wanted = input("VERSION").replace(/^v/, "");
  if (input("BINARY_PATH")) return givenBinary(path.resolve(workingDirectory, input("BINARY_PATH")), wanted);
  if (wanted && wanted !== manifest.version) {
    throw new Error(`this revision of the Action brings mcp-cassette ${manifest.version}, not ${wanted}; pin the ` +
      `Action at v${wanted}, or set binary-path`);
  }
  const target = `${MACHINES[process.arch] ?? process.arch}-${SYSTEMS[process.platform] ?? process.platform}`;
  const asset = manifest.assets[target];
  if (!asset) return build(`there is no released binary of ${manifest.version} for ${target}`);
  try {
    return unpack(await cachedAsset(manifest, target, asset));
  } catch (error) {
    if (error instanceof Unavailable) return build(error.message);
    throw error;
  }
}

function givenBinary(binary, wanted) {
  const run = spawnSync(binary, ["--version"], { encoding: "utf8", env: environment() });
  if (run.status !== 0) throw new Error(`binary-path ${binary} cannot be run: ${run.error?.message ?? run.stderr}`);
  if (!wanted || run.stdout.trim() === `mcp-cassette ${wanted}`) return binary;
  throw new Error(`binary-path is ${run.stdout.trim()}, and the input version asks for ${wanted}`);
}

/** The asset from the tool cache or the release; either way its hash is the manifest's. */
async function cachedAsset(manifest, target, asset) {
  const cache = process.env.RUNNER_TOOL_CACHE;
  const kept = cache && path.join(cache, "mcp-cassette", manifest.version, target, asset.name);
  if (kept && fs.existsSync(kept)) {
    const bytes = fs.statSync(kept).size === asset.size ? fs.readFileSync(kept) : Buffer.alloc(0);
    if (sha256(bytes) === asset.sha256) return bytes;
    say("the copy in the tool cache is not what the manifest names; downloading it again");
  }
  const url = `${manifest.releases}/v${manifest.version}/${asset.name}`;
  const bytes = await download(url, asset.size, input("TOKEN"));
  if (sha256(bytes) !== asset.sha256) {
    throw new Error(`${url} has the SHA-256 ${sha256(bytes)}, the manifest names ${asset.sha256}; it was not run`);
  }
  if (!kept) return bytes;
  try {
    fs.mkdirSync(path.dirname(kept), { recursive: true });
    const partial = `${kept}.${randomBytes(6).toString("hex")}`;
    fs.writeFileSync(partial, bytes);
    fs.renameSync(partial, kept);
  } catch (error) {
    say(`the tool cache was not written: ${error.code}`);
  }
  return bytes;
}

/** Exactly `size` bytes. The token goes to the server that this run belongs to and nowhere else. */
async function download(from, size, token) {
  let url = new URL(from);
  const loopback = url.hostname === "127.0.0.1";
  let secret = url.origin === process.env.GITHUB_SERVER_URL ? token : "";
  for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
    if (url.protocol !== "https:" && !loopback) throw new Error(`${url.host}: downloads need HTTPS`);
    const headers = { "accept-encoding": "identity", ...(secret && { authorization: `Bearer ${secret}` }) };
    try {
      const signal = AbortSignal.timeout(DOWNLOAD_MILLISECONDS);
      const answer = await fetch(url, { headers, redirect: "manual", signal });
      const location = answer.headers.get("location");
      if (answer.status < 300 || answer.status > 399 || !location) return await bounded(answer, url, size);
      await answer.body?.cancel();
      const next = new URL(location, url);
      if (next.origin !== url.origin) secret = "";
      url = next;
    } catch (error) {
      if (!(error instanceof TypeError || error.name === "TimeoutError")) throw error;
      throw new Unavailable(`${url.host} cannot be reached: ${error.cause?.code ?? error.message}`);
    }
  }
  throw new Error(`${from}: more than ${MAX_REDIRECTS} redirects`);
}

async function bounded(answer, url, size) {
  if (!answer.ok) throw new Unavailable(`${url.host}${url.pathname} answers ${answer.status}`);
  const chunks = [];
  let taken = 0;
  for await (const chunk of answer.body ?? []) {
    taken += chunk.length;
    if (taken > size) throw new Error(`${url.host}${url.pathname} is larger than the manifest's ${size} bytes`);
    chunks.push(chunk);
  }
  if (taken < size) throw new Unavailable(`${url.host}${url.pathname} ended after ${taken} of ${size} bytes`);
  return Buffer.concat(chunks);
}

/** Unpacks a verified asset into a folder of this step. */
function unpack(bytes) {
  const binary = path.join(temporaryFolder("mcp-cassette-bin-"), BINARY);
  fs.writeFileSync(binary, gunzipSync(bytes, { maxOutputLength: MAX_BINARY_BYTES }), { mode: 0o700 });
  return binary;
}

/** Builds the sources of the Action, in their folder: cargo must read no settings of the workspace. */
function build(why) {
  const options = { cwd: ROOT, env: environment(), stdio: ["ignore", "inherit", "inherit"] };
  if (spawnSync("cargo", ["--version"], options).status !== 0) {
    throw new Error(`${why}, and no cargo on PATH to build it; install Rust in an earlier step, or set binary-path`);
  }
  say(`${why}; building it from the sources of the Action`);
  const folder = temporaryFolder("mcp-cassette-build-");
  const list = ["install", "--locked", "--no-track", "--quiet", `--path=${ROOT}`, `--root=${folder}`];
  const { status } = spawnSync("cargo", list, options);
  if (status !== 0) throw new Error(`${why}, and cargo install failed with ${status}`);
  return path.join(folder, "bin", BINARY);
}

/** One run. What it prints is kept until it is known to be the last. */
function check(binary, list, workingDirectory) {
  const env = environment(is("SUMMARY", "false", "true") ? /^(INPUT_|GITHUB_STEP_SUMMARY$)/i : /^INPUT_/i);
  return new Promise((resolve, reject) => {
    const child = spawn(binary, list, { cwd: workingDirectory, env, stdio: ["ignore", "pipe", "pipe"] });
    const [stdout, stderr] = [[], []];
    child.stdout.on("data", (chunk) => stdout.push(chunk));
    child.stderr.on("data", (chunk) => stderr.push(chunk));
    child.on("error", (error) => reject(new Error(`${binary} cannot be run: ${error.message}`)));
    child.on("close", (code) =>
      resolve({ code: code ?? CANNOT_RUN, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr) }));
  });
}

const MISSING = /^mcp-cassette check: the base commit ([\da-f]{40}) is not in this clone; run `git (-C (\S+) )?fetch/m;

/** Fetches the commit whose absence stopped a run; says whether it is there now. */
function fetchedBase(stderr, workingDirectory) {
  const [found, commit, , submodule] = stderr.match(MISSING) ?? [];
  if (!found || is("FETCH", "never", "auto")) return false;
  const env = { ...environment(/^(INPUT_|GIT_)/i), GIT_TERMINAL_PROMPT: "0" };
  // From our own folder: Windows looks a program up in the current one, and the workspace may bring a git.exe.
  const git = (list, more) => spawnSync("git", ["-C", submodule ?? workingDirectory, ...list],
    { cwd: ROOT, env: { ...env, ...more }, encoding: "utf8", timeout: FETCH_MILLISECONDS });
  const said = (list) => git(list).stdout?.trim() ?? "";
  // A shallow fetch would cut off the history of a whole clone.
  const depth = said(["rev-parse", "--is-shallow-repository"]) === "true" ? ["--depth=1"] : [];
  const list = ["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", ...depth, "origin", commit];
  const { status } = git(list, credentials(said));
  say(`git fetch of the base commit ${commit}: ${status === 0 ? "done" : "failed"}`);
  return status === 0;
}

/** Variables that give git the token, for a checkout that did not keep its credentials. */
function credentials(said) {
  const [server, token] = [process.env.GITHUB_SERVER_URL, input("TOKEN")];
  const origin = said(["remote", "get-url", "origin"]);
  if (!server || !token || !origin.startsWith(`${server}/`)) return {};
  // A checkout that kept them sends this header already, and GitHub refuses two.
  if (said(["config", "--get-urlmatch", "http.extraheader", origin])) return {};
  const header = `AUTHORIZATION: basic ${Buffer.from(`x-access-token:${token}`).toString("base64")}`;
  return { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: `http.${server}/.extraheader`, GIT_CONFIG_VALUE_0: header };
}

async function main() {
  const workingDirectory = path.resolve(input("WORKING_DIRECTORY", "."));
  if (!fs.existsSync(workingDirectory)) throw new Error(`working-directory ${workingDirectory} does not exist`);
  const reportFolder = path.resolve(workingDirectory, input("REPORT_DIR") || temporaryFolder("mcp-cassette-report-"));
  const list = checkArguments(reportFolder);
  const manifest = JSON.parse(fs.readFileSync(path.join(ROOT, "dist", "manifest.json"), "utf8"));
  const binary = await findBinary(manifest, workingDirectory);
  // Later steps of the job may call it by its name.
  if (process.env.GITHUB_PATH) fs.appendFileSync(process.env.GITHUB_PATH, `${path.dirname(binary)}\n`);
  // A name of its own for each step: the legs of a matrix upload into one run.
  fs.appendFileSync(process.env.GITHUB_OUTPUT, `artifact-name=mcp-cassette-report-${randomBytes(4).toString("hex")}\n`);
  const files = [process.env.GITHUB_OUTPUT, process.env.GITHUB_STEP_SUMMARY].filter(Boolean);
  const marks = files.map((file) => [file, fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0]);
  let run = await check(binary, list, workingDirectory);
  if (run.code === CANNOT_RUN && fetchedBase(run.stderr.toString(), workingDirectory)) {
    // Nothing of the first try stays: each try appends to these files.
    for (const [file, size] of marks) if (fs.existsSync(file)) fs.truncateSync(file, size);
    run = await check(binary, list, workingDirectory);
  }
  process.stdout.write(run.stdout);
  process.stderr.write(run.stderr);
  process.exitCode = run.code;
}

await main().catch((error) => {
  const text = error.message.replace(/%/g, "%25").replace(/\r/g, "%0D").replace(/\n/g, "%0A");
  console.log(`::error title=mcp-cassette::mcp-cassette: ${text}`);
  const outputs = ["findings=0", "errors=0", "warnings=0", `exit-code=${CANNOT_RUN}`];
  if (process.env.GITHUB_OUTPUT) fs.appendFileSync(process.env.GITHUB_OUTPUT, `${outputs.join("\n")}\n`);
  process.exitCode = CANNOT_RUN;
});
