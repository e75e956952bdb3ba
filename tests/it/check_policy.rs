//! Whose policy counts: a pull request cannot relax the gate that it has to pass.

use crate::repository::{Checked, Event, POISON, Repository, Step, tool};

const STRICT: &str = "[lint]\nfail_on = \"warning\"\n";
const PACK: &str = "version = 1\n\n[[patterns]]\nid = \"X1\"\nlabel = \"codeword\"\n\
                    regex = \"xyzzy\"\n";

/// A pull request from `main` with these files to one that has those; `None` deletes.
struct PullRequest {
    repository: Repository,
    event: Event,
}

type Files<'a> = [(&'a str, Option<&'a str>)];
/// What a case is called, the files of the base, what the change makes of them.
type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a Files<'a>);

impl PullRequest {
    fn new(base: &[(&str, &str)], head: &Files<'_>) -> Self {
        let repository = Repository::with(base);
        let main = repository.id("HEAD");
        repository.git(&["checkout", "-q", "-b", "topic"]);
        for (path, text) in head {
            match text {
                Some(text) => repository.write(path, text),
                None => repository.remove(path),
            }
        }
        repository.commit(&[]);
        let merge = repository.pull_request("main", "topic");
        repository.git(&["checkout", "-q", "--detach", &merge]);
        PullRequest {
            event: Event::pull_request(&main, &merge),
            repository,
        }
    }

    fn step(&self, arguments: &[&str]) -> Step {
        self.repository.step(&self.event, arguments)
    }

    fn checked(&self, arguments: &[&str]) -> Checked {
        self.step(arguments).checked()
    }
}

fn clean() -> String {
    tool("echo", "Returns the text.")
}

#[test]
fn a_pull_request_cannot_relax_its_own_gate() {
    let (clean, poisoned) = (clean(), tool("echo", POISON));
    let own = "[tool.mcp_cassette.lint]\nfail_on = \"warning\"\n";
    let ignore = "[lint]\nignore = [\"R001\", \"R002\"]\n[check]\nchecks = [\"redaction\"]\n\
                  base = \"none\"\ncassettes = [\"nothing/*\"]\n";
    let nested = "[tool.mcp_cassette.lint]\nignore = [\"R001\"]\n";
    let cases: [Case<'_>; 5] = [
        (
            "edits mcp-cassette.toml",
            &[("mcp-cassette.toml", STRICT)],
            &[("mcp-cassette.toml", Some(ignore))],
        ),
        (
            "deletes mcp-cassette.toml",
            &[("mcp-cassette.toml", STRICT)],
            &[("mcp-cassette.toml", None)],
        ),
        (
            "edits pyproject.toml",
            &[("pyproject.toml", own)],
            &[("pyproject.toml", Some(nested))],
        ),
        (
            "puts mcp-cassette.toml before pyproject.toml",
            &[("pyproject.toml", own)],
            &[("mcp-cassette.toml", Some(ignore))],
        ),
        (
            "brings the first configuration",
            &[],
            &[("mcp-cassette.toml", Some(ignore))],
        ),
    ];
    for (name, base, head) in cases {
        let base = [base, &[("a.mcp.json", clean.as_str())]].concat();
        let head = [head, &[("a.mcp.json", Some(poisoned.as_str()))]].concat();
        let checked = PullRequest::new(&base, &head).checked(&[]);
        let rules = checked.counting("a.mcp.json");
        for rule in ["R001", "R002", "R103"] {
            assert!(rules.contains(&rule), "{name}: {}", checked.run.all());
        }
        assert_eq!(checked.run.code, 4, "{name}: {}", checked.run.all());
        let fail_on = if base.len() > 1 { "warning" } else { "error" };
        assert_eq!(checked.json["summary"]["fail_on"], fail_on, "{name}");
    }
}

#[test]
fn a_nearer_configuration_of_the_change_does_not_relax() {
    let (clean, poisoned) = (clean(), tool("echo", POISON));
    let request = PullRequest::new(
        &[("mcp-cassette.toml", STRICT), ("sub/a.mcp.json", &clean)],
        &[
            (
                "sub/mcp-cassette.toml",
                Some("[lint]\nignore = [\"R001\"]\n"),
            ),
            ("sub/a.mcp.json", Some(&poisoned)),
        ],
    );
    let step = request.repository.step_in("sub", &request.event, &[], &[]);
    let checked = step.checked();
    assert!(
        checked.counting("a.mcp.json").contains(&"R001"),
        "{}",
        step.run.all()
    );
    assert_eq!(checked.json["summary"]["fail_on"], "warning");
    assert_eq!(step.run.code, 4);
}

