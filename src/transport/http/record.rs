//! Recording over HTTP: a listener for clients, a server behind it, and when that is over.

use super::listen::Listener;
use super::proxy::{Contact, Proxy};
use super::tap::{Notice, Progress, Tap};
use super::upstream::Upstream;
use crate::record::{NotSaved, Recording, Saved};
use crate::transport::input;
use crate::transport::signals::{self, Signal};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::watch;

/// What was under way when it ended gets so long to go.
const TO_GO: Duration = Duration::from_millis(200);

/// What to record.
pub(crate) struct Plan {
    pub(crate) listener: Listener,
    pub(crate) upstream: Upstream,
    pub(crate) recording: Recording,
    /// How long the client may be idle; for ever by default.
    pub(crate) max_idle: Option<Duration>,
    /// It ends when standard input does.
    pub(crate) leashed: bool,
    pub(crate) notice: Notice,
    pub(crate) progress: Progress,
    /// Is called once signals are waited for, before anything is carried.
    pub(crate) ready: Box<dyn FnOnce()>,
}

/// How a recording ended, and what was kept of it.
pub(crate) struct Recorded {
    pub(crate) ended: Ended,
    pub(crate) saved: Result<Saved, NotSaved>,
}

/// Who ended it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Somebody who sent us a signal.
    Signal(Signal),
    /// Whoever holds the other end of standard input.
    Leash,
    /// The client did nothing for so long.
    Idle,
    /// The server could not be reached or was of no use from the start. Nothing is kept.
    NoServer(String),
    /// The listener failed.
    Listener(String),
}

/// Passes requests on and records them until that is over.
///
/// # Errors
///
/// The operating system refuses threads or handlers; nothing was recorded.
pub(crate) fn record(plan: Plan) -> io::Result<Recorded> {
    let Plan {
        listener,
        upstream,
        recording,
        max_idle,
        leashed,
        notice,
        progress,
        ready,
    } = plan;
    let (ending, asked) = watch::channel(None);
    let by_signal = ending.clone();
    signals::watch(move |signal| {
        by_signal.send_replace(Some(Ended::Signal(signal)));
    })?;
    if leashed {
        input::watch(move || {
            ending.send_replace(Some(Ended::Leash));
        })?;
    }
    ready();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("http")
        .build()?;
    let (tap, recorder) = Tap::open(recording, Arc::clone(&notice), progress)?;
    let proxy = Arc::new(Proxy::new(upstream, Arc::clone(&tap)));
    let (ended, under_way) = carry(&runtime, listener, proxy, &tap, (asked, max_idle));
    let cut_short = under_way > 0 && matches!(ended, Ended::Signal(_));
    let at = tap.elapsed();
    runtime.shutdown_timeout(TO_GO);
    let saved = match recorder.join() {
        Err(_) => Err(NotSaved::recorder_failed()),
        Ok(recording) if matches!(ended, Ended::NoServer(_)) => {
            recording.discard();
            Ok(Saved::Nothing)
        }
        Ok(recording) => recording.finish(at, cut_short, &*notice),
    };
    Ok(Recorded { ended, saved })
}

/// Serves until something ends it; how many requests were under way then.
fn carry(
    runtime: &Runtime,
    listener: Listener,
    proxy: Arc<Proxy>,
    tap: &Arc<Tap>,
    (mut asked, max_idle): (watch::Receiver<Option<Ended>>, Option<Duration>),
) -> (Ended, usize) {
    let mut contact = proxy.contact();
    let (stop, stopped) = watch::channel(false);
    runtime.block_on(async {
        let serving = listener.serve(move |request| Arc::clone(&proxy).handle(request), stopped);
        let mut serving = std::pin::pin!(serving);
        let failed = async {
            let failed = |contact: &Contact| matches!(contact, Contact::Failed(_));
            match contact.wait_for(failed).await.as_deref() {
                Ok(Contact::Failed(why)) => why.clone(),
                _ => std::future::pending().await,
            }
        };
        let asked = async {
            match asked.wait_for(Option::is_some).await.as_deref() {
                Ok(Some(ended)) => ended.clone(),
                _ => std::future::pending().await,
            }
        };
        let ended = tokio::select! {
            ended = asked => ended,
            () = idle(tap, max_idle) => Ended::Idle,
            why = failed => {
                // The client still gets what there is to say.
                stop.send_replace(true);
                let _ = serving.as_mut().await;
                Ended::NoServer(why)
            }
            served = serving.as_mut() => Ended::Listener(match served {
                Ok(()) => "it stopped".to_owned(),
                Err(error) => error.to_string(),
            }),
        };
        // That connections are broken off from here on is our doing, and so it is not recorded.
        let under_way = tap.under_way();
        tap.close();
        (ended, under_way)
    })
}

/// Returns when the client was idle for so long.
async fn idle(tap: &Tap, most: Option<Duration>) {
    let Some(most) = most else {
        return std::future::pending().await;
    };
    loop {
        let left = most.saturating_sub(tap.idle());
        if left.is_zero() {
            return;
        }
        tokio::time::sleep(left.max(Duration::from_millis(10))).await;
    }
}
