//! The recorded session: one JSON file that holds every message between a client
//! and a server in the order it was seen.
//!
//! A [`Cassette`] keeps the text of its file and, for each message, where its
//! parts stand in that text. Payloads are never parsed into numbers and maps, so
//! what was recorded comes back token for token.

pub(crate) mod doubt;
pub(crate) mod exchanges;
pub(crate) mod file;
pub(crate) mod format;
pub(crate) mod locate;
pub(crate) mod model;
pub(crate) mod pairing;
pub(crate) mod place;
mod salvage;
pub(crate) mod view;
pub(crate) mod write;

pub use file::{LoadError, LoadProblem, SaveError};
pub use model::{Cassette, Channel, Kind, Message, Sender, Transport};
pub use salvage::Salvaged;
