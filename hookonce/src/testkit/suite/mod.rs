//! Cases of the store contract that a script cannot say: bytes, answers of several verbs at once, many threads.
//!
//! Each is a plain function over a bed, run for every backend by the list in `tests/suite.rs`; it panics with what it
//! found. Runs of many threads have no one right answer: they are judged by what was answered and by the invariants.

mod copies;
mod crowd;
mod work;

use hookonce_core::admit::{Admission, Verdict};
use hookonce_core::claim::Ask;
use hookonce_core::consumer::Consumer;
use hookonce_core::delivery::Outcome;
use hookonce_core::route::Routing;
use hookonce_core::settle::{Settled, plan};
use hookonce_core::time::{Micros, SECOND};

pub use copies::{
    a_batch_is_stored_once, sixty_four_copies_at_once, what_was_answered_first_is_first, what_was_sent_comes_back,
};
pub use crowd::a_crowd_with_zombies;
pub use work::{
    a_settle_claims_the_next, one_holder_a_lane, repeated_verbs_change_nothing, two_routers_one_order, what_is_due_next,
};

use super::explore::setup::consumer;
use super::invariant::{self, Configurations};
use super::script::bed::{Bed, wait};
use super::script::{item, words};
use crate::clock::Clock as _;
use crate::store::{Run, Store};

const LEASE: Micros = 10 * SECOND;

/// Admits what a script line says.
fn admit(bed: &dyn Bed, line: &str) -> Admission {
    let line = words::line(1, &format!("admit {line}"));
    let submission = item::submission(&line, bed.clock().now()).expect("the line is written by hand");
    wait(bed.store().admit(submission)).expect("nothing is in the way")
}

fn verdict(bed: &dyn Bed, line: &str) -> Verdict {
    admit(bed, line).verdicts.into_iter().next().expect("one item, one verdict")
}

/// One consumer with lanes that takes everything.
fn configured(bed: &dyn Bed) -> Routing {
    let app: Consumer = consumer("app", "*/*", hookonce_core::consumer::OnDead::Hold);
    wait(bed.store().configure(vec![app])).expect("nothing is in the way")
}

/// Routes until there is nothing to route.
fn routed(bed: &dyn Bed, routing: &Routing) {
    while wait(bed.store().route(routing)).expect("nothing is in the way").more {}
}

/// Tokens that no other claim of the test has.
fn ask(store: &dyn Store, consumer: i64, count: usize, draw: &mut u64) -> Ask {
    let mut token = || {
        *draw += 1;
        let mut token = [0; 16];
        token[..8].copy_from_slice(&draw.to_be_bytes());
        token
    };
    let tokens = (0..count).map(|_| token()).collect();
    Ask { consumer, tokens, lease: LEASE, owner: store.identity().instance, quiet: false }
}

fn settled(store: &dyn Store, run: &Run, outcome: &Outcome, consumer: &Consumer) -> Settled {
    let ending = plan(&run.claimed, outcome, consumer, 0, 0);
    let (settled, _) = wait(store.settle(vec![ending], None)).expect("nothing is in the way");
    settled[0]
}

/// Every invariant that the tables can show.
fn sound(bed: &dyn Bed, routing: &Routing) {
    let configurations = Configurations::from([(routing.config, routing.clone())]);
    let wrong = invariant::of_rows(&bed.rows(), &configurations);
    assert!(wrong.is_empty(), "{wrong:#?}");
}
