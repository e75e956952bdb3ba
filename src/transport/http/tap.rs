//! The tap on what passes over HTTP: numbers for the exchanges, copies for the recorder, and the
//! thread that records.

use super::decode::Decoder;
use super::doubt::{Doubt, Piece};
use crate::cassette::Sender;
use crate::cassette::exchanges::Ended;
use crate::record::{Answered, Asked, Recording, Step};
use crate::transport::queue::{self, Abandon, Queue, TICK, yield_to_traffic};
use crate::wire::lane::Lane;
use bytes::Bytes;
use hyper::StatusCode;
use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Where a notice goes.
pub(crate) type Notice = Arc<dyn Fn(&str) + Send + Sync>;
/// Is told how far it is whenever that has changed.
pub(crate) type Progress = Box<dyn Fn(Count) + Send>;

/// How far a recording is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) messages: u64,
    pub(crate) sessions: u32,
}

/// What the tasks of a recording share.
pub(super) struct Tap {
    began: Instant,
    queue: Queue<Item>,
    next: AtomicU32,
    /// Requests that are under way, without the streams that a GET holds open.
    under_way: AtomicUsize,
    /// When the client last did something or was answered, in milliseconds since `began`.
    active_at: AtomicU64,
    /// Whether there is something to keep on the disk.
    keeps: AtomicBool,
    notice: Notice,
    /// Where clients of the older transport were told to send what they say.
    endpoints: RwLock<Vec<String>>,
}

/// So many addresses of that kind are remembered.
const MOST_ENDPOINTS: usize = 64;

/// Something for the recorder.
struct Item {
    at: Duration,
    lane: Lane,
    what: What,
}

enum What {
    Step(Step),
    Bytes(Sender, Bytes),
    /// The body of this side is compressed this way.
    Encoded(Sender, String),
    /// The exchange that begins may not count.
    InDoubt,
    /// It does, or does not.
    Counts(bool),
}

impl Piece for Item {
    fn lane(&self) -> Lane {
        self.lane
    }

    fn bytes(&self) -> usize {
        match &self.what {
            What::Bytes(_, bytes) => bytes.len(),
            What::Step(_) | What::Encoded(..) | What::InDoubt | What::Counts(_) => 0,
        }
    }
}

impl Tap {
    /// A tap, and the thread that records what comes to it until it is closed.
    ///
    /// # Errors
    ///
    /// There is no thread to be had.
    pub(super) fn open(
        recording: Recording,
        notice: Notice,
        progress: Progress,
    ) -> io::Result<(Arc<Tap>, JoinHandle<Recording>)> {
        let tap = Arc::new(Tap {
            began: Instant::now(),
            queue: Queue::new(queue::LIMIT),
            next: AtomicU32::new(0),
            under_way: AtomicUsize::new(0),
            active_at: AtomicU64::new(0),
            keeps: AtomicBool::new(false),
            notice,
            endpoints: RwLock::default(),
        });
        let own = Arc::clone(&tap);
        let recorder = thread::Builder::new()
            .name("recorder".to_owned())
            .spawn(move || own.record(recording, &progress))?;
        Ok((tap, recorder))
    }

    /// Begins an exchange.
    pub(super) fn begin(self: &Arc<Tap>, asked: Asked, encoding: Option<String>) -> Exchange {
        let exchange = self.begin_with(asked, false);
        exchange.encoded(Sender::Client, encoding);
        exchange
    }

    /// Begins an exchange whose request is `body`. If it is in doubt, it counts only if somebody says
    /// so.
    pub(super) fn begin_whole(
        self: &Arc<Tap>,
        asked: Asked,
        body: Bytes,
        in_doubt: bool,
    ) -> Exchange {
        let exchange = self.begin_with(asked, in_doubt);
        self.add(exchange.lane, What::Bytes(Sender::Client, body));
        self.add(exchange.lane, What::Step(Step::Said));
        exchange
    }

