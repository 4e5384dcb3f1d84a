//! The small worlds that statements are tried in.

use hookonce_core::claim::{Ask, LOST_QUIET};
use hookonce_core::lease::{Lease, Token};
use hookonce_core::time::Micros;

use crate::testkit::model::Rows;
use crate::testkit::model::rows::{Delivery, Halted, Hold, Ledger, Requeue, Work};
use crate::testkit::script::{item, words};

pub const NOW: Micros = 1_000;
pub const OURS: Token = [1; 16];
pub const THEIRS: Token = [2; 16];

/// Every way to choose one of the options for each of `places`.
pub fn choices<T: Clone>(options: &[T], places: usize) -> Vec<Vec<T>> {
    (0..places).fold(vec![Vec::new()], |worlds, _| {
        let with = |world: &Vec<T>, option: &T| [world.as_slice(), std::slice::from_ref(option)].concat();
        worlds.iter().flat_map(|world| options.iter().map(|option| with(world, option)).collect::<Vec<_>>()).collect()
    })
}

pub fn work(seq: i64) -> Work {
    Work {
        seq,
        id: seq,
        lane: -1,
        event: seq,
        consumer: 1,
        generation: 0,
        repeat: None,
        due: NOW,
        since: None,
        attempts: 0,
        lost: 0,
        decided: None,
        epoch: 1,
        token: None,
        owner: None,
    }
}

pub fn delivery(seq: i64, lane: i64, open: bool) -> Delivery {
    let state = (!open).then(|| "succeeded".to_owned());
    Delivery {
        seq,
        lane,
        id: seq,
        consumer: 1,
        event: seq,
        generation: 0,
        repeat: None,
        open,
        cancel: false,
        decided: None,
        state,
        attempts: 0,
        ended: None,
    }
}

pub fn halted(seq: i64, lane: i64) -> Halted {
    Halted {
        id: seq,
        seq,
        lane,
        consumer: 1,
        event: seq,
        generation: 0,
        aggregate: None,
        version: None,
        kind: "dead".into(),
        reason: String::new(),
        evidence: None,
        since: 0,
        attempts: 1,
        lost: 0,
        epoch: 1,
    }
}

/// Work rows as a claim may find them.
pub fn claimable() -> Vec<Option<Work>> {
    let mut rows = vec![None];
    for due in [NOW - 1, NOW, NOW + 1] {
        for lost in [0, LOST_QUIET - 1, LOST_QUIET, LOST_QUIET + 1] {
            for token in [None, Some(OURS)] {
                rows.push(Some(Work { due, lost, token, ..work(0) }));
            }
        }
    }
    rows.push(Some(Work { consumer: 2, ..work(0) }));
    rows
}

pub fn works(rows: &[Option<Work>]) -> Rows {
    let mut world = Rows::default();
    for (at, row) in rows.iter().enumerate() {
        let seq = at as i64 + 1;
        if let Some(row) = row {
            world.work.put(Work { seq, id: seq, event: seq, ..row.clone() });
        }
    }
    world
}

/// One place in a lane or beside it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Nothing,
    Elsewhere,
    Closed,
    ClosedHalted,
    Open,
    OpenWork,
    OpenHalted,
}

pub const PLACES: [Place; 7] = [
    Place::Nothing,
    Place::Elsewhere,
    Place::Closed,
    Place::ClosedHalted,
    Place::Open,
    Place::OpenWork,
    Place::OpenHalted,
];

pub fn lane(places: &[Place]) -> Rows {
    let mut world = Rows::default();
    for (at, place) in places.iter().enumerate() {
        let seq = at as i64 + 1;
        match place {
            Place::Nothing => continue,
            Place::Elsewhere => world.delivery.put(delivery(seq, -2, true)),
            Place::Closed | Place::ClosedHalted => world.delivery.put(delivery(seq, -1, false)),
            Place::Open | Place::OpenWork | Place::OpenHalted => world.delivery.put(delivery(seq, -1, true)),
        }
        match place {
            Place::OpenWork => world.work.put(work(seq)),
            Place::ClosedHalted | Place::OpenHalted => world.halted.put(halted(seq, -1)),
            _ => {}
        }
    }
    world
}

/// Event 1 with two deliveries in every state, beside that of another; held or not, asked for or not.
pub fn unfinished() -> Vec<Rows> {
    let (holds, asked) = ([None, Some(None), Some(Some(true)), Some(Some(false))], [None, Some(1), Some(2)]);
    let mut worlds = Vec::new();
    for places in choices(&PLACES, 2) {
        for (hold, event) in holds.iter().flat_map(|hold| asked.map(|event| (hold, event))) {
            let mut world = lane(&places);
            for delivery in world.delivery.values_mut() {
                let event = if delivery.lane == -2 { 2 } else { 1 };
                (delivery.event, delivery.consumer) = (event, delivery.seq);
                delivery.ended = (!delivery.open).then_some(NOW + delivery.seq);
            }
            if let Some(released) = hold {
                let reason = "schema_version".into();
                let hold = Hold { event: 1, reason, evidence: None, since: 0, decided: None, released: *released };
                world.hold.put(hold);
            }
            if let Some(event) = event {
                world.requeue.put(requeue(event));
            }
            worlds.push(world);
        }
    }
    worlds
}

fn requeue(event: i64) -> Requeue {
    let kind = "release".into();
    Requeue { id: 1, kind, event, consumer: None, generation: 0, repeat: None, decided: None, delivery: None }
}

pub fn ask(count: usize, quiet: bool) -> Ask {
    Ask { consumer: 1, tokens: vec![THEIRS; count], lease: 100, owner: 2, quiet }
}

/// What the fence may meet, and the lease that is shown: every seq, epoch, token and generation that fits or not.
pub fn fenced() -> Vec<(Rows, Lease)> {
    let held = [None, Some((1, None)), Some((1, Some(OURS))), Some((1, Some(THEIRS))), Some((2, Some(OURS)))];
    let mut worlds = Vec::new();
    for (row, seq) in held.iter().flat_map(|row| [1, 2].map(|seq| (row, seq))) {
        for (epoch, token) in [(1, OURS), (1, THEIRS), (2, OURS), (2, THEIRS)] {
            for store in [0, 1] {
                let mut world = works(&[row.map(|(epoch, token)| Work { epoch, token, ..work(0) })]);
                world.counters.generation = 1;
                worlds.push((world, Lease { seq, epoch, token, store }));
            }
        }
    }
    worlds
}

/// An item with a guard.
pub fn a_copy(body: &str) -> hookonce_core::event::Item {
    let line = words::line(1, &format!("admit gh/1 guard=hold:S body={body}"));
    let mapped = item::submission(&line, NOW).expect("the line is written by hand").mapped.remove(0);
    match mapped {
        hookonce_core::event::Mapped::Item(item) => *item,
        hookonce_core::event::Mapped::Unmapped { .. } => unreachable!("the line names a key"),
    }
}

pub fn ledger(digest: [u8; 16], event: i64, last_seen: Micros) -> Ledger {
    let item = a_copy("A");
    Ledger {
        digest,
        fingerprint: item.fingerprint,
        body_hash: item.body_hash,
        rule: item.rule,
        event,
        first_seen: 1,
        last_seen,
        seen: 3,
    }
}

pub fn ledgers(rows: &[Option<Ledger>]) -> Rows {
    let mut world = Rows::default();
    rows.iter().flatten().for_each(|row| world.ledger.put(row.clone()));
    world
}
