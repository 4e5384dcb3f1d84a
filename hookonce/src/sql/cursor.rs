//! How far each consumer has got: the position of the last pass that listed it, or its own; before the first one,
//! where it begins. Read once, then kept beside the writer, which is the only one that moves them.

use std::collections::BTreeMap;

use hookonce_core::consumer::ConsumerId;
use hookonce_core::event::EventNo;
use hookonce_core::route::{Pass, Routing};

use super::call::Row;
use crate::store::StoreError;

#[derive(Clone, Debug, Default)]
pub struct Cursors {
    passed: BTreeMap<ConsumerId, At>,
    begins: BTreeMap<ConsumerId, EventNo>,
}

/// The pass that says it.
#[derive(Clone, Copy, Debug)]
struct At {
    n: i64,
    pos: EventNo,
}

impl Cursors {
    /// Of the rows of consumers (id, where it begins) and of passes (n, position, own, consumers), each in their order.
    pub fn of_rows(begins: Vec<Row>, passes: Vec<Row>) -> Result<Cursors, StoreError> {
        let mut cursors = Cursors::default();
        cursors.begin(begins)?;
        cursors.go_on(passes)?;
        Ok(cursors)
    }

    /// Over later passes than were seen before.
    pub fn go_on(&mut self, passes: Vec<Row>) -> Result<(), StoreError> {
        for mut row in passes {
            let (n, pos, own) = (row.int(0)?, row.int(1)?, row.opt_int(2)?);
            self.see(n, pos, own, &ids(&row.text(3)?));
        }
        Ok(())
    }

    /// Where new consumers begin.
    pub fn begin(&mut self, begins: Vec<Row>) -> Result<(), StoreError> {
        for row in begins {
            self.begins.insert(row.int(0)?, row.int(1)?);
        }
        Ok(())
    }

    pub fn moved(&mut self, pass: &Pass) {
        self.see(pass.n, pass.pos, pass.own, &pass.consumers);
    }

    fn see(&mut self, n: i64, pos: EventNo, own: Option<ConsumerId>, listed: &[ConsumerId]) {
        let listed = if own.is_none() { listed } else { &[] };
        for id in own.iter().chain(listed) {
            let at = self.passed.entry(*id).or_insert(At { n, pos });
            // Of two passes of one process the later one may be heard of first.
            if n > at.n {
                *at = At { n, pos };
            }
        }
    }

    pub fn of(&self, routing: &Routing) -> BTreeMap<ConsumerId, EventNo> {
        routing.consumers.iter().map(|c| (c.id, self.at(c.id))).collect()
    }

    pub fn at(&self, id: ConsumerId) -> EventNo {
        self.passed.get(&id).map(|at| at.pos).or_else(|| self.begins.get(&id).copied()).unwrap_or(0)
    }

    /// Rows that say how far somebody has got: they outlive the trimming.
    pub fn kept(&self) -> Vec<i64> {
        let mut kept: Vec<i64> = self.passed.values().map(|at| at.n).collect();
        kept.sort_unstable();
        kept.dedup();
        kept
    }
}

/// The list of a pass row, as it is written.
pub fn ids(text: &str) -> Vec<ConsumerId> {
    text.split(',').filter_map(|id| id.parse().ok()).collect()
}

pub fn listed(ids: &[ConsumerId]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}
