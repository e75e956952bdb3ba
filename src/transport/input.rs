//! Standard input as a leash: whoever started us holds the other end, and lets go of it to end us.
//!
//! That is the same on every system, and a process that is killed lets go too.

use std::io;
use std::thread;

/// Calls `ended` on a thread of its own when standard input ends. What is said there means nothing.
///
/// # Errors
///
/// There is no thread to be had.
pub(crate) fn watch(ended: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new()
        .name("leash".to_owned())
        .spawn(move || {
            // An input that cannot be read has ended as well.
            let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
            ended();
        })?;
    Ok(())
}
