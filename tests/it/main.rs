//! The integration tests, in one binary so that they are linked once.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a wrong assumption of a test is to fail that test"
)]

mod action;
mod config;
mod demo_client;
mod demo_server;
mod documented;
mod example_cassettes;
mod example_pack;
mod inspect;
mod layering;
mod layouts;
mod loading;
mod recordings;
mod redaction;
mod rules;
mod support;
mod usage;
