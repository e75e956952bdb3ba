//! Where a message of the server goes that names no request: to the playlist of what it followed.

use super::{Builder, Turn, len};
use crate::replay::plan::{NONE, Playlist, Request};
use std::collections::{BTreeSet, HashMap};

impl<F: FnMut(Request<'_>)> Builder<'_, F> {
    /// Gives each message of the server that names no request the playlist of the message which
    /// it followed.
    pub(super) fn place(&mut self) {
        let answers = self.plan.answers.iter();
        self.plan.answered_at = answers.map(|&(row, request)| (request, row)).collect();
        let mut sessions: HashMap<u32, Placing> = HashMap::new();
        for at in 0..self.turns.len() {
            let home = self.homes.get(at).copied().unwrap_or(0);
            let placing = sessions.entry(home).or_default();
            self.place_one(at, placing);
        }
    }

    fn place_one(&mut self, at: usize, placing: &mut Placing) {
        let row = u32::try_from(at).unwrap_or(NONE);
        let (Some(&turn), Some(&owner)) = (self.turns.get(at), self.owner.get(at)) else {
            return;
        };
        match turn {
            Turn::Asked => {
                placing.last = Last::Playlist(owner);
                for early in placing.early.drain(..) {
                    self.own(early, owner);
                }
                let playlist = self.plan.playlists.get(owner as usize);
                // A subscription over HTTP has a response of its own and holds nothing up.
                let aside = |it: &Playlist| it.listens && it.http != NONE;
                if playlist.is_some_and(|it| it.answer != NONE && !aside(it)) {
                    placing.open.insert(owner);
                }
            }
            Turn::Told => placing.last = Last::Told(row),
            Turn::Answered => {
                let owner = self.owner.get(owner as usize);
                placing.last = owner.map_or(placing.last, |&owner| Last::Answered(owner));
            }
            Turn::Answer => {
                placing.open.remove(&owner);
            }
            Turn::Said if owner != NONE && !self.is_aside(owner, placing) => {}
            Turn::Said => match self.followed(row, placing) {
                Some(playlist) => self.own(row, playlist),
                None => placing.early.push(row),
            },
            Turn::Other => {}
        }
    }

    /// Whether a message of a subscription comes after the client has gone on to other things.
    fn is_aside(&self, owner: u32, placing: &Placing) -> bool {
        let playlist = self.plan.playlists.get(owner as usize);
        let aside = playlist.is_some_and(|playlist| playlist.listens && playlist.http != NONE);
        aside && !matches!(placing.last, Last::Playlist(last) if last == owner)
    }

    /// The playlist that a message followed; `None` if there was nothing before it.
    fn followed(&mut self, row: u32, placing: &Placing) -> Option<u32> {
        let answered = self.plan.answered_at.get(&row).copied();
        let found = match placing.last {
            Last::Answered(playlist) if answered.is_none() => Some(playlist),
            _ => self.open_request(&placing.open, answered),
        };
        match (found, placing.last) {
            (Some(playlist), _) => Some(playlist),
            (None, Last::Playlist(playlist) | Last::Answered(playlist)) => Some(playlist),
            (None, Last::Told(told)) => Some(self.told(told)),
            (None, Last::Nothing) => None,
        }
    }

    fn own(&mut self, row: u32, playlist: u32) {
        if let Some(owner) = self.owner.get_mut(row as usize) {
            *owner = playlist;
        }
    }

    /// The latest open request; for a request of the server that the client answered at
    /// `answered` the latest one whose answer came after that.
    fn open_request(&self, open: &BTreeSet<u32>, answered: Option<u32>) -> Option<u32> {
        /// More requests than any client has open at once.
        const LOOKED_AT: usize = 256;
        let waits = |exchange: &&u32| {
            let playlist = self.plan.playlists.get(**exchange as usize);
            playlist.is_some_and(|playlist| answered.is_none_or(|at| playlist.answer > at))
        };
        let mut latest = open.iter().rev().take(LOOKED_AT);
        latest.find(waits).or_else(|| open.last()).copied()
    }

    /// The playlist of a notification, made when something follows it.
    fn told(&mut self, row: u32) -> u32 {
        let known = self.owner.get(row as usize).copied().unwrap_or(NONE);
        if known != NONE {
            return known;
        }
        let playlist = len(&self.plan.playlists);
        let before = |playlist: &Playlist| playlist.begins < row;
        let requests = self.plan.playlists.get(..self.plan.exchanges as usize);
        let requests = requests.unwrap_or_default();
        let home = self.homes.get(row as usize).copied();
        let session = home.unwrap_or(match requests.partition_point(before).checked_sub(1) {
            Some(at) => requests.get(at).map_or(0, |playlist| playlist.session),
            None => 0,
        });
        let row_of = self.cassette.rows.get(row as usize);
        let http = row_of
            .and_then(|row| row.exchange)
            .filter(|_| self.plan.rows.over_http);
        self.plan.playlists.push(Playlist {
            begins: row,
            answer: NONE,
            session,
            first: 0,
            end: 0,
            cancelled: false,
            http: http.unwrap_or(NONE),
            listens: false,
        });
        self.own(row, playlist);
        playlist
    }
}

/// What of a session is open while its messages are placed; over HTTP sessions go on beside each
/// other.
#[derive(Default)]
struct Placing {
    /// Requests that are open and have an answer.
    open: BTreeSet<u32>,
    last: Last,
    /// What was said before the first request.
    early: Vec<u32>,
}

/// The latest message of the client that can have led to something.
#[derive(Clone, Copy, Default)]
enum Last {
    #[default]
    Nothing,
    Playlist(u32),
    Told(u32),
    /// It answered a request of the server, which is in this playlist.
    Answered(u32),
}
