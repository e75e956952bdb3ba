//! Which tool that vanished a new one may be.

use super::definition::equal_tools;
use super::equal::{Sense, order};
use super::text::clip;
use crate::wire::node::{Node, Text};
use std::cmp::Ordering;
use std::collections::HashSet;

/// Above this many pairs with one schema, names are not weighed against each other.
const MOST_PAIRS: usize = 10_000;

/// A tool that only one side has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate<'n> {
    pub(crate) name: &'n Text,
    pub(crate) tool: &'n Node,
}

/// Pairs of indices of a tool that vanished and a new one that has its input schema.
///
/// Where several share a schema, as tools without parameters do, equal definitions
/// go together first, then the names that look most alike, then names in order.
/// Each tool is in one pair at most.
pub(crate) fn pairs(vanished: &[Candidate<'_>], new: &[Candidate<'_>]) -> Vec<(usize, usize)> {
    let mut old_order: Vec<usize> = (0..vanished.len()).collect();
    let mut new_order: Vec<usize> = (0..new.len()).collect();
    let old_at = |index: usize| vanished.get(index);
    let new_at = |index: usize| new.get(index);
    old_order.sort_by(|&a, &b| order_candidates(old_at(a), old_at(b)));
    new_order.sort_by(|&a, &b| order_candidates(new_at(a), new_at(b)));
    let mut found = Vec::new();
    let (mut olds, mut news) = (old_order.as_slice(), new_order.as_slice());
    while let (Some(&old), Some(&fresh)) = (olds.first(), news.first()) {
        let ordering = order_schemas(old_at(old), new_at(fresh));
        let old_group = group(olds, |&index| {
            order_schemas(old_at(index), old_at(old)).is_eq()
        });
        let new_group = group(news, |&index| {
            order_schemas(new_at(index), new_at(fresh)).is_eq()
        });
        if ordering.is_eq() {
            pair_group((vanished, old_group), (new, new_group), &mut found);
        }
        if ordering.is_le() {
            olds = olds.get(old_group.len()..).unwrap_or_default();
        }
        if ordering.is_ge() {
            news = news.get(new_group.len()..).unwrap_or_default();
        }
    }
    found.sort_unstable();
    found
}

fn group(indices: &[usize], same: impl Fn(&usize) -> bool) -> &[usize] {
    let end = indices.partition_point(same);
    indices.get(..end.max(1)).unwrap_or_default()
}

fn pair_group(
    (vanished, olds): (&[Candidate<'_>], &[usize]),
    (new, news): (&[Candidate<'_>], &[usize]),
    found: &mut Vec<(usize, usize)>,
) {
    let mut weighed = Vec::new();
    if olds.len().saturating_mul(news.len()) <= MOST_PAIRS {
        for &old in olds {
            for &fresh in news {
                if let (Some(a), Some(b)) = (vanished.get(old), new.get(fresh)) {
                    weighed.push((likeness(a, b), old, fresh));
                }
            }
        }
        // The most alike first; the order of names decides between equals.
        weighed.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    } else {
        weighed.extend(
            olds.iter()
                .zip(news)
                .map(|(&old, &fresh)| (0.0, old, fresh)),
        );
    }
    let (mut taken, mut given) = (HashSet::new(), HashSet::new());
    for (_, old, fresh) in weighed {
        if !taken.contains(&old) && !given.contains(&fresh) {
            taken.insert(old);
            given.insert(fresh);
            found.push((old, fresh));
        }
    }
}

fn likeness(old: &Candidate<'_>, new: &Candidate<'_>) -> f64 {
    let same = if equal_tools(old.tool, new.tool) {
        2.0
    } else {
        0.0
    };
    // The cost of this measure is the product of the lengths.
    let [old, new] = [old, new].map(|candidate| clip(&candidate.name.show(), 128));
    same + strsim::jaro_winkler(&old, &new)
}

fn order_candidates(a: Option<&Candidate<'_>>, b: Option<&Candidate<'_>>) -> Ordering {
    order_schemas(a, b).then_with(|| a.map(|a| a.name).cmp(&b.map(|b| b.name)))
}

fn order_schemas(a: Option<&Candidate<'_>>, b: Option<&Candidate<'_>>) -> Ordering {
    match (schema_of(a), schema_of(b)) {
        (Some(a), Some(b)) => order(a, b, Sense::Schema),
        (a, b) => a.is_some().cmp(&b.is_some()),
    }
}

fn schema_of<'n>(candidate: Option<&Candidate<'n>>) -> Option<&'n Node> {
    candidate?.tool.member("inputSchema")
}
