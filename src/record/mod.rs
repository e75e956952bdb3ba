//! The recorder: what passed between a client and a server, as messages of a cassette.
//!
//! A `Recorder` is a tap. It is given copies of the bytes that passed and has no outputs but
//! the text of a cassette, so that it cannot change traffic; it does no input or output and does
//! not know the time. A [`Recording`] puts what it writes on the disk as it comes
//! (`checkpoint`), and a [`Claim`] keeps two writers from one cassette.

mod checkpoint;
mod claim;
mod exchange;
mod head;
mod known;
mod log;
mod payload;
mod probe;
mod recorder;
mod recording;
mod url;

#[cfg(test)]
mod tests;

pub(crate) use checkpoint::partial_of;
pub(crate) use claim::{Claim, ClaimError, ClaimOptions};
pub(crate) use exchange::{Answered, Asked, Step};
pub(crate) use payload::says_json_rpc;
pub(crate) use recorder::Options;
pub(crate) use recording::{Begin, NotSaved, Recording, Saved, check_output, check_room};