    fn begin_with(self: &Arc<Tap>, asked: Asked, in_doubt: bool) -> Exchange {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let is_get = asked.http_method == "GET";
        if !is_get {
            self.under_way.fetch_add(1, Ordering::SeqCst);
        }
        self.touch();
        let lane = match is_get {
            true => Lane::Get(number),
            false => Lane::Post(number),
        };
        if in_doubt {
            self.add(lane, What::InDoubt);
        }
        self.add(lane, What::Step(Step::Asked(Box::new(asked))));
        Exchange {
            tap: Arc::clone(self),
            lane,
            is_over: false,
            in_doubt,
        }
    }

    /// From now on what was recorded is kept.
    pub(super) fn keep(&self) {
        self.keeps.store(true, Ordering::SeqCst);
    }

    /// Nothing more is recorded.
    pub(super) fn close(&self) {
        self.queue.close();
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// How many requests are under way.
    pub(super) fn under_way(&self) -> usize {
        self.under_way.load(Ordering::SeqCst)
    }

    /// For how long the client has been idle.
    pub(super) fn idle(&self) -> Duration {
        if self.under_way() > 0 {
            return Duration::ZERO;
        }
        let active = Duration::from_millis(self.active_at.load(Ordering::Relaxed));
        self.elapsed().saturating_sub(active)
    }

    pub(super) fn say(&self, text: &str) {
        (self.notice)(text);
    }

    /// Whether `path` is where a client of the older transport was told to send what it says.
    pub(super) fn is_endpoint(&self, path: &str) -> bool {
        let endpoints = self.endpoints.read();
        let endpoints = endpoints.unwrap_or_else(PoisonError::into_inner);
        endpoints.iter().any(|endpoint| endpoint == path)
    }

    pub(super) fn add_endpoint(&self, path: &str) {
        let mut endpoints = self
            .endpoints
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        if endpoints.len() < MOST_ENDPOINTS && !endpoints.iter().any(|known| known == path) {
            endpoints.push(path.to_owned());
        }
    }

    /// Whether there is room for more copies; if not, traffic is to wait.
    pub(super) fn has_room(&self) -> bool {
        self.queue.has_room(|| queue::full(&*self.notice))
    }

    fn touch(&self) {
        let now = u64::try_from(self.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.active_at.fetch_max(now, Ordering::Relaxed);
    }

    fn add(&self, lane: Lane, what: What) {
        let at = self.elapsed();
        let item = Item { at, lane, what };
        let bytes = item.bytes();
        self.queue.add(item, bytes);
    }

    fn record(&self, mut recording: Recording, progress: &Progress) -> Recording {
        yield_to_traffic();
        // If this thread fails, traffic goes on without it.
        let _open = Abandon {
            queue: &self.queue,
            failed: || {
                self.say("warning: the recorder failed; traffic goes on and is not recorded");
            },
        };
        let mut decoders = HashMap::new();
        let mut doubt = Doubt::new();
        let mut told = Count::default();
        loop {
            let started = Instant::now();
            let batch = self.queue.take();
            for item in batch.chunks {
                let bytes = item.bytes();
                let record = |item| take(&mut recording, &mut decoders, item);
                match item.what {
                    What::InDoubt => doubt.begin(item.lane),
                    What::Counts(counts) => doubt.end(item.lane, counts, record),
                    _ => doubt.push(item, record),
                }
                self.queue.release(bytes);
            }
            if batch.last {
                doubt.finish(|item| take(&mut recording, &mut decoders, item));
            }
            if self.keeps.load(Ordering::SeqCst) {
                recording.flush(self.elapsed());
            }
            let count = Count {
                messages: recording.messages(),
                sessions: recording.sessions(),
            };
            if count != std::mem::replace(&mut told, count) {
                progress(count);
            }
            for text in recording.take_notices() {
                self.say(&text);
            }
            if batch.last {
                return recording;
            }
            self.queue.rest(TICK.saturating_sub(started.elapsed()));
        }
    }
}

/// The bodies that are compressed, by exchange and side.
type Decoders = HashMap<(Lane, Sender), Decoder>;

fn take(recording: &mut Recording, decoders: &mut Decoders, item: Item) {
    let Item { at, lane, what } = item;
    let (Lane::Post(number) | Lane::Get(number)) = lane else {
        return;
    };
    match what {
        What::Encoded(sender, encoding) => {
            decoders.extend(Decoder::new(&encoding).map(|decoder| ((lane, sender), decoder)));
        }
        What::Bytes(sender, bytes) => match decoders.get_mut(&(lane, sender)) {
            None => recording.observe(at, sender, lane, &bytes),
            Some(decoder) => {
                let decoded = decoder.push(&bytes, |bytes| {
                    recording.observe(at, sender, lane, bytes);
                });
                if let Err(why) = decoded {
                    recording.step(at, number, Step::Unreadable(sender, why));
                }
            }
        },
        What::InDoubt | What::Counts(_) => {}
        What::Step(step) => {
            let over: &[Sender] = match &step {
                Step::Said => &[Sender::Client],
                Step::Ended(_) => &[Sender::Client, Sender::Server],
                _ => &[],
            };
            for sender in over {
                let Some(mut decoder) = decoders.remove(&(lane, *sender)) else {
                    continue;
                };
                let rest = decoder.finish(|bytes| recording.observe(at, *sender, lane, bytes));
                // Of what was broken off it is no news that it is not whole.
                let whole = matches!(&step, Step::Said | Step::Ended(Ended::Complete));
                if let (Err(why), true) = (rest, whole) {
                    recording.step(at, number, Step::Unreadable(*sender, why));
                }
            }
            recording.step(at, number, step);
        }
    }
}

/// One request and its response, as far as they are recorded. Dropped before it ended, it ended
/// because the client left.
pub(super) struct Exchange {
    tap: Arc<Tap>,
    lane: Lane,
    is_over: bool,
    /// It counts only if somebody says so.
    in_doubt: bool,
}

impl Exchange {
    pub(super) fn tap(&self) -> &Arc<Tap> {
        &self.tap
    }

    /// What copies bytes of the body of the request.
    pub(super) fn request(&self) -> Said {
        Said {
            tap: Arc::clone(&self.tap),
            lane: self.lane,
        }
    }

    pub(super) fn answered(&self, answered: Answered, encoding: Option<String>) {
        let step = Step::Answered(Box::new(answered));
        self.tap.add(self.lane, What::Step(step));
        self.encoded(Sender::Server, encoding);
    }

    /// It counts; whether that was in doubt.
    pub(super) fn counts(&mut self) -> bool {
        let in_doubt = std::mem::take(&mut self.in_doubt);
        if in_doubt {
            self.tap.add(self.lane, What::Counts(true));
        }
        in_doubt
    }

    /// The server was not there to answer it.
    pub(super) fn unreachable(&mut self) {
        if !self.in_doubt {
            let answered = Answered {
                status: StatusCode::BAD_GATEWAY.as_u16(),
                ..Answered::default()
            };
            self.answered(answered, None);
        }
        self.ended(Ended::Cut);
    }

    /// Copies bytes of the body of the response.
    pub(super) fn bytes(&self, bytes: &Bytes) {
        // What keeps a stream alive is no answer.
        if bytes.first() != Some(&b':') {
            self.tap.touch();
        }
        let what = What::Bytes(Sender::Server, bytes.clone());
        self.tap.add(self.lane, what);
    }

    pub(super) fn ended(&mut self, ended: Ended) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        let what = match self.in_doubt {
            true => What::Counts(false),
            false => What::Step(Step::Ended(ended)),
        };
        self.tap.add(self.lane, what);
        if let Lane::Post(_) = self.lane {
            self.tap.touch();
            self.tap.under_way.fetch_sub(1, Ordering::SeqCst);
        }
    }

    fn encoded(&self, sender: Sender, encoding: Option<String>) {
        if let Some(encoding) = encoding {
            self.tap.add(self.lane, What::Encoded(sender, encoding));
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.ended(Ended::ClientClosed);
    }
}

/// Copies the body of a request.
pub(super) struct Said {
    tap: Arc<Tap>,
    lane: Lane,
}

impl Said {
    pub(super) fn tap(&self) -> &Arc<Tap> {
        &self.tap
    }

    pub(super) fn bytes(&self, bytes: &Bytes) {
        let what = What::Bytes(Sender::Client, bytes.clone());
        self.tap.add(self.lane, what);
    }

    pub(super) fn over(&self) {
        self.tap.add(self.lane, What::Step(Step::Said));
    }
}
