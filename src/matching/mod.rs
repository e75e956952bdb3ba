//! Which recorded request a live one is.
//!
//! A request's key is a hash over its method and parameters as values, so that finding it costs
//! the same in a small and a large cassette. [`key`] says what counts, [`index`] which of several
//! recorded requests with one key is meant, [`miss`] why there is none.

mod index;
mod key;
mod miss;

pub(crate) use index::{Found, Group, Index, OnExhausted, Ordering, Usage, Wanted};
pub(crate) use key::{Key, Keyer, PointerError};
pub(crate) use miss::{Candidate, explain, shown_params};
