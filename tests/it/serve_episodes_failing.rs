//! `serve --new-episodes --url` when not all goes well: servers that are away, forget or break off, and
//! clients that leave.
#![cfg(unix)]

use crate::origin::{Origin, answer_plainly};
use crate::recorder::{PATIENCE, files, until};
use crate::serve_episodes_http::{
    INITIALIZE, NOBODY, REPORT, TOLD, added, answer, assert_ended, begin, call, cassette, event,
    extend, id_of, legacy, modern, record, report, text,
};
use crate::support::run_in;
use crate::web::Answer;
use serde_json::json;
use std::fs;
use std::sync::mpsc;

/// That a call is unmatched, and why.
fn assert_refused(heard: &Answer, why: &str) {
    let error = &heard.json()["error"];
    assert_eq!(error["code"], -32001, "{heard:?}");
    let message = error["message"].as_str().expect("a message");
    assert!(message.contains(why), "{why}: {message}");
}

#[test]
fn a_server_that_does_not_answer_leaves_a_miss_and_the_recording_as_it_was() {
    let unused = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let nobody = format!("http://{}/mcp", unused.local_addr().unwrap());
    drop(unused);
    let down = Origin::start(|talk| talk.answer("503 Service Unavailable", "", b"down"));
    let page = Origin::start(|talk| {
        talk.answer("200 OK", "Content-Type: text/html\r\n", b"<html></html>");
    });
    let silent = Origin::start(|talk| {
        let _ = talk.stream.shutdown(std::net::Shutdown::Both);
    });
    for is_modern in [false, true] {
        let folder = record(is_modern);
        let before = fs::read(folder.path().join("c.mcp.json")).unwrap();
        for (url, why) in [
            (nobody.clone(), "cannot be connected to"),
            (down.url(), "answers with status 503"),
            (page.url(), "status 200 OK and no JSON-RPC message"),
            (silent.url(), "did not answer"),
        ] {
            let site = extend(folder.path(), &url, REPORT);
            let mut wire = site.connect();
            let mut ask = |id: u32, tool: &str| {
                let (headers, body) = modern(id, tool);
                wire.post_with(&headers, &body);
                wire.answer()
            };
            if is_modern {
                assert_refused(&ask(1, "new"), why);
                assert_eq!(text(&ask(2, "known")), "recorded");
            } else {
                let id = begin(&site);
                assert_refused(&site.post(&id, &call(1, "new")), why);
                assert_eq!(text(&site.post(&id, &call(2, "known"))), "recorded");
            }
            let run = site.stop();
            assert_ended(&run, 3);
            for part in ["1 unmatched request(s):", why] {
                assert!(run.stderr.contains(part), "{part}: {}", run.all());
            }
            let report = report(folder.path());
            assert_eq!(report["messages"], 0);
            assert_eq!(report["misses"].as_array().map(Vec::len), Some(1));
            assert_eq!(fs::read(folder.path().join("c.mcp.json")).unwrap(), before);
            assert_eq!(files(folder.path()), ["c.mcp.json", "report.json"]);
        }
    }
}

#[test]
fn a_server_that_is_back_is_asked_again() {
    let folder = record(false);
    let tries = std::sync::atomic::AtomicU32::new(0);
    let origin = Origin::start(move |talk| {
        if tries.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0 {
            return talk.answer("503 Service Unavailable", "", b"");
        }
        if talk.request.body.contains("tools/call") {
            return talk.json(&answer(&id_of(talk), "live"));
        }
        answer_plainly(talk);
    });
    let site = extend(folder.path(), &origin.url(), &[]);
    let id = begin(&site);
    assert_refused(&site.post(&id, &call(1, "new")), "status 503");
    assert_eq!(text(&site.post(&id, &call(2, "new"))), "live");
    assert_ended(&site.stop(), 3);
}

