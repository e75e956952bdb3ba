//! The matcher on long texts, hostile patterns and random ones.

use std::ops::Range;

use proptest::prelude::*;

use super::backtracking::{Budget, Exhaustion};
use super::matcher::{Matcher, Outcome};
use super::syntax::Flags;

fn compile(pattern: &str) -> Matcher {
    Matcher::compile(pattern, Flags::default()).unwrap()
}

fn find(pattern: &str, text: &str) -> Outcome {
    compile(pattern).find(text, &mut Budget::new())
}

fn megabyte_of(sentence: &str) -> String {
    sentence.repeat(1024 * 1024 / sentence.len() + 1)
}

const PROSE: &str = "The mypassword of the passwords file is not é_password, nor a password1. ";

#[test]
fn nested_quantifiers_run_in_the_linear_engine() {
    let matcher = compile("(a+)+$");
    assert!(matcher.is_linear());
    let text = megabyte_of("a") + "b";
    let budget = &mut Budget::of(0);
    assert_eq!(matcher.find(&text, budget), Outcome::None);
    assert_eq!(matcher.find("aa\n", budget), Outcome::Match(0..2));
}

#[test]
fn a_catastrophic_back_reference_is_given_up() {
    let pattern = r"(a|aa)+\1$";
    let exhausted = Outcome::Exhausted {
        why: Exhaustion::Steps,
    };
    assert_eq!(find(pattern, &("a".repeat(255) + "b")), exhausted);
    assert_eq!(find(pattern, &"a".repeat(256)), Outcome::Match(0..256));
}

#[test]
fn a_text_without_a_possible_match_costs_nothing_of_the_budget() {
    let budget = &mut Budget::of(0);
    let matcher = compile("(?=a)(a+)+b");
    assert_eq!(matcher.find(&megabyte_of("a"), budget), Outcome::None);
}

#[test]
fn a_catastrophic_look_ahead_over_a_megabyte_ends() {
    // Spending is what bounds the work: the budget is gone long before the text is.
    let text = megabyte_of(&("a".repeat(5000) + "bc"));
    let budget = &mut Budget::of(2_000_000);
    let outcome = compile("(?=a)(a+)+b(?!c)").find(&text, budget);
    assert_eq!(
        outcome,
        Outcome::Exhausted {
            why: Exhaustion::Budget
        }
    );
    // A match that is longer than any slice takes all steps.
    let text = megabyte_of("a") + "b";
    let outcome = find("(?=a)(a+)+b", &text);
    assert!(!matches!(outcome, Outcome::None), "{outcome:?}");
}

#[test]
fn an_honest_look_around_finds_what_is_in_a_megabyte_of_prose() {
    let prose = megabyte_of(PROSE);
    let matcher = compile(r"(?<!\w)password(?!\w)");
    let budget = &mut Budget::new();
    assert_eq!(matcher.find(&prose, budget), Outcome::None);
    let text = format!("{prose}(password) {prose}");
    let start = prose.len() + 1;
    assert_eq!(
        matcher.find(&text, budget),
        Outcome::Match(start..start + 8)
    );
}

#[test]
fn the_budget_ends_a_pattern_that_could_match_everywhere() {
    let text = megabyte_of("ab");
    for pattern in ["a(?!b)", "(?=a)(?!ab)", r"(\w)(?!b)\1*z?(?<=aa)"] {
        let matcher = compile(pattern);
        let budget = &mut Budget::of(50_000);
        let exhausted = Outcome::Exhausted {
            why: Exhaustion::Budget,
        };
        assert_eq!(matcher.find(&text, budget), exhausted, "{pattern}");
        // The next text finds the budget as the last one left it.
        assert_eq!(matcher.find("abab", budget), exhausted, "{pattern}");
        assert_eq!(
            matcher.find("ccc", &mut Budget::new()),
            Outcome::None,
            "{pattern}"
        );
    }
}