#[test]
fn cassettes_that_the_base_looks_at_stay_looked_at() {
    let (clean, poisoned) = (clean(), tool("echo", POISON));
    let config = "[check]\ncassettes = [\"recordings/*.json\"]\n";
    let other = "[check]\ncassettes = [\"other/*.json\"]\n";
    for head in [None, Some(""), Some(other)] {
        let request = PullRequest::new(
            &[("mcp-cassette.toml", config), ("recordings/a.json", &clean)],
            &[
                ("mcp-cassette.toml", head),
                ("recordings/a.json", Some(&poisoned)),
            ],
        );
        let checked = request.checked(&[]);
        assert!(
            checked.counting("recordings/a.json").contains(&"R001"),
            "{head:?}"
        );
        assert_eq!(checked.run.code, 4, "{head:?}");
    }
}

#[test]
fn a_pack_of_the_base_keeps_its_patterns_whatever_the_change_makes_of_it() {
    let (clean, said) = (clean(), tool("echo", "Says xyzzy to the text."));
    let config = "[lint]\npattern_packs = [\"packs/p.toml\"]\n";
    let weak = PACK.replace("xyzzy", "plugh");
    for pack in [
        None,
        Some("version = 1\npatterns = []\n"),
        Some(weak.as_str()),
    ] {
        let request = PullRequest::new(
            &[
                ("mcp-cassette.toml", config),
                ("packs/p.toml", PACK),
                ("a.mcp.json", &clean),
            ],
            &[("packs/p.toml", pack), ("a.mcp.json", Some(&said))],
        );
        let step = request.step(&[]);
        let checked = step.checked();
        assert!(
            checked.counting("a.mcp.json").contains(&"X1"),
            "{pack:?} {}",
            step.run.all()
        );
        let note = "packs/p.toml: the pattern pack of the base is used";
        assert!(step.run.stderr.contains(note), "{}", step.run.all());
    }
}

#[cfg(unix)]
#[test]
fn a_link_in_place_of_a_directory_leads_to_no_other_pack_and_no_other_past() {
    let (clean, said) = (clean(), tool("echo", "Says xyzzy to the text."));
    let request = PullRequest::new(
        &[
            (
                "mcp-cassette.toml",
                "[lint]\npattern_packs = [\"packs/p.toml\"]\n\
                 [check]\ncassettes = [\"t/*.mcp.json\"]\n",
            ),
            ("packs/p.toml", PACK),
            ("t/a.mcp.json", &clean),
        ],
        &[
            ("packs/p.toml", None),
            ("t/a.mcp.json", None),
            ("evil/p.toml", Some("version = 1\npatterns = []\n")),
            ("evil/a.mcp.json", Some(&said)),
        ],
    );
    let repository = &request.repository;
    for link in ["packs", "t"] {
        let _ = std::fs::remove_dir(repository.root.join(link));
        std::os::unix::fs::symlink("evil", repository.root.join(link)).unwrap();
    }
    let checked = request.checked(&[]);
    assert_eq!(
        checked.statuses(),
        [("evil/a.mcp.json", "renamed", "t/a.mcp.json")],
        "{:#}",
        checked.json
    );
    let rules = checked.counting("evil/a.mcp.json");
    assert!(
        rules.contains(&"X1") && rules.contains(&"R002"),
        "{rules:?}"
    );
}

