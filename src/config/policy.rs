//! Whose policy: what a change proposes for its own gate counts only where it is
//! stricter than what the base says (contract.md, "Whose policy").

use super::{Accept, Check, Config, EntropySettings, LintSettings, RuleList};
use std::path::PathBuf;

/// The settings that a change is judged by: those of the base, and those of the
/// change itself where they are stricter.
///
/// `known` are the ids of all rules and pack patterns that there are. Accept entries
/// count if both sides have them; see [`pending`] for the others. The packs are those
/// of the base first, then those that only the change names.
pub(crate) fn stricter(base: &LintSettings, head: &LintSettings, known: &[String]) -> LintSettings {
    let applied: Vec<String> = known
        .iter()
        .filter(|id| base.applies(id) || head.applies(id))
        .cloned()
        .collect();
    let select = if applied.len() == known.len() {
        RuleList::default()
    } else {
        RuleList {
            ids: applied,
            origin: "the configuration of the base".to_owned(),
        }
    };
    LintSettings {
        select,
        ignore: RuleList::default(),
        pattern_packs: packs(base, head),
        fail_on: base.fail_on.min(head.fail_on),
        require_redaction: base
            .require_redaction
            .clone()
            .or_else(|| head.require_redaction.clone()),
        entropy: EntropySettings {
            enabled: base.entropy.enabled || head.entropy.enabled,
            min_bits: base.entropy.min_bits.min(head.entropy.min_bits),
            min_length: base.entropy.min_length.min(head.entropy.min_length),
            allow: both(&base.entropy.allow, &head.entropy.allow),
        },
        accept: accepted(base, head).0,
    }
}

/// The accept entries that only the change itself has.
pub(crate) fn pending(base: &LintSettings, head: &LintSettings) -> Vec<Accept> {
    accepted(base, head).1
}

/// The entries of the change that the base has too, and those that it has not. Each
/// entry of the base stands for one: of a copy that the change adds, the base says nothing.
fn accepted(base: &LintSettings, head: &LintSettings) -> (Vec<Accept>, Vec<Accept>) {
    let mut left: Vec<&Accept> = base.accept.iter().collect();
    let (mut known, mut new) = (Vec::new(), Vec::new());
    for entry in &head.accept {
        match left.iter().position(|other| same(other, entry)) {
            Some(place) => {
                left.remove(place);
                known.push(entry.clone());
            }
            None => new.push(entry.clone()),
        }
    }
    (known, new)
}

/// The packs of the base in its order, then those that only the change names.
pub(crate) fn packs(base: &LintSettings, head: &LintSettings) -> Vec<PathBuf> {
    let mut packs = base.pattern_packs.clone();
    for pack in &head.pattern_packs {
        if !packs.contains(pack) {
            packs.push(pack.clone());
        }
    }
    packs
}

/// The checks that either side names; none if one side leaves it to the default,
/// which is all of them.
pub(crate) fn checks(base: &Config, head: &Config) -> Option<Vec<Check>> {
    union(base.check.checks.as_deref(), head.check.checks.as_deref())
}

fn union<T: Clone + PartialEq>(base: Option<&[T]>, head: Option<&[T]>) -> Option<Vec<T>> {
    let mut all = base?.to_vec();
    for entry in head? {
        if !all.contains(entry) {
            all.push(entry.clone());
        }
    }
    Some(all)
}

fn both(base: &[String], head: &[String]) -> Vec<String> {
    base.iter()
        .filter(|entry| head.contains(entry))
        .cloned()
        .collect()
}

/// Whether two entries accept the same finding for as long. A later day of expiry in
/// the change is an entry of its own.
fn same(base: &Accept, head: &Accept) -> bool {
    let lasts = |entry: &Accept| entry.expires.clone().unwrap_or_else(|| "9999-12-31".into());
    base.rule == head.rule && base.fingerprint == head.fingerprint && lasts(head) <= lasts(base)
}

