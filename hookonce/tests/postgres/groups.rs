//! Groups: many requests share a commit; the one that cannot be stored stands alone in the end.

use std::sync::Arc;

use futures_util::future::join_all;
use hookonce::postgres::Options;
use hookonce::store::{Store as _, StoreError};
use hookonce_core::admit::{Differs, Submission, Verdict};
use hookonce_core::event::Mapped;

use crate::bed::Bed;
use crate::sent::sent;
use crate::tap::Gate;

/// A store whose only writer stands before its second group, so that what is sent meanwhile shares one.
fn together(bed: &Bed, gate: &Gate, all: Vec<Submission>) -> Vec<Result<Vec<Verdict>, StoreError>> {
    gate.close("begin");
    let first = bed.store.admit(sent("first", "first"));
    gate.reached();
    let rest: Vec<_> = all.into_iter().map(|submission| bed.store.admit(submission)).collect();
    gate.open();
    bed.wait(first).unwrap();
    bed.wait(join_all(rest)).into_iter().map(|answer| answer.map(|admission| admission.verdicts)).collect()
}

fn gated() -> (Bed, Arc<Gate>) {
    let gate = Arc::new(Gate::default());
    let bed = Bed::new(Options { tap: Some(gate.clone()), writers: 1, ..Options::default() });
    (bed, gate)
}

#[test]
fn one_key_twice_in_a_group_with_equal_and_other_content() {
    let (bed, gate) = gated();
    let all = vec![sent("k", "x"), sent("k", "x"), sent("k", "y"), sent("k", "y"), sent("other", "x")];
    let answers = together(&bed, &gate, all);
    let of: Vec<Verdict> = answers.into_iter().map(|answer| answer.unwrap().remove(0)).collect();
    let conflict = Verdict::Conflict { with: 2, differs: Differs::Payload, kept: true };
    let want = [
        Verdict::Accepted { event: 2, hold: None },
        Verdict::Duplicate { of: 2 },
        conflict.clone(),
        conflict,
        Verdict::Accepted { event: 6, hold: None },
    ];
    assert_eq!(of, want);
    let rows = bed.rows();
    assert_eq!(rows.tally.len(), 2, "two groups, two commits");
    let seen: Vec<i64> = rows.event.values().map(|event| rows.ledger[&event.digest].seen).collect();
    assert_eq!(seen, [1, 2, 1]);
    assert_eq!(rows.conflict.values().map(|conflict| conflict.seen).collect::<Vec<_>>(), [2]);
}

#[test]
fn a_value_that_cannot_be_stored_is_kept_as_unmapped_and_harms_nobody() {
    let (bed, gate) = gated();
    bed.stranger().run("alter table hookonce.event add constraint poison check (key_text <> 'poison')");
    let all = (0..33).map(|n| if n == 20 { sent("poison", "p") } else { sent(&format!("k{n}"), "x") }).collect();
    let answers = together(&bed, &gate, all);
    for (n, answer) in answers.iter().enumerate() {
        match (n, &answer.as_ref().unwrap()[0]) {
            (20, Verdict::Unmapped { reason, .. }) => assert!(reason.contains("poison"), "{reason}"),
            (20, other) => panic!("the culprit came to {other:?}"),
            (_, verdict) => assert!(matches!(verdict, Verdict::Accepted { .. }), "{n}: {verdict:?}"),
        }
    }
    let rows = bed.rows();
    assert_eq!((rows.event.len(), rows.ledger.len()), (33, 33), "its key is not used up");
    let unmapped: Vec<i64> = rows.unmapped.values().map(|row| row.payload).collect();
    assert!(unmapped.len() == 1 && rows.payload[&unmapped[0]].body == b"p");
}

#[test]
fn what_cannot_be_kept_at_all_is_refused_alone() {
    let (bed, gate) = gated();
    for table in ["event", "unmapped"] {
        let name = format!("poison_{table}");
        bed.stranger().run(&format!("alter table hookonce.{table} add constraint {name} check (source <> 'poison')"));
    }
    let mut poison = sent("p", "p");
    poison.source = "poison".into();
    if let Mapped::Item(item) = &mut poison.mapped[0] {
        item.source = "poison".into();
    }
    let answers = together(&bed, &gate, vec![sent("a", "x"), poison, sent("b", "x")]);
    assert!(answers[0].is_ok() && answers[2].is_ok(), "{answers:?}");
    assert!(matches!(&answers[1], Err(StoreError::Refused(why)) if why.contains("poison")), "{:?}", answers[1]);
    assert_eq!(bed.rows().payload.len(), 3, "nothing of it stays");
}

#[test]
fn f05_bytes_that_are_no_text_come_back_as_they_went() {
    let bed = Bed::new(Options::default());
    let (key, body) = ("evt\0x", &b"{\"note\":\"a\\u0000b\"}\0\xff\xfe"[..]);
    let mut submission = sent(key, "");
    submission.body = bytes::Bytes::from_static(body);
    assert_eq!(bed.admit(submission), Ok(vec![Verdict::Accepted { event: 1, hold: None }]));
    assert_eq!(bed.admit(sent("evtx", "other")), Ok(vec![Verdict::Accepted { event: 2, hold: None }]));
    let rows = bed.rows();
    assert_eq!((rows.event[&1].key.as_slice(), rows.event[&1].key_text.as_str()), (key.as_bytes(), key));
    assert_eq!(rows.payload[&1].body, body);
}

#[test]
fn a_key_of_ten_kilobytes_is_a_key() {
    let bed = Bed::new(Options::default());
    let key = "k".repeat(10_000);
    assert_eq!(bed.admit(sent(&key, "x")), Ok(vec![Verdict::Accepted { event: 1, hold: None }]));
    assert_eq!(bed.admit(sent(&key, "x")), Ok(vec![Verdict::Duplicate { of: 1 }]));
    let other = bed.admit(sent(&format!("{key}2"), "x"));
    assert!(matches!(other.as_deref(), Ok([Verdict::Accepted { .. }])), "{other:?}");
}