#[test]
fn what_makes_the_gate_stricter_counts_at_once() {
    let clean = clean();
    let said = tool("echo", "Says xyzzy to the text.");
    let duplicate = clean.replace("]}}}", "]}}} ");
    // A threshold: a warning now fails.
    let warned = tool("\u{435}cho", "Returns the text.");
    let request = PullRequest::new(
        &[("a.mcp.json", &clean)],
        &[
            ("mcp-cassette.toml", Some(STRICT)),
            ("a.mcp.json", Some(&duplicate)),
            ("b.mcp.json", Some(&warned)),
        ],
    );
    let checked = request.checked(&["--checks", "lint"]);
    assert!(
        checked.counting("b.mcp.json").contains(&"R007"),
        "{:#}",
        checked.json
    );
    assert_eq!(checked.run.code, 4, "{}", checked.run.all());
    // A pack, and a pattern that a pack gets.
    let config = "[lint]\npattern_packs = [\"p.toml\"]\n";
    let other = PACK.replace("X1", "Y1").replace("xyzzy", "plugh");
    let both = format!("{other}{}", &PACK[12..]);
    for base in [
        &[("a.mcp.json", clean.as_str())][..],
        &[
            ("a.mcp.json", clean.as_str()),
            ("mcp-cassette.toml", config),
            ("p.toml", other.as_str()),
        ],
    ] {
        let request = PullRequest::new(
            base,
            &[
                ("mcp-cassette.toml", Some(config)),
                ("p.toml", Some(&both)),
                ("a.mcp.json", Some(&said)),
            ],
        );
        let checked = request.checked(&[]);
        assert!(
            checked.counting("a.mcp.json").contains(&"X1"),
            "{:#}",
            checked.json
        );
    }
    // A redaction profile.
    let config = "[lint]\nrequire_redaction = \"ci\"\n";
    let request = PullRequest::new(
        &[],
        &[
            ("mcp-cassette.toml", Some(config)),
            ("a.mcp.json", Some(&clean)),
        ],
    );
    let checked = request.checked(&[]);
    assert!(
        checked.counting("a.mcp.json").contains(&"R201"),
        "{:#}",
        checked.json
    );
    assert_eq!(checked.run.code, 4);
}

#[test]
fn a_broken_configuration_or_pack_of_the_change_is_no_way_round() {
    let clean = clean();
    let config = "[lint]\npattern_packs = [\"p.toml\"]\n";
    let base = [
        ("mcp-cassette.toml", config),
        ("p.toml", PACK),
        ("a.mcp.json", &clean),
    ];
    for (path, text) in [
        ("mcp-cassette.toml", "[lint]\nignroe = []\n"),
        ("p.toml", "version = 1\n[[patterns]]\nid = \"X1\"\n"),
    ] {
        let step = PullRequest::new(&base, &[(path, Some(text))]).step(&[]);
        assert_eq!(step.run.code, 2, "{}", step.run.all());
        assert!(step.run.stderr.contains(path), "{}", step.run.all());
    }
}

/// The entry that accepts the first finding of a rule.
fn entry(checked: &Checked, rule: &str) -> String {
    let findings = checked.cassettes().flat_map(|cassette| {
        let findings = cassette["findings"].as_array();
        findings.into_iter().flatten()
    });
    let finding = findings
        .into_iter()
        .find(|finding| finding["rule"] == rule)
        .unwrap_or_else(|| panic!("no {rule} in {:#}", checked.json));
    let fingerprint = &finding["fingerprint"];
    format!("[[accept]]\nrule = \"{rule}\"\nfingerprint = {fingerprint}\nreason = \"ours\"\n")
}

#[test]
fn an_accept_entry_counts_once_it_is_merged() {
    let (clean, poisoned) = (clean(), tool("echo", POISON));
    let first = PullRequest::new(
        &[("a.mcp.json", &clean)],
        &[("b.mcp.json", Some(&poisoned))],
    );
    let accept = entry(&first.checked(&[]), "R001");

    let own = [
        ("mcp-cassette.toml", Some(accept.as_str())),
        ("b.mcp.json", Some(poisoned.as_str())),
    ];
    let request = PullRequest::new(&[("a.mcp.json", &clean)], &own);
    let step = request.step(&[]);
    let checked = step.checked();
    let findings = checked.findings("b.mcp.json");
    assert!(
        findings.contains(&("R001", "pending-accept")),
        "{findings:?}"
    );
    assert_eq!(step.run.code, 4, "{}", step.run.all());
    for text in [&step.run.stdout, &step.summary] {
        assert!(text.contains("merge the entry first"), "{text}");
        assert!(text.contains("policy-from: head"), "{text}");
    }

    let checked = request.checked(&["--policy-from", "head"]);
    assert!(
        checked
            .findings("b.mcp.json")
            .contains(&("R001", "accepted"))
    );
    assert_eq!(checked.run.code, 0, "{}", checked.run.all());

    let merged = [
        ("a.mcp.json", clean.as_str()),
        ("mcp-cassette.toml", &accept),
    ];
    let request = PullRequest::new(&merged, &own[1..]);
    let checked = request.checked(&[]);
    assert!(
        checked
            .findings("b.mcp.json")
            .contains(&("R001", "accepted"))
    );
    assert_eq!(checked.json["summary"]["accepted"], 1);
    assert_eq!(checked.run.code, 0, "{}", checked.run.all());
}

