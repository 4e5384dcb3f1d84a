//! Copies, bytes and order of what is admitted.

use std::sync::Barrier;
use std::thread;

use hookonce_core::admit::Verdict;

use super::{admit, ask, configured, routed, sound, verdict};
use crate::testkit::script::bed::{Bed, wait};
use crate::view::{Page, Query};

/// Copies that arrive at the same moment (F02).
const COPIES: usize = 64;

/// One is accepted, the others are its duplicates; each is counted once.
pub fn sixty_four_copies_at_once(bed: &(dyn Bed + Sync)) {
    let together = Barrier::new(COPIES);
    let verdicts: Vec<Verdict> = thread::scope(|scope| {
        let copy = || {
            together.wait();
            verdict(bed, "gh/1 agg=a")
        };
        let threads: Vec<_> = (0..COPIES).map(|_| scope.spawn(copy)).collect();
        threads.into_iter().map(|thread| thread.join().expect("a copy is answered")).collect()
    });
    let accepted = verdicts.iter().filter(|v| **v == Verdict::Accepted { event: 1, hold: None }).count();
    let copies = verdicts.iter().filter(|v| **v == Verdict::Duplicate { of: 1 }).count();
    assert_eq!((accepted, copies), (1, COPIES - 1), "{verdicts:?}");
    let rows = bed.rows();
    assert_eq!(rows.ledger.values().map(|l| l.seen).collect::<Vec<_>>(), [COPIES as i64]);
    assert_eq!(rows.request.len(), COPIES - 1);
    sound(bed, &configured(bed));
}

/// What was answered before the other was sent stands before it in the log.
pub fn what_was_answered_first_is_first(bed: &(dyn Bed + Sync)) {
    for n in 0..50 {
        assert_eq!(verdict(bed, &format!("gh/{n}")), Verdict::Accepted { event: n + 1, hold: None });
    }
}

/// A batch's bytes are stored once, each item gives back its own.
pub fn a_batch_is_stored_once(bed: &(dyn Bed + Sync)) {
    let routing = configured(bed);
    let admission = admit(bed, "gh/1 body=first agg=a + gh/2 body=second agg=b + gh/- body=third unmapped=no-id");
    assert_eq!(admission.verdicts.len(), 3);
    let rows = bed.rows();
    assert_eq!(rows.payload.values().map(|p| p.body.as_slice()).collect::<Vec<_>>(), [b"firstsecondthird"]);
    routed(bed, &routing);
    let runs = wait(bed.store().claim(ask(&*bed.store(), 1, 5, &mut 0))).expect("nothing is in the way");
    let bodies: Vec<(&[u8], bool)> = runs.iter().map(|run| (run.event.body.as_ref(), run.event.part)).collect();
    assert_eq!(bodies, [(&b"first"[..], true), (&b"second"[..], true)]);
    sound(bed, &routing);
}

/// The original bytes, as they were sent.
pub fn what_was_sent_comes_back(bed: &(dyn Bed + Sync)) {
    verdict(bed, "gh/1 body={\"a\":1,\"a\":2.0}");
    verdict(bed, "gh/1 body=other");
    let Page::Raw(raw) = wait(bed.store().read(Query::EventRaw { id: 1 })).expect("nothing is in the way") else {
        panic!("event 1 has no bytes")
    };
    assert_eq!((raw.body.as_ref(), raw.target.as_str()), (&b"{\"a\":1,\"a\":2.0}"[..], "POST /in/gh"));
    let conflicts = bed.rows().conflict;
    assert_eq!(conflicts.values().map(|c| c.body.as_slice()).collect::<Vec<_>>(), [b"other"]);
}
