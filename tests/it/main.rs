//! The integration tests, in one binary so that they are linked once.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a wrong assumption of a test is to fail that test"
)]

mod action;
mod check_bases;
mod check_branches;
mod check_files;
mod check_places;
mod check_policy;
mod check_reports;
mod config;
mod corpora;
mod demo_client;
mod demo_server;
mod detection;
mod documented;
mod example_cassettes;
mod example_pack;
mod fail_open;
mod http2;
mod inspect;
mod layering;
mod layouts;
mod links;
mod loading;
mod origin;
mod record_bytes;
mod record_claims;
mod record_end;
mod record_http;
mod record_http_hostile;
mod record_probe;
mod record_session;
mod recorder;
mod recordings;
mod redaction;
mod repository;
mod rules;
#[path = "../../src/report/tests/commands.rs"]
mod runner_commands;
mod secrecy;
mod serve_client;
mod serve_episodes;
mod serve_episodes_failing;
mod serve_episodes_http;
mod serve_episodes_streams;
mod serve_faults;
mod serve_http;
mod serve_http_hostile;
mod serve_recordings;
mod serve_usage;
mod session;
mod session_http;
mod signals;
mod support;
mod tls;
mod usage;
mod web;
