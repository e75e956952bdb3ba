//! Signals that ask a session to end.

use std::io;
use std::thread;

/// A request to end, from a person or from whoever started this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Ctrl-C, and Ctrl-Break on Windows.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGHUP: the terminal went away.
    HangUp,
}

impl Signal {
    /// The name for messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Signal::Interrupt => "SIGINT",
            Signal::Terminate => "SIGTERM",
            Signal::HangUp => "SIGHUP",
        }
    }
}

/// Calls `notice` on a thread of its own whenever a signal comes, from now on; signals no longer
/// end the process.
///
/// # Errors
///
/// The operating system refuses a handler or the thread.
pub(crate) fn watch(mut notice: impl FnMut(Signal) + Send + 'static) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    let mut signals = {
        // The handlers are in place when this returns, not only when the thread runs.
        let _inside = runtime.enter();
        Signals::register()?
    };
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            runtime.block_on(async {
                while let Some(signal) = signals.next().await {
                    notice(signal);
                }
            });
        })?;
    Ok(())
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hang_up: tokio::signal::unix::Signal,
    /// Not asked: with a handler in place, a write beyond a limit on the size of files fails
    /// and can be told, where otherwise the process would be ended.
    _file_size: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn register() -> io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            _file_size: signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?,
        })
    }

    async fn next(&mut self) -> Option<Signal> {
        tokio::select! {
            some = self.interrupt.recv() => some.map(|()| Signal::Interrupt),
            some = self.terminate.recv() => some.map(|()| Signal::Terminate),
            some = self.hang_up.recv() => some.map(|()| Signal::HangUp),
        }
    }
}

#[cfg(windows)]
struct Signals {
    ctrl_c: tokio::signal::windows::CtrlC,
    ctrl_break: tokio::signal::windows::CtrlBreak,
    close: tokio::signal::windows::CtrlClose,
}

#[cfg(windows)]
impl Signals {
    fn register() -> io::Result<Signals> {
        use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close};
        Ok(Signals {
            ctrl_c: ctrl_c()?,
            ctrl_break: ctrl_break()?,
            close: ctrl_close()?,
        })
    }

    async fn next(&mut self) -> Option<Signal> {
        tokio::select! {
            some = self.ctrl_c.recv() => some.map(|()| Signal::Interrupt),
            some = self.ctrl_break.recv() => some.map(|()| Signal::Interrupt),
            some = self.close.recv() => some.map(|()| Signal::HangUp),
        }
    }
}