#[test]
fn an_answer_that_breaks_off_is_a_miss_and_is_asked_again_in_the_next_run() {
    let folder = record(false);
    let old = cassette(folder.path());
    let breaks = Origin::start(|talk| {
        if !talk.request.body.contains("tools/call") {
            return answer_plainly(talk);
        }
        talk.stream();
        talk.chunk(&event(TOLD));
        if talk.request.body.contains("whole") {
            talk.chunk("");
        }
        let _ = talk.stream.shutdown(std::net::Shutdown::Both);
    });
    let site = extend(folder.path(), &breaks.url(), REPORT);
    let id = begin(&site);
    for (tool, why) in [
        ("cut", "broke off"),
        ("whole", "ended its response without an answer"),
    ] {
        let heard = site.post(&id, &call(3, tool));
        assert!(
            heard.body.contains(TOLD) && heard.body.contains("-32001"),
            "{heard:?}"
        );
        assert!(heard.body.contains(why) && !heard.cut, "{heard:?}");
    }
    let run = site.stop();
    assert_ended(&run, 3);
    assert!(
        run.stderr.contains("2 unmatched request(s)"),
        "{}",
        run.all()
    );
    let (_, rows) = added(folder.path(), &old);
    assert!(rows.is_empty(), "a replay has no answer there: {rows:?}");
    let origin = legacy();
    let site = extend(folder.path(), &origin.url(), &[]);
    let id = begin(&site);
    for tool in ["cut", "whole"] {
        assert_eq!(text(&site.post(&id, &call(4, tool))), "live", "{tool}");
    }
    assert_ended(&site.stop(), 130);
}

#[test]
fn what_is_no_answer_is_a_miss_and_is_asked_again_in_the_next_run() {
    let folder = record(false);
    let origin = Origin::start(|talk| {
        let body = talk.request.body.clone();
        if !body.contains("tools/call") {
            return answer_plainly(talk);
        }
        // An event without its empty line is none.
        let said = match body.contains("unended") {
            true => format!("data: {}", answer(&id_of(talk), "live")),
            false => String::new(),
        };
        let events = "Content-Type: text/event-stream\r\n";
        talk.answer("200 OK", events, said.as_bytes());
    });
    let tools = ["nothing", "unended"];
    let site = extend(folder.path(), &origin.url(), REPORT);
    let id = begin(&site);
    for tool in tools {
        let heard = site.post(&id, &call(3, tool));
        assert!(heard.body.contains("-32001"), "{tool}: {heard:?}");
    }
    assert_ended(&site.stop(), 3);
    let origin = legacy();
    let site = extend(folder.path(), &origin.url(), &[]);
    let id = begin(&site);
    for tool in tools {
        assert_eq!(text(&site.post(&id, &call(4, tool))), "live", "{tool}");
    }
    assert_ended(&site.stop(), 130);
}

#[test]
fn a_session_that_the_server_has_forgotten_is_begun_anew_once() {
    let folder = record(false);
    let old = cassette(folder.path());
    let forgets = |times: u32| {
        let left = std::sync::atomic::AtomicU32::new(times);
        Origin::start(move |talk| {
            if !talk.request.body.contains("tools/call") {
                return answer_plainly(talk);
            }
            let before = left.load(std::sync::atomic::Ordering::SeqCst);
            if before > 0 {
                left.store(before - 1, std::sync::atomic::Ordering::SeqCst);
                return talk.answer("404 Not Found", "", b"");
            }
            talk.json(&answer(&id_of(talk), "live"));
        })
    };
    let origin = forgets(1);
    let site = extend(folder.path(), &origin.url(), REPORT);
    let id = begin(&site);
    assert_eq!(text(&site.post(&id, &call(1, "new"))), "live");
    assert_ended(&site.stop(), 130);
    let greetings = std::iter::from_fn(|| origin.next()).filter(|it| it.body == INITIALIZE);
    assert_eq!(greetings.count(), 2);
    assert_eq!(added(folder.path(), &old).0.len(), 2, "it is recorded once");
    let origin = forgets(u32::MAX);
    let site = extend(folder.path(), &origin.url(), &[]);
    let id = begin(&site);
    assert_refused(&site.post(&id, &call(1, "other")), "status 404");
    assert_ended(&site.stop(), 3);
}

