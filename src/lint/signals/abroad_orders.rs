//! Orders in languages beside English: claimed roles, which tools are used, consent, and
//! what whoever reads for people is told to do.

use super::abroad::{Abroad, COMPANY_REACH, Found, OBJECT_REACH, joined};
use super::{Concept, SignalKind, Strength};

impl Abroad<'_> {
    /// Orders of other kinds.
    pub(super) fn orders(&self, found: &mut Vec<Found>) {
        for (_, change) in self.hits.of(Concept::RoleChange) {
            found.push((SignalKind::Role, Strength::Strong, change.range()));
        }
        for (at, prime) in self.hits.of(Concept::Prime) {
            // "Before the other tools of this server" is how a set of tools is used.
            if !self.is_param(at) {
                found.push((SignalKind::Prime, Strength::Weak, prime.range()));
            }
        }
        for (_, imperative) in self.hits.of(Concept::Imperative) {
            found.push((SignalKind::Addressed, Strength::Weak, imperative.range()));
        }
        for (at, consent) in self.hits.of(Concept::Consent) {
            if !self.is_param(at) && !self.is_negated(at) {
                // Who says that the user agreed, and that nobody is to be asked, says it to
                // the reader.
                let reach = COMPANY_REACH * self.width;
                let given = self.hits.near(at, Concept::Given, reach, 1);
                let strength = match given {
                    Some(given) if given.end <= consent.start || given.start >= consent.end => {
                        Strength::Strong
                    }
                    _ => Strength::Weak,
                };
                found.push((SignalKind::Consent, strength, consent.range()));
            }
        }
        let orders = [
            Concept::TransferVerb,
            Concept::ReadVerb,
            Concept::Prime,
            Concept::Consent,
            Concept::RemoteExec,
            Concept::RoleChange,
            Concept::Conceal,
            Concept::Untold,
            Concept::OverrideVerb,
            Concept::Off,
            Concept::Deed,
            Concept::Lie,
            Concept::Tamper,
            Concept::Hush,
            Concept::Unknowing,
            Concept::Memory,
        ];
        for (at, address) in self.hits.of(Concept::Address) {
            if let Some(order) = self.nearest(at, &orders, OBJECT_REACH, 3) {
                let range = joined(&[address, order]);
                found.push((SignalKind::Addressed, Strength::Strong, range));
            }
        }
        for (at, exec) in self.hits.of(Concept::RemoteExec) {
            let company = [Concept::Prime, Concept::Consent, Concept::Unseen];
            let pressed = self.is_pressed(at)
                || company.iter().any(|concept| {
                    let reach = COMPANY_REACH * self.width;
                    self.hits.near(at, *concept, reach, 2).is_some()
                });
            if pressed {
                found.push((SignalKind::Execute, Strength::Strong, exec.range()));
            }
        }
    }
}
