//! All recorded requests by their keys, and how far a live session has used them up.

use super::key::Key;
use crate::wire::mcp::is_asked_at_will;
use std::collections::HashMap;

/// In which order recorded requests may be asked again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Ordering {
    /// The earliest one with the same key that is not used up.
    #[default]
    PerMethod,
    /// The next one of the recording, or none.
    Strict,
    /// Any with the same key, as often as one likes.
    None,
}

/// What happens when all recorded requests with a key are used up (under [`Ordering::PerMethod`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OnExhausted {
    /// Listings and reads are answered as the last time, everything else is a miss.
    #[default]
    Auto,
    /// Everything is answered as the last time.
    Repeat,
    /// Everything is a miss.
    Error,
}

/// What there is for a live request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// This recorded request, which is used up now.
    New {
        exchange: u32,
        group: Group,
    },
    /// This one once more.
    Again {
        exchange: u32,
        group: Group,
    },
    /// It was recorded so many times, and all of them are used up.
    UsedUp {
        times: u32,
    },
    /// Under [`Ordering::Strict`]: it was recorded, but something else is next.
    NotNext {
        next: Option<u32>,
    },
    Nothing,
}

/// What a found request has in common with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) chain: u32,
    /// How many recorded requests of the session share the key.
    pub(crate) size: u32,
    /// They were found by what redaction makes of the live request.
    pub(crate) redacted: bool,
}

/// The keys that a live request can be found by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) method: &'a str,
    pub(crate) session: u32,
    /// As it was asked.
    pub(crate) exact: Key,
    /// As the recording's own redaction makes it, if that is another one.
    pub(crate) redacted: Option<Key>,
}

/// The recorded requests. Numbers of exchanges are given by the caller and ascend.
#[derive(Debug, Default)]
pub(crate) struct Index {
    ordering: Ordering,
    on_exhausted: OnExhausted,
    /// Requests that redaction changed have keys apart.
    by_key: HashMap<(u32, bool, Key), u32>,
    /// The first of the chains with a key, of whatever session; only with several sessions.
    of_any_session: HashMap<(bool, Key), u32>,
    chains: Vec<Chain>,
    /// For each exchange the next one with its key, and its chain.
    links: Vec<Link>,
    /// Under [`Ordering::Strict`] each session has a line of its own: several went on at once.
    apart: bool,
}

/// The exchanges of one session with one key.
#[derive(Clone, Copy, Debug)]
struct Chain {
    first: u32,
    last: u32,
    size: u32,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    next: u32,
    chain: u32,
    session: u32,
}

const NONE: u32 = u32::MAX;

/// What one live session has used up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Usage {
    /// For a chain that was used: the next exchange of it.
    next: HashMap<u32, u32>,
    /// For [`Ordering::Strict`]: the next exchange of the session.
    line: Option<u32>,
}

impl Usage {
    /// Makes `exchange` the next one in line, unless the line is further on: a session begins
    /// at it.
    pub(crate) fn begin_at(&mut self, exchange: u32) {
        self.line = self.line.max(Some(exchange));
    }
}

impl Index {
    pub(crate) fn new(ordering: Ordering, on_exhausted: OnExhausted) -> Index {
        Index {
            ordering,
            on_exhausted,
            ..Index::default()
        }
    }

    /// Room for so many requests.
    pub(crate) fn reserve(&mut self, requests: usize) {
        self.by_key.reserve(requests);
        self.links.reserve(requests);
    }

    /// Adds the next exchange. `key` is absent for one that no request is matched with.
    pub(crate) fn add(&mut self, session: u32, redacted: bool, key: Option<Key>) {
        let exchange = u32::try_from(self.links.len()).unwrap_or(NONE);
        let mut chain = NONE;
        if let Some(key) = key {
            let fresh = u32::try_from(self.chains.len()).unwrap_or(NONE);
            chain = *self.by_key.entry((session, redacted, key)).or_insert(fresh);
            match self.chains.get_mut(chain as usize) {
                Some(known) => {
                    if let Some(last) = self.links.get_mut(known.last as usize) {
                        last.next = exchange;
                    }
                    known.last = exchange;
                    known.size += 1;
                }
                None => self.chains.push(Chain {
                    first: exchange,
                    last: exchange,
                    size: 1,
                }),
            }
        }
        self.links.push(Link {
            next: NONE,
            chain,
            session,
        });
    }

