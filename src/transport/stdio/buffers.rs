//! What was read from a pipe, and the buffers that it is read into.

use crate::cassette::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Bytes that passed.
#[derive(Debug)]
pub(super) struct Chunk {
    /// Since the recording began.
    pub(super) at: Duration,
    pub(super) sender: Sender,
    pub(super) bytes: Bytes,
}

/// What was read at once.
#[derive(Clone, Debug)]
pub(super) struct Bytes {
    buffer: Arc<Vec<u8>>,
    length: usize,
}

impl Bytes {
    /// All of `bytes`.
    pub(super) fn whole(bytes: Vec<u8>) -> Bytes {
        Bytes {
            length: bytes.len(),
            buffer: Arc::new(bytes),
        }
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        self.buffer.get(..self.length).unwrap_or_default()
    }

    pub(super) fn len(&self) -> usize {
        self.length
    }
}

/// So many buffers wait to be used again: what passes in a burst between two looks of the
/// recorder.
const SPARE: usize = 512;
/// What is shorter is copied, so that small messages do not hold a buffer each.
const SMALL: usize = 4096;

/// Buffers to read into. What fills one well is recorded from it without being copied, and it
/// comes back when it is recorded: fresh memory costs more than what is done with it.
#[derive(Debug)]
pub(super) struct Buffers {
    size: usize,
    spare: Mutex<Vec<Vec<u8>>>,
}

impl Buffers {
    /// Buffers of `size` bytes.
    pub(super) fn new(size: usize) -> Buffers {
        Buffers {
            size,
            spare: Mutex::default(),
        }
    }

    /// A buffer whose content means nothing.
    pub(super) fn take(&self) -> Vec<u8> {
        let spare = self.lock().pop();
        spare.unwrap_or_else(|| vec![0; self.size])
    }

    /// The first `length` bytes of a buffer, and a buffer to go on with in its place.
    pub(super) fn filled(&self, buffer: &mut Vec<u8>, length: usize) -> Bytes {
        let full = if length < SMALL {
            buffer.get(..length).unwrap_or_default().to_vec()
        } else {
            std::mem::replace(buffer, self.take())
        };
        Bytes {
            buffer: Arc::new(full),
            length,
        }
    }

    /// Takes back what is recorded, unless it is still being written.
    pub(super) fn give_back(&self, bytes: Bytes) {
        let Some(buffer) = Arc::into_inner(bytes.buffer) else {
            return;
        };
        let mut spare = self.lock();
        if buffer.len() == self.size && spare.len() < SPARE {
            spare.push(buffer);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_that_was_filled_comes_back_when_it_is_recorded() {
        let buffers = Buffers::new(10_000);
        let mut buffer = buffers.take();
        buffer[..3].copy_from_slice(b"abc");
        let small = buffers.filled(&mut buffer, 3);
        assert_eq!(small.as_slice(), b"abc");
        buffer[..5000].fill(b'x');
        let filled = buffers.filled(&mut buffer, 5000);
        assert_eq!(filled.as_slice(), [b'x'; 5000]);
        let still_written = filled.clone();
        buffers.give_back(small);
        buffers.give_back(filled);
        assert_eq!(buffers.lock().len(), 0);
        buffers.give_back(still_written);
        assert_eq!(buffers.lock().len(), 1);
    }
}