/// Every kind of edge condition, at every distance from the edge of a core, a window or a block.
#[test]
fn edges_of_slices_are_no_edges_of_the_text() {
    let cases = [
        (r"(?:\A|^|\b)needle(?=x)", "needlex", Some(0)),
        (r"(?<!x)needle(?!.)(?s:.*?)\Z", "needle", None),
        (r"needle(?=$)", "needle", None),
        (r"(?<=\A)needle(?!z)", "needle", None),
        (r"(?<![a-z])(n)eedle(?!\w).*?\1?", "needle", Some(0)),
        (r"(?<=\. )needle(?! \.\.)", "needle", Some(0)),
        (r"(?<!\. )needle(?!z)", "needle", None),
        (r"needle(?= \.)", "needle", Some(0)),
        (r"(?m:^)needle(?!z)", "needle", None),
    ];
    for distance in (0..80).chain(940..1100).chain(65_400..65_600) {
        let before = "x. ".repeat(distance / 3) + &"é"[..2 * (distance % 2)] + ". ";
        for (pattern, needle, at) in cases {
            let text = format!("{before}{needle} . {before}{before}");
            let expected = match at {
                Some(at) => Outcome::Match(before.len() + at..before.len() + 6),
                None => Outcome::None,
            };
            assert_eq!(
                find(pattern, &text),
                expected,
                "{pattern} after {} bytes",
                before.len()
            );
        }
    }
}

#[test]
fn all_matches_come_from_left_to_right_in_every_engine() {
    let cases: [(&str, &str, &[Range<usize>]); 8] = [
        (r"\w+", "one\u{301} two", &[0..3, 6..9]),
        (r"(?<!\w)\w+(?!\w)", "one\u{301} two", &[0..3, 6..9]),
        (r"\b\w+\b", "one\u{301} two", &[0..3, 6..9]),
        (r"\b\w+\b", "one two", &[0..3, 4..7]),
        ("a*", "aéb", &[0..1, 1..1, 3..3, 4..4]),
        ("a*(?!z)", "aéb", &[0..1, 1..1, 3..3, 4..4]),
        ("a|b$", "ab\n", &[0..1, 1..2]),
        ("b", "aa", &[]),
    ];
    for (pattern, text, expected) in cases {
        let matcher = compile(pattern);
        let budget = &mut Budget::new();
        let found: Result<Vec<_>, _> = matcher.find_all(text, budget).collect();
        assert_eq!(found.unwrap(), expected, "{pattern} in {text}");
    }
    let exhausted: Vec<_> = compile("(?!b)a")
        .find_all("aab", &mut Budget::of(20))
        .collect();
    assert_eq!(exhausted, [Ok(0..1), Err(Exhaustion::Budget)]);
}

#[test]
fn patterns_that_would_take_too_much_memory_are_refused() {
    for pattern in [
        r"\w{1,1000}".to_owned(),
        r"(?:a{1000}){1000}".to_owned(),
        r"(?:(?:(?=a)b?){1000}){1000}".to_owned(),
        r"(?=a)a{30000}".to_owned(),
        r"(?<=a{2000})b".to_owned(),
        r"a{4294967294}".to_owned(),
        "(".repeat(61) + &")".repeat(61),
        "a".repeat(20_000),
    ] {
        let refused = Matcher::compile(&pattern, Flags::default());
        let why = refused
            .expect_err(&pattern[..pattern.len().min(40)])
            .to_string();
        assert!(why.len() < 120 && !why.contains('\n'), "{why}");
    }
}

#[test]
fn usual_repetitions_are_not_too_large() {
    for pattern in [
        r"\w{1,256}",
        r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}",
        r"(?<!\w)[A-Za-z0-9/+=]{40}(?!\w)",
        r"(?=.*\d)\S{8,64}",
        r"[^\n]{0,2000}",
    ] {
        let matcher = compile(pattern);
        for text in ["a", "é", "\u{301}"] {
            let outcome = matcher.find(text, &mut Budget::new());
            let given_up = matches!(outcome, Outcome::Exhausted { .. });
            assert!(!given_up, "{pattern}");
        }
    }
}

#[test]
fn nested_groups_up_to_the_limit_compile_in_both_engines() {
    let nested = "(".repeat(60) + "a" + &")*".repeat(60);
    assert_eq!(find(&nested, "aa"), Outcome::Match(0..2));
    let nested = "(?:".repeat(58) + "(a)" + &")?".repeat(58) + r"\1";
    assert_eq!(find(&nested, "aa"), Outcome::Match(0..2));
}

