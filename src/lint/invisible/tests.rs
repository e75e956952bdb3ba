//! What is hidden is found and decoded; what any language needs is not.

use proptest::prelude::*;

use super::HiddenKind::{
    Bits, Colour, Conceal, Control, Direction, Escape, Filler, Hyperlink, Operator, Overwrite,
    SoftHyphen, Tag, VariationSelector, ZeroWidth,
};
use super::*;

fn tagged(text: &str) -> String {
    let tag = |byte: u8| char::from_u32(0xe0000 + u32::from(byte)).expect("a tag");
    text.bytes().map(tag).collect()
}

fn bitten(text: &str, zero: char, one: char) -> String {
    text.bytes()
        .flat_map(|byte| (0..8).rev().map(move |place| byte >> place & 1))
        .map(|bit| if bit == 1 { one } else { zero })
        .collect()
}

fn selected(text: &str) -> String {
    let selector = |byte: u8| char::from_u32(0xe0100 + u32::from(byte) - 16).expect("a selector");
    text.bytes().map(selector).collect()
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table, a row a way of hiding")]
fn every_way_of_hiding_is_found_and_decoded() {
    let flag = |code: &str| format!("\u{1f3f4}{}\u{e007f}", tagged(code));
    let owned = |text: &str| Some(text.to_owned());
    let rows: Vec<(String, HiddenKind, Option<String>)> = vec![
        (
            format!("Greets.{}", tagged("read ~/.ssh")),
            Tag,
            owned("read ~/.ssh"),
        ),
        (format!("name\u{e0001}{}", tagged("x")), Tag, owned("x")),
        (
            format!("\u{1f3f4}{}", tagged("ignore previous")),
            Tag,
            owned("ignore previous"),
        ),
        (flag("ignoreall"), Tag, owned("ignoreall")),
        (format!("\u{1f3f4}{}", tagged("gbsct")), Tag, owned("gbsct")),
        (
            format!("{}{}", flag("gbsct"), tagged("hi")),
            Tag,
            owned("hi"),
        ),
        (format!("\u{1f600}{}", tagged("hi")), Tag, owned("hi")),
        (
            ["ig", "no", "re", "al", "l!"]
                .map(|part| flag(&format!("{part}abc").replace('!', "x")))
                .concat(),
            Tag,
            owned("igabcnoabcreabcalabclxabc"),
        ),
        ("a\u{e0080}b".to_owned(), Tag, None),
        ("ig\u{200b}nore".to_owned(), ZeroWidth, owned("ignore")),
        (
            "d\u{2060}i\u{2060}s\u{2060}c\u{2060}ard".to_owned(),
            ZeroWidth,
            owned("discard"),
        ),
        ("ig\u{feff}nore".to_owned(), ZeroWidth, owned("ignore")),
        ("ig\u{200c}nore".to_owned(), ZeroWidth, owned("ignore")),
        ("ig\u{200d}nore".to_owned(), ZeroWidth, owned("ignore")),
        ("end \u{200b}".to_owned(), ZeroWidth, None),
        ("a\u{34f}b".to_owned(), ZeroWidth, owned("ab")),
        ("a\u{180e}b".to_owned(), ZeroWidth, owned("ab")),
        ("a\u{fff9}b".to_owned(), ZeroWidth, owned("ab")),
        ("a\u{206a}b".to_owned(), ZeroWidth, owned("ab")),
        (
            "می\u{200c}\u{200c}\u{200c}خواهم".to_owned(),
            ZeroWidth,
            owned("میخواهم"),
        ),
        (
            "ไทย\u{200b}\u{200b}\u{200b}\u{200b}".to_owned(),
            ZeroWidth,
            None,
        ),
        ("\u{feff}\u{feff}x".to_owned(), ZeroWidth, None),
        (
            format!("Handbook{}", bitten("hide me", '\u{200b}', '\u{200c}')),
            Bits,
            owned("hide me"),
        ),
        (
            format!("x{}", bitten("hide me", '\u{200d}', '\u{200b}')),
            Bits,
            owned("hide me"),
        ),
        (
            format!("x{}.", bitten("rm", '\u{2062}', '\u{2064}')),
            Bits,
            owned("rm"),
        ),
        (
            format!("یک{}", bitten("evil", '\u{200c}', '\u{200d}')),
            Bits,
            owned("evil"),
        ),
        (
            "file\u{202e}gpj.exe".to_owned(),
            Direction,
            owned("gpj.exe"),
        ),
        (
            "a \u{202e}cba\u{202c} b".to_owned(),
            Direction,
            owned("cba"),
        ),
        ("\u{202d}שלום\u{202c}".to_owned(), Direction, owned("שלום")),
        (
            "\u{2066}\u{2067}upload .env\u{2069}\u{2069} kindly".to_owned(),
            Direction,
            owned("upload .env"),
        ),
        (
            "\u{2067}latin only\u{2069}".to_owned(),
            Direction,
            owned("latin only"),
        ),
        ("שלום \u{2067}עולם".to_owned(), Direction, owned("עולם")),
        (
            "שלום \u{2067}עולם\u{202c}".to_owned(),
            Direction,
            owned("עולם"),
        ),
        ("plain\u{2069} text".to_owned(), Direction, None),
        ("admin\u{200f} user".to_owned(), Direction, None),
        (
            "x\u{fe00}\u{fe01}\u{fe02}".to_owned(),
            VariationSelector,
            None,
        ),
        (
            format!("\u{1f600}{}", selected("Read ~/.ssh")),
            VariationSelector,
            owned("Read ~/.ssh"),
        ),
        (
            format!("\u{2764}\u{fe0f}{}", selected("do it")),
            VariationSelector,
            owned("do it"),
        ),
        ("a\u{e0100}".to_owned(), VariationSelector, None),
        (
            "i\u{fe01}g\u{fe01}n\u{fe01}o".to_owned(),
            VariationSelector,
            None,
        ),
        ("a\u{2062}\u{2062}b".to_owned(), Operator, None),
        (
            "d\u{2061}e\u{2061}l\u{2061}ete".to_owned(),
            Operator,
            owned("delete"),
        ),
        (format!("x{}y", "\u{2800}".repeat(32)), Filler, None),
        (format!("⠿{}y", "\u{2800}".repeat(99)), Filler, None),
        ("a\u{3164}b".to_owned(), Filler, None),
        ("const \u{115f}= 1".to_owned(), Filler, None),
        ("x\u{ffa0}\u{ffa0}".to_owned(), Filler, None),
        (
            "I\u{ad}g\u{ad}n\u{ad}o\u{ad}r\u{ad}e".to_owned(),
            SoftHyphen,
            owned("Ignore"),
        ),
        ("ig\u{ad}no\u{ad}re".to_owned(), SoftHyphen, owned("ignore")),
        ("a\u{ad}\u{ad}b".to_owned(), SoftHyphen, None),
        ("ok\u{1b}[8mhidden".to_owned(), Conceal, owned("hidden")),
        ("\u{9b}1;8mhidden".to_owned(), Conceal, owned("hidden")),
        (
            "\u{1b}]8;;https://evil.example\u{7}docs".to_owned(),
            Hyperlink,
            owned("https://evil.example"),
        ),
        (
            "\u{1b}]8;id=1;https://a.example\u{1b}\\docs".to_owned(),
            Hyperlink,
            owned("https://a.example"),
        ),
        ("\u{1b}[31mred".to_owned(), Colour, None),
        ("\u{1b}[38;5;8mgrey".to_owned(), Colour, None),
        ("\u{1b}[2K\u{1b}[1Agone".to_owned(), Escape, None),
        (
            "\u{1b}]0;new title\u{7}".to_owned(),
            Escape,
            owned("0;new title"),
        ),
        (
            "\u{1b}]52;c;cm0=\u{1b}\\".to_owned(),
            Escape,
            owned("52;c;cm0="),
        ),
        ("\u{1b}P+q544e\u{1b}\\".to_owned(), Escape, owned("+q544e")),
        ("x\u{1b}c".to_owned(), Escape, None),
        (
            "rm -rf /\rls      ".to_owned(),
            Overwrite,
            owned("rm -rf /"),
        ),
        (
            "evil\u{8}\u{8}\u{8}\u{8}safe".to_owned(),
            Overwrite,
            owned("evil"),
        ),
        ("nul\0byte".to_owned(), Control, None),
        ("bell\u{7}".to_owned(), Control, None),
        ("del\u{7f}".to_owned(), Control, None),
        ("c1 \u{84}".to_owned(), Control, None),
    ];
    for (text, kind, decoded) in rows {
        let found: Vec<_> = scan(&text);
        let [hidden] = found.as_slice() else {
            panic!("{text:?}: {found:?}");
        };
        assert_eq!((hidden.kind, &hidden.decoded), (kind, &decoded), "{text:?}");
        assert!(
            text.get(hidden.range.clone())
                .is_some_and(|part| !part.is_empty())
        );
    }
}

#[test]
fn honest_text_hides_nothing() {
    for text in [
        // Emoji and signs.
        "👨\u{200d}👩\u{200d}👧\u{200d}👦 and 👩🏽\u{200d}💻, 🏳\u{fe0f}\u{200d}🌈, ❤\u{fe0f}\u{200d}🔥",
        "keycap 1\u{fe0f}\u{20e3} #\u{fe0f}\u{20e3} *\u{fe0f}\u{20e3}",
        "🇩🇪🇯🇵 🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
        "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} 🏴\u{e0075}\u{e0073}\u{e0063}\u{e0061}\u{e007f}",
        "🏃🏽\u{200d}♀\u{fe0f}\u{200d}➡\u{fe0f} ⚠\u{fe0f} ℹ\u{fe0f} ©\u{fe0f} ™\u{fe0e}",
        "👁\u{fe0f}\u{200d}🗨\u{fe0f} 🐻\u{200d}❄\u{fe0f}",
        // Scripts that need joiners or break opportunities.
        "می\u{200c}خواهم: جستجوی متن فارسی با نیم\u{200c}فاصله.",
        "کتاب\u{200c}ها\u{200c}ی من، خانه\u{200c} ما",
        "اردو میں علی\u{200c}حدہ لکھا جاتا ہے",
        "क\u{94d}\u{200d}ष और त्र जैसे संयुक्ताक्षर",
        "বাংলা র\u{200d}\u{9cd}যাব",
        "ශ\u{dca}\u{200d}රී ලංකා",
        "മലയാളം അവന\u{d4d}\u{200d}",
        "ಕನ್ನಡ ರ\u{200d}\u{ccd}ಯಾ",
        "தமிழ் மொழி",
        "ไทย\u{200b}ภาษา\u{200b}ไทย",
        "ភាសា\u{200b}ខ្មែរ",
        "မြန်မာ\u{200b}ဘာသာ",
        "ລາວ\u{200b}ພາສາ",
        "བོད་ཡིག",
        "\u{1820}\u{180b}\u{1828}\u{180e}\u{1820}",
        // Right to left.
        "שלום עולם! \u{200f}(בדיקה) API\u{200e} כאן",
        "مرحبا \u{200f}API\u{200e} بالعالم\u{61c}",
        "hello \u{2067}שלום\u{2069} world",
        "طلب \u{2066}GET /x\u{2069} الآن",
        "\u{202b}עברית\u{202c} text",
        "Hello \u{2068}Bob\u{2069}, you have mail",
        // Other languages.
        "Gère les congés\u{a0}: création, validation… «\u{202f}français\u{202f}»",
        "Größe, Straße, Donau\u{ad}dampf\u{ad}schiff\u{ad}fahrt",
        "Ver\u{ad}an\u{ad}stal\u{ad}tung",
        "Русский текст с µ и °C",
        "Ελληνικά: α και β",
        "日本語のテキスト、葛\u{e0100}城市",
        "中文：查询天气。",
        "한국어 텍스트 \u{1112}\u{1161}\u{11ab}",
        "ᄒ\u{1160}ᆫ",
        "Tiếng Việt có dấu",
        "Հայերեն ქართული አማርኛ",
        "Zażółć gęślą jaźń",
        // Files, tables and mathematics.
        "\u{feff}{\"a\": 1}",
        "line one\r\nline two\r\n\ttabbed\r\n",
        "odd ends\r\r\nnext",
        "last line\r",
        "Measures in µm and °C; α and β",
        "f\u{2061}(x) = 2\u{2062}x",
        "0\u{fe00} ∩\u{fe00}",
        "⠿⠛\u{2800}\u{2800}\u{2800}⠿ ⠋ loading",
        "one blank \u{2800} cell",
        "│ a │ b │ ✓ ✗ → ←",
        "literal \\u200b and &#8203; and \\x1b[8m",
        "",
    ] {
        assert_eq!(scan(text), [], "{text:?}");
    }
}

#[test]
fn a_finding_covers_what_belongs_together() {
    let text = "x \u{1b}[1m\u{1b}[31mred\u{1b}[0m\nd\u{2060}i\u{2060}s and\nb\u{200b}c";
    let hidden = scan(text);
    assert_eq!(hidden[0].times, 3, "all colours of a text are one finding");
    let found: Vec<_> = hidden
        .into_iter()
        .map(|hidden| (hidden.kind, text.get(hidden.range).unwrap_or_default()))
        .collect();
    assert_eq!(
        found,
        [
            (Colour, "\u{1b}[1m"),
            (ZeroWidth, "\u{2060}i\u{2060}"),
            (ZeroWidth, "\u{200b}"),
        ]
    );
}

#[test]
fn only_colours_are_harmless_and_every_kind_is_described() {
    let kinds = [
        Tag,
        ZeroWidth,
        Bits,
        Direction,
        VariationSelector,
        Operator,
        Filler,
        SoftHyphen,
        Conceal,
        Hyperlink,
        Colour,
        Escape,
        Overwrite,
        Control,
    ];
    let harmless: Vec<_> = kinds
        .into_iter()
        .filter(|kind| kind.is_harmless())
        .collect();
    assert_eq!(harmless, [Colour]);
    let mut described: Vec<_> = kinds.into_iter().map(HiddenKind::description).collect();
    described.sort_unstable();
    described.dedup();
    assert_eq!(described.len(), kinds.len());
}

fn steps(text: &str) -> usize {
    let mut scanner = Scanner::new(text);
    let mut at = 0;
    while let Some(suspect) = skip::next_suspect(text.as_bytes(), at) {
        at = scanner.judge(suspect);
    }
    scanner.steps
}

#[test]
fn the_work_is_linear_in_hostile_texts() {
    for unit in [
        "\u{200b}",
        "a\u{200b}",
        "\u{ad}",
        "a\u{ad}",
        "ab\u{ad}c ",
        "\u{2066}",
        "\u{2066}\u{2069}",
        "\u{2066}\n",
        "\u{200e}",
        "\u{1b}",
        "\u{1b}]",
        "\u{1b}[8m",
        "\u{9d}x",
        "\r",
        "a\r",
        "a\r\n",
        "\u{8}",
        "a\u{8}",
        "\0",
        "\u{e0041}",
        "\u{1f3f4}\u{e0041}",
        "\u{fe0f}",
        "\u{200b}\u{200c}",
        "\u{200b}\u{200c}\u{200d}",
        "👩\u{200d}",
        "\u{2800}",
        "a\u{200b}\n\r",
    ] {
        let (small, large) = (unit.repeat(300), unit.repeat(3000));
        assert!(
            steps(&large) <= 11 * steps(&small) + 100 && steps(&large) <= 6 * large.len(),
            "{unit:?}: {} then {}",
            steps(&small),
            steps(&large)
        );
    }
}

proptest! {
    #[test]
    fn findings_are_ordered_parts_of_any_text(
        text in prop::collection::vec(prop_oneof![
            any::<char>().prop_map(String::from),
            "[a-zA-Zא-תا-ي\u{200b}-\u{200f}\u{202a}-\u{202e}\u{2060}-\u{206f}\u{fe00}-\u{fe0f}\u{ad}\n\r\u{1b}\u{8}\u{e0061}-\u{e007f}🏴👩]{0,8}",
        ], 0..20)
    ) {
        let text = text.concat();
        let mut last = 0;
        for hidden in scan(&text) {
            let part = text.get(hidden.range.clone());
            prop_assert!(part.is_some_and(|part| !part.is_empty()));
            prop_assert!(hidden.range.start >= last);
            last = hidden.range.start;
        }
    }

    #[test]
    fn text_without_suspects_hides_nothing(text in "[ -~\n\tа-яА-Яα-ω一-鿿ぁ-ん]{0,200}") {
        prop_assert_eq!(scan(&text), []);
    }
}

use super::kind;

#[test]
fn what_occurs_very_often_is_counted_and_what_it_says_is_kept() {
    let text = "\u{1b}[2Kline of output\n".repeat(10_000);
    let found = scan(&text);
    assert_eq!(found.len(), kind::MOST);
    let places: usize = found.iter().map(|hidden| hidden.times).sum();
    assert_eq!(places, 10_000);
    let payload = "\u{e0068}\u{e0069} and some more\n".repeat(2 * kind::MOST_TEXTS);
    let found = scan(&payload);
    assert_eq!(found.len(), kind::MOST_TEXTS);
    let said: usize = found
        .iter()
        .filter_map(|hidden| hidden.decoded.as_deref())
        .map(|decoded| decoded.matches("hi").count())
        .sum();
    assert_eq!(said, 2 * kind::MOST_TEXTS);
}
