//! Consumers: who must handle events, under which order and with which patience.

use std::sync::Arc;

use crate::time::{DAY, HOUR, Micros, SECOND};

/// The id of a consumer's name in the store. It stays when the definition changes.
pub type ConsumerId = i64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consumer {
    pub id: ConsumerId,
    pub name: Arc<str>,
    pub on: Vec<Pattern>,
    pub order: Order,
    pub on_dead: OnDead,
    pub retry: Policy,
    pub from: From,
    /// The name that message keys are derived from: a renamed consumer pins its old one (`key_name`).
    pub key_name: Arc<str>,
    /// Its work is claimed from outside (`kind = "pull"`); no node hands it to anybody.
    pub pulled: bool,
}

/// `billing/invoice.*`: a source's name and a type, `*` stands for any text in either.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    pub source: String,
    pub kind: String,
}

impl Pattern {
    /// `None`: there is no slash.
    pub fn parse(text: &str) -> Option<Pattern> {
        let (source, kind) = text.split_once('/').unwrap_or((text, "*"));
        (!source.is_empty() && !kind.is_empty()).then(|| Pattern { source: source.into(), kind: kind.into() })
    }

    pub fn matches(&self, source: &str, kind: &str) -> bool {
        glob(&self.source, source) && glob(&self.kind, kind)
    }
}

/// `*` matches any run of characters; nothing else is special. Linear in both texts: the last star is the only place
/// to go back to.
fn glob(pattern: &str, text: &str) -> bool {
    let (p, t) = (pattern.as_bytes(), text.as_bytes());
    let (mut i, mut j) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while j < t.len() {
        if p.get(i) == Some(&b'*') {
            star = Some((i, j));
            i += 1;
        } else if p.get(i) == Some(&t[j]) {
            i += 1;
            j += 1;
        } else if let Some((at, from)) = star {
            star = Some((at, from + 1));
            i = at + 1;
            j = from + 1;
        } else {
            return false;
        }
    }
    p[i..].iter().all(|c| *c == b'*')
}

/// The lane rule. The remaining ones of `design.md` section 5 join here with their decisions in `order`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Every delivery for itself.
    None,
    /// One at a time for each aggregate, in log order.
    Arrival,
}

/// What a dead letter does to its lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnDead {
    Hold,
    Continue,
}

/// How long and how often a delivery is tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    pub first: Micros,
    pub max: Micros,
    /// From the first failure, or the first time that the other side put it off.
    pub give_up_after: Micros,
    pub attempts: Option<i64>,
}

impl Default for Policy {
    fn default() -> Self {
        Policy { first: 5 * SECOND, max: HOUR, give_up_after: 3 * DAY, attempts: None }
    }
}

/// Whether work is handed to a consumer. The configuration lists it, a person pauses and resumes it, and neither knows
/// of the other: whoever is back in the configuration is paused if it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Standing {
    pub listed: bool,
    pub paused: bool,
}

impl Standing {
    const ALL: [(Standing, &'static str); 4] = [
        (Standing { listed: true, paused: false }, "live"),
        (Standing { listed: true, paused: true }, "paused"),
        (Standing { listed: false, paused: false }, "left"),
        (Standing { listed: false, paused: true }, "left_paused"),
    ];

    /// As it is stored.
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(standing, _)| *standing == self).map_or("live", |(_, name)| name)
    }

    pub fn parse(name: &str) -> Option<Standing> {
        Self::ALL.into_iter().find(|(_, known)| *known == name).map(|(standing, _)| standing)
    }

    pub fn works(self) -> bool {
        self.listed && !self.paused
    }

    /// As people see it: there are two words for it.
    pub fn shown(self) -> &'static str {
        if self.works() { "live" } else { "paused" }
    }
}

/// Where in the log a consumer that was not there before begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    Now,
    Beginning,
    Time(Micros),
}

impl Consumer {
    pub fn takes(&self, source: &str, kind: &str) -> bool {
        self.on.iter().any(|p| p.matches(source, kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_left_or_was_paused_is_handed_nothing() {
        for (listed, paused, name, shown) in [
            (true, false, "live", "live"),
            (true, true, "paused", "paused"),
            (false, false, "left", "paused"),
            (false, true, "left_paused", "paused"),
        ] {
            let standing = Standing { listed, paused };
            assert_eq!((standing.name(), standing.shown(), standing.works()), (name, shown, shown == "live"));
            assert_eq!(Standing::parse(name), Some(standing));
        }
        assert_eq!(Standing::parse("Live"), None);
    }

    #[test]
    fn patterns() {
        for (pattern, source, kind, want) in [
            ("billing/invoice.*", "billing", "invoice.paid", true),
            ("billing/invoice.*", "billing", "charge.paid", false),
            ("billing/invoice.*", "crm", "invoice.paid", false),
            ("crm/*", "crm", "Patient.Update", true),
            ("*/*.deleted", "crm", "a.b.deleted", true),
            ("*/*a*b", "x", "aab", true),
            ("*/*a*b", "x", "aba", false),
            ("crm/", "crm", "", false),
            ("crm", "crm", "anything", true),
        ] {
            let got = Pattern::parse(pattern).is_some_and(|p| p.matches(source, kind));
            assert_eq!(got, want, "{pattern} on {source}/{kind}");
        }
    }
}
