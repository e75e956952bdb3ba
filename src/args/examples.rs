//! What stands below the long help: command lines to start from, and why.

/// `mcp-cassette --help`, at most 24 lines of 80 columns. The options are those of every
/// command, whose help describes them.
pub(super) const SCREEN: &str = "\
Record MCP sessions, replay them in tests, and gate them in CI

  mcp-cassette record --cassette a.mcp.json -- npx -y a-server  (or --url URL)
  mcp-cassette serve a.mcp.json     the same for the client, without the server
  mcp-cassette check --base main    would this branch pass the gate?

Commands:
{subcommands}

Options: -h/--help, after a command too, with examples; -V/--version;
         -q/--quiet, -v/--verbose, --color auto|always|never
Exit codes: 0 all is well, 2 it could not run, 3 a request was not recorded,
            4 findings, 5 differences; record --help has those of recordings";

/// Below the man page of the program.
pub(super) const TOP: &str = "\
Examples:
  mcp-cassette record --cassette session.mcp.json -- npx -y some-server
      The server, for a client, with everything written down.
  mcp-cassette serve session.mcp.json
      The same for the client, without the server.
  mcp-cassette check --base main
      Would the cassettes of this branch pass the gate of a pull request?
  mcp-cassette lint tests/cassettes/*.mcp.json
      Is anything hostile in what our servers said?
  mcp-cassette diff old.mcp.json new.mcp.json --tools-only
      What did the new version of the server change about its tools?
  mcp-cassette inspect session.mcp.json --timeline
      What happened in this session, message by message?

Exit codes:
  0    success; for the gate, nothing at or above --fail-on
  2    it could not run: usage, unreadable or malformed file, unknown rule id
  3    serve: a request was not in the recording
  4    lint, redaction-check: a finding at or above --fail-on, or another redaction
       profile
  5    diff: the cassettes differ";

/// Below `mcp-cassette record --help`.
pub(super) const RECORD: &str = "\
Examples:
  mcp-cassette record --cassette tests/files.mcp.json -- npx -y some-server /data
      What a client starts instead of `npx -y some-server /data`.
  printf '%s\\n' \"$INITIALIZE\" \"$LIST\" | mcp-cassette record --cassette c.mcp.json -- ./server
      Requests from a script: it waits until all of them are answered.
  mcp-cassette record --cassette c.mcp.json --redact '*account*' -- ./server
      Also scrub what is called account.
  mcp-cassette record --cassette c.mcp.json --url https://example.com/mcp --header 'X-Api-Key: 1'
      A server over HTTP: the client connects to the address that is printed, and Ctrl-C ends it.

Exit codes:
  2    it could not run: usage, no place for the cassette, or no server at --url
  6    another process is recording into the same cassette
  74   everything was passed on, but the recording could not be saved
  126  the server command cannot be executed
  127  the server command was not found
  130  ended by a signal, after the cassette was saved
  other  the server's own; 128+N if signal N ended it, 0 if we ended it after the
         client had left";

/// Below `mcp-cassette serve --help`.
pub(super) const SERVE: &str = "\
Examples:
  mcp-cassette serve tests/files.mcp.json
      What a client starts instead of the server that was recorded.
  mcp-cassette serve tests/files.mcp.json --ignore-param /params/arguments/now
      Calls match whatever the argument `now` is; misses show such pointers.
  mcp-cassette serve tests/files.mcp.json --faults slow.json
      With what should go wrong: delays, errors, broken lines (see docs/guide/faults.md).
  mcp-cassette serve tests/files.mcp.json --pace recorded --pace-scale 0.5
      Twice as fast as it was recorded.
  mcp-cassette serve tests/files.mcp.json --new-episodes -- npx -y some-server /data
      What was not recorded is asked of the real server and added.
  mcp-cassette serve tests/remote.mcp.json --new-episodes --url https://example.com/mcp
      The same over HTTP.

Exit codes:
  0    every request was answered from the recording, or by the real server
  2    it could not run: usage, or a file that cannot be read
  3    at least one request was unmatched
  6    another process writes the cassette (--new-episodes)
  74   what the real server said could not be saved
  130  a signal ended it, after what was added was saved";

/// Below `mcp-cassette lint --help`.
pub(super) const LINT: &str = "\
Examples:
  mcp-cassette lint session.mcp.json
      Findings with the line of the file; exit 4 if one of them is an error.
  mcp-cassette lint new.mcp.json --baseline old.mcp.json
      Also report tools whose definition is no longer that of old.mcp.json. What
      old.mcp.json has already is shown and does not count, unless --all.
  mcp-cassette lint *.mcp.json --fail-on warning --output json=lint.json
      Text on the terminal, JSON in a file; warnings fail too.
  mcp-cassette lint session.mcp.json --pattern-pack team.toml --ignore R006
      Add the patterns of a team, leave out one rule.
  mcp-cassette lint -- -odd-name.mcp.json
      A file whose name begins with a dash.

Configuration: mcp-cassette.toml, or [tool.mcp_cassette] in pyproject.toml, the
nearest one from the working directory up to the root of the repository:

  [lint]
  fail_on = \"warning\"
  ignore = [\"R006\"]
  pattern_packs = [\"lint/team.toml\"]

  [[accept]]            # one finding that somebody has looked at
  rule = \"R011\"
  fingerprint = \"v1:0123456789abcdef\"
  reason = \"the vendor's own advice, reviewed\"
  expires = 2027-01-31";

/// Below `mcp-cassette check --help`.
pub(super) const CHECK: &str = "\
Examples:
  mcp-cassette check
      Every *.mcp.json below this directory: lint and redaction. On GitHub Actions
      and under pre-commit also against the base, which is found by itself.
  mcp-cassette check --base main
      What would a pull request against main be told?
  mcp-cassette check 'tests/**/*.mcp.json' --checks lint --output sarif=lint.sarif
      Only lint, with a file for code scanning; the glob is expanded here, so that
      it also finds cassettes that were deleted or renamed.
  mcp-cassette check --base main --output accept >> mcp-cassette.toml
      The entries for what failed and is to stay; write a reason into each.