#[test]
fn a_stream_that_the_server_ends_before_the_answer_is_taken_up_again() {
    let folder = record(false);
    let old = cassette(folder.path());
    let origin = Origin::start(|talk| {
        if talk.request.line.starts_with("GET") {
            assert_eq!(talk.request.header("last-event-id"), Some("e1"));
            talk.stream();
            talk.chunk(&format!("id: e2\n{}", event(&answer(&json!(3), "live"))));
            talk.chunk("");
        } else if talk.request.body.contains("tools/call") {
            talk.stream();
            talk.chunk(&format!("id: e1\nretry: 1\n{}", event(TOLD)));
            talk.chunk("");
        } else {
            answer_plainly(talk);
        }
    });
    let site = extend(folder.path(), &origin.url(), &[]);
    let id = begin(&site);
    let heard = site.post(&id, &call(3, "new"));
    assert_eq!(
        heard.body,
        format!("{}{}", event(TOLD), event(&answer(&json!(3), "live")))
    );
    assert_ended(&site.stop(), 130);
    let (messages, rows) = added(folder.path(), &old);
    assert_eq!((messages.len(), rows.len()), (3, 2));
    assert_eq!(rows[1]["last_event_id"], "e1");
}

#[test]
fn a_client_that_leaves_is_noticed_by_the_server() {
    let folder = record(true);
    let (left, noticed) = mpsc::channel();
    let left = std::sync::Mutex::new(left);
    let origin = Origin::start(move |talk| {
        talk.stream();
        talk.chunk(&event(TOLD));
        left.lock().unwrap().send(talk.is_left()).unwrap();
    });
    let site = extend(folder.path(), &origin.url(), REPORT);
    let mut wire = site.connect();
    let (headers, body) = modern(4, "events");
    wire.post_with(&headers, &body);
    assert_eq!(wire.head().expect("a response").status, 200);
    assert_eq!(wire.chunk(), Some(event(TOLD)));
    drop(wire);
    assert!(noticed.recv_timeout(PATIENCE).unwrap());
    let run = site.stop();
    assert_ended(&run, 130);
    assert_eq!(report(folder.path())["misses"], json!([]));
}

#[test]
fn one_writer_holds_the_cassette_and_a_killed_one_leaves_what_it_added() {
    let folder = record(false);
    let path = folder.path().join("c.mcp.json");
    let before = fs::read(&path).unwrap();
    let origin = legacy();
    let mut site = extend(folder.path(), &origin.url(), &[]);
    let other = run_in(
        folder.path(),
        &[
            "serve",
            "c.mcp.json",
            "--new-episodes",
            "--url",
            &origin.url(),
        ],
        &[],
    );
    assert_ended(&other, 6);
    let id = begin(&site);
    assert_eq!(text(&site.post(&id, &call(1, "new"))), "live");
    let partial = folder.path().join("c.mcp.json.partial");
    until("it is on the disk", || {
        fs::read_to_string(&partial)
            .unwrap_or_default()
            .contains("live")
    });
    site.kill();
    assert_eq!(
        fs::read(&path).unwrap(),
        before,
        "the cassette is as it was"
    );
    let site = extend(folder.path(), NOBODY, &[]);
    let id = begin(&site);
    assert_eq!(text(&site.post(&id, &call(1, "new"))), "live");
    let run = site.stop();
    assert_ended(&run, 0);
    assert!(
        run.stderr.contains("note: 2 messages that"),
        "{}",
        run.all()
    );
    assert_eq!(files(folder.path()), ["c.mcp.json"]);
}
