//! The linter.

#[allow(
    dead_code,
    unused_imports,
    reason = "the rules that call the detectors are declared beside them"
)]
pub(crate) mod secrets;