    /// To be called when all are added, if there is more than one session.
    pub(crate) fn join_sessions(&mut self) {
        for (&(_, redacted, key), &chain) in &self.by_key {
            let first = self.of_any_session.entry((redacted, key)).or_insert(chain);
            *first = chain.min(*first);
        }
    }

    /// Has the line of each session be its own.
    pub(crate) fn keep_to_sessions(&mut self) {
        self.apart = true;
    }

    /// Finds what answers a live request, and uses it up. A request that was never asked in its
    /// own session is looked for in the others: what was appended to a recording stands in the
    /// last one.
    pub(crate) fn take(&self, wanted: &Wanted<'_>, usage: &mut Usage) -> Found {
        let session = wanted.session;
        let own = |&(redacted, key): &(bool, Key)| self.by_key.get(&(session, redacted, key));
        let any = |&(redacted, key): &(bool, Key)| self.of_any_session.get(&(redacted, key));
        let mut keys = vec![(false, wanted.exact), (true, wanted.exact)];
        keys.extend(wanted.redacted.map(|key| (true, key)));
        let mut chains: Vec<u32> = keys.iter().filter_map(own).copied().collect();
        if chains.is_empty() {
            chains = keys.iter().filter_map(any).copied().collect();
        }
        let redacted = wanted.redacted.map(|key| (true, key));
        let by_redaction = redacted.and_then(|key| own(&key).or_else(|| any(&key)).copied());
        match self.ordering {
            Ordering::Strict => self.take_next(&chains, session, usage),
            ordering => {
                let again = match (ordering, self.on_exhausted) {
                    (Ordering::None, _) | (_, OnExhausted::Repeat) => true,
                    (_, OnExhausted::Error) => false,
                    (_, OnExhausted::Auto) => is_asked_at_will(wanted.method),
                };
                self.take_unused(&chains, usage, again, by_redaction)
            }
        }
    }

    fn take_unused(
        &self,
        chains: &[u32],
        usage: &mut Usage,
        again: bool,
        by_redaction: Option<u32>,
    ) -> Found {
        let group = |at: u32, chain: &Chain| Group {
            chain: at,
            size: chain.size,
            redacted: by_redaction == Some(at),
        };
        let mut times = 0;
        let mut last = None;
        for &at in chains {
            let Some(chain) = self.chains.get(at as usize) else {
                continue;
            };
            let next = usage.next.entry(at).or_insert(chain.first);
            if let Some(link) = self.links.get(*next as usize) {
                let exchange = std::mem::replace(next, link.next);
                let group = group(at, chain);
                return Found::New { exchange, group };
            }
            times += chain.size;
            last = Some((chain.last, group(at, chain)));
        }
        match last {
            None => Found::Nothing,
            Some((exchange, group)) if again => Found::Again { exchange, group },
            Some(_) => Found::UsedUp { times },
        }
    }

    fn take_next(&self, chains: &[u32], session: u32, usage: &mut Usage) -> Found {
        let line = usage.line.unwrap_or(0);
        let links = self.links.get(line as usize..).unwrap_or_default();
        let of_session = |link: &Link| link.session == session && link.chain != NONE;
        let skipped = match self.apart {
            true => links.iter().position(of_session).unwrap_or(links.len()),
            false => 0,
        };
        let next = line.saturating_add(u32::try_from(skipped).unwrap_or(NONE));
        let Some(link) = self.links.get(next as usize) else {
            let next = None;
            return match chains.is_empty() {
                true => Found::Nothing,
                false => Found::NotNext { next },
            };
        };
        if !chains.contains(&link.chain) {
            let next = Some(next);
            return match chains.is_empty() {
                true => Found::Nothing,
                false => Found::NotNext { next },
            };
        }
        usage.line = Some(next + 1);
        let size = self.chains.get(link.chain as usize);
        Found::New {
            exchange: next,
            group: Group {
                chain: link.chain,
                size: size.map_or(1, |chain| chain.size),
                redacted: false,
            },
        }
    }
}
