//! The rules of the gate and the text layer below them: what a recorded text
//! says once spelling tricks are undone ([`fold`]), what it hides
//! ([`invisible`]) and what a tool name pretends to be ([`names`]).

#![allow(
    dead_code,
    reason = "the rules that call the text layer are declared beside it"
)]

pub(crate) mod ansi;
pub(crate) mod fold;
pub(crate) mod invisible;
pub(crate) mod names;