#[test]
fn refusals_say_where_and_what_to_write_instead() {
    let cases = [
        (
            r"a\z",
            r"bad escape \z (the end of the text is `\Z`) at character 2",
        ),
        (
            r"(?<n>a)",
            "unknown extension `(?<` (a named group is written `(?P<name>...)`) at character 1",
        ),
        (
            "a(?i)b",
            "global flags not at the start of the expression (scope them: `(?i:...)`) at character 2",
        ),
        (
            "é+*",
            "multiple repeat (put the first one in `(?:...)`) at character 3",
        ),
        (
            "(?<=a|bc)",
            "look-behind requires a fixed-width pattern (write one look-behind a width) at character 1",
        ),
        (r"(a)\2", "invalid group reference 2 at character 4"),
        ("[b-a]", "bad character range at character 2"),
        (
            r"\p{L}",
            r"bad escape \p (Python's re has no Unicode properties; list the ranges in `[...]`) at character 1",
        ),
    ];
    for (pattern, expected) in cases {
        let refused = Matcher::compile(pattern, Flags::default()).unwrap_err();
        assert_eq!(refused.to_string(), expected);
    }
}

/// Pieces of patterns, sound and unsound, between blanks.
const TOKENS: &str = r"a b . ^ $ | ( ) (?: (?= (?! (?<= (?<! (?> (?i: (?a) (?x) (?P<n> (?P=n) (?(1) (?# [ ]
    [^ - * + ? {2} {,3} {1,} { } \ \1 \2 \w \W \s \d \b \B \A \Z \N{BULLET} \x41 \u00e9 \07 é İ
    && -- [:a:] # : < > = ! ,";

fn token() -> impl Strategy<Value = String> {
    let tokens: Vec<&str> = TOKENS.split_whitespace().chain([" ", "\n"]).collect();
    prop_oneof![
        4 => prop::sample::select(tokens).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ]
}

/// Patterns that both engines can run and whose reach is bounded.
fn two_engine_pattern() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "a", "b", "é", ".", r"\w", r"\W", r"\s", r"\b", "[ab]", "[^a]", "ab", "^", r"\Z", "$",
    ]);
    leaf.prop_map(str::to_owned)
        .prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a}{b}")),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(?:{a}|{b})")),
                (
                    inner.clone(),
                    prop::sample::select(vec!["?", "{1,3}", "{2}", "??"])
                )
                    .prop_map(|(a, q)| format!("(?:{a}){q}")),
                inner.prop_map(|a| format!("(?i:{a})")),
            ]
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_pattern_and_no_text_panics(
        tokens in prop::collection::vec(token(), 0..12),
        letters in prop::collection::vec(any::<bool>(), 4),
        text in "[ab é\\n\u{301}\u{130}A1_]{0,20}",
    ) {
        let flags = Flags {
            ignore_case: letters[0],
            multi_line: letters[1],
            dot_all: letters[2],
            verbose: letters[3],
        };
        if let Ok(matcher) = Matcher::compile(&tokens.concat(), flags) {
            for text in [text.clone(), text.repeat(400)] {
                let mut from = 0;
                for found in matcher.find_all(&text, &mut Budget::new()).take(50).flatten() {
                    prop_assert!(found.start >= from && text.get(found.clone()).is_some());
                    from = found.end;
                }
            }
        }
    }

    #[test]
    fn slices_of_long_texts_give_the_answer_of_the_linear_engine(
        pattern in two_engine_pattern(),
        filler in prop::sample::select(vec!["c", "ca", "é", "c b", "\n", "c\u{301}"]),
        length in 900usize..5000,
        middle in "[ab é\\n]{0,8}",
    ) {
        let text = filler.repeat(length / filler.len()) + &middle + &filler.repeat(length);
        let answers = compile(&pattern).find_in_every_form(&text);
        prop_assert!(answers.iter().all(|answer| *answer == answers[0]), "{pattern}: {answers:?}");
    }
}