impl LintSettings {
    /// Whether a rule runs: all do if none is selected, and selecting wins over ignoring.
    fn applies(&self, id: &str) -> bool {
        let named = |list: &RuleList| list.ids.iter().any(|entry| entry == id);
        if self.select.ids.is_empty() {
            !named(&self.ignore)
        } else {
            named(&self.select)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::LintFlags;
    use super::*;
    use crate::finding::Severity;
    use std::path::Path;

    fn config(text: &str) -> Config {
        super::super::parse(Path::new("mcp-cassette.toml"), text.as_bytes())
            .unwrap()
            .unwrap()
    }

    fn settings(text: &str) -> LintSettings {
        LintSettings::merge(&config(text), &LintFlags::default())
    }

    fn known() -> Vec<String> {
        ["R001", "R002", "R003"].map(String::from).to_vec()
    }

    #[test]
    fn a_change_cannot_switch_rules_off_and_may_switch_them_on() {
        let all = settings("");
        for relaxed in [
            "[lint]\nselect = [\"R003\"]",
            "[lint]\nignore = [\"R001\", \"R002\"]",
        ] {
            assert!(
                stricter(&all, &settings(relaxed), &known())
                    .select
                    .ids
                    .is_empty()
            );
            // The other way round the change is the stricter side.
            assert!(
                stricter(&settings(relaxed), &all, &known())
                    .select
                    .ids
                    .is_empty()
            );
        }
        let one = settings("[lint]\nselect = [\"R001\"]");
        let other = settings("[lint]\nignore = [\"R001\", \"R002\"]");
        assert_eq!(
            stricter(&one, &other, &known()).select.ids,
            ["R001", "R003"]
        );
    }

    #[test]
    fn thresholds_are_the_lower_ones() {
        let base = settings(
            "[lint]\nfail_on = \"warning\"\nrequire_redaction = \"ci\"\n\
             [lint.entropy]\nmin_bits = 3.0\nmin_length = 24\nallowlist = [\"a\", \"b\"]",
        );
        let head = settings(
            "[lint]\nfail_on = \"error\"\nrequire_redaction = \"none\"\n\
             [lint.entropy]\nenabled = false\nmin_bits = 7.5\nmin_length = 20\nallowlist = [\"b\", \"c\"]",
        );
        let merged = stricter(&base, &head, &known());
        assert_eq!(merged.fail_on, Severity::Warning);
        assert_eq!(merged.require_redaction.as_deref(), Some("ci"));
        assert_eq!(
            merged.entropy,
            EntropySettings {
                enabled: true,
                min_bits: 3.0,
                min_length: 20,
                allow: vec!["b".into()],
            }
        );
    }

    fn accept(fingerprint: char, expires: &str) -> String {
        let digits = fingerprint.to_string().repeat(16);
        format!(
            "[[accept]]\nrule = \"R001\"\nfingerprint = \"v1:{digits}\"\nreason = \"r\"\n{expires}\n"
        )
    }

    #[test]
    fn an_accept_entry_counts_once_both_sides_have_it() {
        let base = settings(&(accept('a', "") + &accept('b', "")));
        let head = settings(&(accept('b', "") + &accept('c', "")));
        let prints = |entries: Vec<Accept>| -> Vec<char> {
            entries
                .iter()
                .filter_map(|entry| entry.fingerprint.chars().last())
                .collect()
        };
        assert_eq!(prints(stricter(&base, &head, &known()).accept), ['b']);
        assert_eq!(prints(pending(&base, &head)), ['c']);
    }

    #[test]
    fn a_copy_of_an_entry_is_one_of_its_own() {
        let base = settings(&accept('a', ""));
        let head = settings(&(accept('a', "") + &accept('a', "")));
        assert_eq!(stricter(&base, &head, &known()).accept.len(), 1);
        assert_eq!(pending(&base, &head).len(), 1);
    }

    #[test]
    fn a_change_cannot_make_an_entry_last_longer() {
        let dated = |day: &str| settings(&accept('a', &format!("expires = {day}")));
        let (early, late) = (dated("2030-01-01"), dated("2031-01-01"));
        assert!(stricter(&early, &late, &known()).accept.is_empty());
        assert_eq!(pending(&early, &late).len(), 1);
        assert_eq!(stricter(&late, &early, &known()).accept.len(), 1);
        assert!(pending(&late, &early).is_empty());
    }

    #[test]
    fn packs_add_up_and_checks_cannot_shrink() {
        let base = config("[lint]\npattern_packs = [\"a.toml\"]");
        let head = config("[lint]\npattern_packs = [\"b.toml\"]\n[check]\nchecks = [\"lint\"]");
        let merge = |config| LintSettings::merge(config, &LintFlags::default());
        assert_eq!(
            packs(&merge(&base), &merge(&head)),
            [PathBuf::from("a.toml"), PathBuf::from("b.toml")]
        );
        // The base runs all checks, so the change does too.
        assert_eq!(checks(&base, &head), None);
    }
}