The verdict is that of the worst part:
  2    something could not be read or compared, so nothing is passed unseen
  4    lint: a finding at or above --fail-on; redaction: anything at all
  5    what a server offers has moved, or at --fail-on warning a cassette is gone
  0    none of these

Findings that the base side has already are shown and do not count (--all counts
them). A finding or change that is meant to stay is accepted by its fingerprint:
[[accept]] in the configuration, see lint --help.

Configuration:
  [check]
  cassettes = [\"tests/cassettes/**/*.mcp.json\"]
  checks = [\"lint\", \"redaction\"]
  base = \"main\"";

/// Below `mcp-cassette diff --help`.
pub(super) const DIFF: &str = "\
Examples:
  mcp-cassette diff old.mcp.json new.mcp.json
      Everything that moved; exit 5 if anything did.
  mcp-cassette diff old.mcp.json new.mcp.json --tools-only
      Only what the server offers: the gate for a new version of it.
  mcp-cassette diff tests/*.mcp.json --base main --tools-only
      Each cassette with what it was where HEAD left main.
  mcp-cassette diff old.mcp.json new.mcp.json --format json
      For scripts; \"identical\" is true exactly when the exit code is 0.";

/// Below `mcp-cassette redaction-check --help`.
pub(super) const REDACTION_CHECK: &str = "\
Examples:
  mcp-cassette redaction-check tests/cassettes/*.mcp.json
      Is anything left that redaction should have taken out?
  mcp-cassette redaction-check strict tests/cassettes/*.mcp.json
      The same, and fail on a cassette that was not scrubbed under the profile `strict`.
  mcp-cassette redaction-check session.mcp.json --pii-pack team.toml
      The manifest names a pack by its hash; here is the file.

Reports show at most six characters of what was found.";

/// Below `mcp-cassette redact --help`.
pub(super) const REDACT: &str = "\
Examples:
  mcp-cassette redact session.mcp.json --dry-run
      What would be replaced, where, and by which rule?
  mcp-cassette redact session.mcp.json --in-place --redact-profile strict
      Scrub the file and say so in its manifest.
  mcp-cassette redact session.mcp.json --to clean.mcp.json --redact 'customer_*' \\
      --redact /params/arguments/q=QUERY
      Two more places: members by a glob, a value by its JSON pointer in the payload.
  mcp-cassette redact session.mcp.json --in-place --pii-pack team.toml
      Patterns of a team:

        version = 1
        id = \"team\"
        [[rules]]
        id = \"ticket\"
        label = \"TICKET\"
        regex = 'TICKET-\\d+'

A cassette that was committed before stays in the history of the repository: revoke keys.";

/// Below `mcp-cassette inspect --help`.
pub(super) const INSPECT: &str = "\
Examples:
  mcp-cassette inspect session.mcp.json
      How many messages of which method, and how long it took.
  mcp-cassette inspect session.mcp.json --timeline --grep '\"name\":\"search\"'
      The messages that speak of one tool. Payloads are searched as compact JSON:
      no white space between tokens.
  mcp-cassette inspect session.mcp.json --tools
      The tools that the server offered.
  mcp-cassette inspect session.mcp.json --format json
      The same numbers for a script.";

/// Below `mcp-cassette completions --help`.
pub(super) const COMPLETIONS: &str = "\
Examples:
  mcp-cassette completions bash > ~/.local/share/bash-completion/completions/mcp-cassette
  mcp-cassette completions zsh > ~/.zfunc/_mcp-cassette
  mcp-cassette completions fish > ~/.config/fish/completions/mcp-cassette.fish";

/// Below `mcp-cassette man --help`.
pub(super) const MAN: &str = "\
Examples:
  mcp-cassette man > ~/.local/share/man/man1/mcp-cassette.1
  mcp-cassette man record > ~/.local/share/man/man1/mcp-cassette-record.1";