#[test]
fn an_entry_that_nothing_needs_any_more_is_noted() {
    let repository = Repository::with(&[("a.mcp.json", &clean())]);
    let accept = "[[accept]]\nrule = \"R001\"\nfingerprint = \"v1:0123456789abcdef\"\n\
                  reason = \"was ours\"\n";
    repository.write("mcp-cassette.toml", accept);
    let note = "the accept entry for R001 v1:0123456789abcdef matches no finding any more";
    let run = repository.run(&["check"]);
    assert!(run.stderr.contains(note), "{}", run.all());
    assert_eq!(run.code, 0);
    // Of one cassette nobody knows whether another needs it.
    let run = repository.run(&["check", "a.mcp.json"]);
    assert!(!run.stderr.contains(note), "{}", run.all());
}

#[test]
fn what_the_base_has_too_does_not_count_until_its_text_changes() {
    let poisoned = tool("echo", POISON);
    let moved = format!("\n\n\n{}", poisoned.replace(", ", ",\n      "));
    let changed = poisoned.replace("about this", "about that");
    for (name, text, existing) in [("moved", &moved, true), ("changed", &changed, false)] {
        let request = PullRequest::new(&[("a.mcp.json", &poisoned)], &[("a.mcp.json", Some(text))]);
        let checked = request.checked(&[]);
        let status = if existing { "existing" } else { "new" };
        let findings = checked.findings("a.mcp.json");
        assert!(findings.contains(&("R001", status)), "{name}: {findings:?}");
        let code = if existing { 0 } else { 4 };
        assert_eq!(checked.run.code, code, "{name}: {}", checked.run.all());
        let checked = request.checked(&["--all"]);
        assert!(checked.findings("a.mcp.json").contains(&("R001", "new")));
        assert_eq!(checked.run.code, 4, "{name}");
    }
}

#[test]
fn what_was_not_checked_is_never_existing_and_never_accepted() {
    let deep = format!("{}1{}", "[".repeat(20_000), "]".repeat(20_000));
    let text = tool("echo", "Returns the text.").replace(
        r#""type": "object","#,
        &format!(r#""type": "object", "default": {deep},"#),
    );
    let other = text.replace("Returns", "returns");
    for head in [&text, &other] {
        let request = PullRequest::new(
            &[("a.mcp.json", &text)],
            &[("a.mcp.json", Some(head)), ("x.txt", Some(""))],
        );
        let checked = request.checked(&["--checks", "lint"]);
        let findings = checked.findings("a.mcp.json");
        assert!(findings.contains(&("R013", "new")), "{findings:?}");
        assert_eq!(checked.run.code, 4, "{}", checked.run.all());
        let accept = entry(&checked, "R013");
        request.repository.write("mcp-cassette.toml", accept);
        let checked = request.checked(&["--checks", "lint", "--policy-from", "head"]);
        assert!(checked.findings("a.mcp.json").contains(&("R013", "new")));
        assert_eq!(checked.run.code, 4);
    }
}

#[test]
fn a_file_to_compare_with_leaves_the_policy_with_the_base() {
    let (clean, poisoned) = (clean(), tool("echo", POISON));
    let request = PullRequest::new(
        &[("mcp-cassette.toml", STRICT), ("old.json", &clean)],
        &[
            ("mcp-cassette.toml", Some("[lint]\nignore = [\"R001\"]\n")),
            ("a.mcp.json", Some(&poisoned)),
        ],
    );
    let step = request.step(&["--baseline", "old.json", "a.mcp.json"]);
    let checked = step.checked();
    assert!(
        checked.counting("a.mcp.json").contains(&"R001"),
        "{}",
        step.run.all()
    );
    assert_eq!(checked.json["summary"]["fail_on"], "warning");
    assert_eq!(checked.reason(), "--baseline old.json");
    let arguments = [
        "--baseline",
        "old.json",
        "a.mcp.json",
        "--policy-from",
        "head",
    ];
    let checked = request.checked(&arguments);
    assert!(!checked.counting("a.mcp.json").contains(&"R001"));
}

#[test]
fn the_policy_of_the_base_needs_a_base() {
    let repository = Repository::with(&[("a.mcp.json", &clean())]);
    let run = repository.run(&["check", "--policy-from", "base"]);
    assert_eq!(run.code, 2, "{}", run.all());
    assert!(
        run.stderr.contains("--policy-from base needs a base"),
        "{}",
        run.all()
    );
}
