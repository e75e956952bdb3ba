//! What the benchmarks share: processes side by side, and the files they work on.

#![allow(dead_code, reason = "each benchmark uses a part")]

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// One contestant: its name and its command line.
pub(crate) struct Contestant {
    pub(crate) name: &'static str,
    pub(crate) command: Vec<String>,
    /// Takes seconds a run: it runs in one round only.
    pub(crate) slow: bool,
}

impl Contestant {
    pub(crate) fn new(name: &'static str, command: Vec<String>) -> Contestant {
        Contestant {
            name,
            command,
            slow: false,
        }
    }
}

pub(crate) struct Measured {
    median: Duration,
    peak_kib: u64,
}

/// The comparator of files: read one, check that it is JSON, keep nothing.
pub(crate) fn validate(path: &Path) {
    let bytes = std::fs::read(path).expect("a readable file");
    let text = std::str::from_utf8(&bytes).expect("UTF-8");
    serde_json::from_str::<serde::de::IgnoredAny>(text).expect("JSON");
}

pub(crate) fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Runs the contestants in turn, so many rounds, and takes the median of each. One that is
/// slow runs in the last round only: its time is that of one run.
pub(crate) fn measure(contestants: &[Contestant], rounds: usize) -> Vec<Measured> {
    let mut times = vec![Vec::new(); contestants.len()];
    for round in 0..=rounds {
        for (contestant, times) in contestants.iter().zip(&mut times) {
            if contestant.slow && round < rounds {
                continue;
            }
            let time = run(contestant);
            // The first round warms the page cache.
            if round > 0 {
                times.push(time);
            }
        }
    }
    contestants
        .iter()
        .zip(times)
        .map(|(contestant, mut times)| {
            times.sort_unstable();
            Measured {
                median: times[times.len() / 2],
                peak_kib: peak(contestant),
            }
        })
        .collect()
}

fn run(contestant: &Contestant) -> Duration {
    let start = Instant::now();
    let status = quiet(contestant).status().expect("the contestant runs");
    let time = start.elapsed();
    let fine = status.code().is_some_and(|code| [0, 4, 5].contains(&code));
    assert!(fine, "{} ended with {status}", contestant.name);
    time
}

fn quiet(contestant: &Contestant) -> Command {
    let (program, arguments) = contestant.command.split_first().expect("a program");
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command
}

/// The peak of resident memory in KiB, read from the kernel's own high-water mark
/// while the process runs; 0 where the system does not tell.
fn peak(contestant: &Contestant) -> u64 {
    let mut child = quiet(contestant).spawn().expect("the contestant runs");
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().expect("a child").is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let mark = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = mark.and_then(|mark| mark.trim().trim_end_matches(" kB").parse().ok());
        peak = peak.max(kib.unwrap_or(0));
    }
    peak
}

pub(crate) fn table(title: &str, contestants: &[Contestant], measured: &[Measured]) {
    println!("\n{title}\n\n| | ms | ratio | peak MB |\n|---|---|---|---|");
    let base = measured
        .first()
        .map_or(Duration::ZERO, |first| first.median);
    for (contestant, measured) in contestants.iter().zip(measured) {
        let ratio = measured.median.as_secs_f64() / base.as_secs_f64();
        let ms = measured.median.as_secs_f64() * 1e3;
        let peak = f64::from(u32::try_from(measured.peak_kib).unwrap_or(u32::MAX)) * 1.024e-3;
        println!("| {} | {ms:.2} | {ratio:.2} | {peak:.1} |", contestant.name);
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Language {
    English,
    Russian,
    Chinese,
}

impl Language {
    fn words(self) -> &'static [&'static str] {
        match self {
            Language::English => &[
                "the", "report", "shows", "that", "every", "build", "of", "this", "week", "passed",
                "and", "no", "user", "was", "asked", "to", "read", "a", "file", "again", "before",
                "tests", "run", "on", "server",
            ],
            Language::Russian => &[
                "отчёт",
                "показывает",
                "что",
                "каждая",
                "сборка",
                "этой",
                "недели",
                "прошла",
                "и",
                "ни",
                "один",
                "пользователь",
                "не",
                "читал",
                "файл",
                "снова",
                "перед",
                "тестом",
                "на",
                "сервере",
            ],
            Language::Chinese => &[
                "报告",
                "显示",
                "本周",
                "的",
                "每个",
                "构建",
                "都",
                "通过",
                "了",
                "没有",
                "用户",
                "需要",
                "再次",
                "读取",
                "文件",
                "然后",
                "在",
                "服务器",
                "上",
                "运行",
                "测试",
                "。",
            ],
        }
    }

    fn separator(self) -> &'static str {
        match self {
            Language::English | Language::Russian => " ",
            Language::Chinese => "",
        }
    }
}

/// A session of about that many bytes: one listing of 20 tools, then calls whose
/// results are prose of 20 KB.
pub(crate) fn cassette(bytes: usize, language: Language) -> String {
    let mut out = String::with_capacity(bytes + 65_536);
    out.push_str("{\n  \"format_version\": 3,\n  \"recorded_at\": \"2026-11-29T12:00:00.000000Z\",\n  \"messages\": [\n");
    let mut tools = String::new();
    for i in 0..20 {
        let comma = if i == 0 { "" } else { "," };
        let _ = write!(
            tools,
            r#"{comma}{{"name":"tool_{i}","description":"Adds two numbers and returns the sum, variant {i}.","inputSchema":{{"type":"object","properties":{{"a":{{"type":"number","description":"The first number"}},"b":{{"type":"number"}}}},"required":["a","b"]}}}}"#
        );
    }
    exchange(
        &mut out,
        1,
        r#""method":"tools/list""#,
        &format!(r#"{{"tools":[{tools}]}}"#),
        true,
    );
    let mut random = 0x2545_f491_u32;
    let mut id = 2;
    let each = 20_000.min(bytes / 3);
    while out.len() + each < bytes {
        let mut text = String::with_capacity(each + 64);
        while text.len() < each {
            // A linear congruential generator: the same file on every machine.
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let words = language.words();
            text.push_str(words[(random >> 16) as usize % words.len()]);
            text.push_str(language.separator());
            if random >> 28 == 0 {
                text.push_str(r".\n");
            }
        }
        let call = r#""method":"tools/call","params":{"name":"tool_1","arguments":{"a":1}}"#;
        let result = format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#);
        exchange(&mut out, id, call, &result, false);
        id += 1;
    }
    out.push_str("\n  ]\n}\n");
    out
}

fn exchange(out: &mut String, id: usize, call: &str, result: &str, first: bool) {
    let comma = if first { "" } else { ",\n" };
    let _ = write!(
        out,
        "{comma}    {{\"seq\": {}, \"t_offset_ms\": {id}, \"sender\": \"client\", \"kind\": \"request\", \
         \"method\": null, \"msg_id\": {id}, \"payload\": {{\"jsonrpc\":\"2.0\",\"id\":{id},{call}}}, \
         \"redacted\": false}},\n    {{\"seq\": {}, \"t_offset_ms\": {id}, \"sender\": \"server\", \
         \"kind\": \"response\", \"method\": null, \"msg_id\": {id}, \
         \"payload\": {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}, \"redacted\": false}}",
        2 * id,
        2 * id + 1
    );
}
