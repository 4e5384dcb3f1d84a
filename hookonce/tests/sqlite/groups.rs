//! Groups: many requests share a commit; the one that cannot be stored stands alone in the end.

use std::sync::Arc;

use futures_util::future::join_all;
use hookonce::sqlite::Options;
use hookonce::store::{Store as _, StoreError};
use hookonce::view::{Page, Query};
use hookonce_core::admit::{Differs, Submission, Verdict};
use hookonce_core::event::Mapped;

use crate::bed::{Bed, item, of_items, sent};
use crate::tap::Gate;

/// A store whose inbox writer stands before its second group, so that what is sent meanwhile shares one.
async fn together(bed: &Bed, gate: &Gate, all: Vec<Submission>) -> Vec<Result<Vec<Verdict>, StoreError>> {
    gate.close("begin");
    let first = bed.store.admit(sent("first", "first"));
    gate.reached();
    let rest: Vec<_> = all.into_iter().map(|submission| bed.store.admit(submission)).collect();
    gate.open();
    first.await.unwrap();
    join_all(rest).await.into_iter().map(|answer| answer.map(|admission| admission.verdicts)).collect()
}

fn gated() -> (Bed, Arc<Gate>) {
    let gate = Arc::new(Gate::default());
    let tap = gate.clone();
    (Bed::with(|options| Options { tap: Some(tap), ..options }), gate)
}

#[tokio::test]
async fn one_key_twice_in_a_group_with_equal_and_other_content() {
    let (bed, gate) = gated();
    let all = vec![sent("k", "x"), sent("k", "x"), sent("k", "y"), sent("k", "y"), sent("other", "x")];
    let answers = together(&bed, &gate, all).await;
    let of: Vec<Verdict> = answers.into_iter().map(|answer| answer.unwrap().remove(0)).collect();
    let conflict = Verdict::Conflict { with: 2, differs: Differs::Payload, kept: true };
    let want = [
        Verdict::Accepted { event: 2, hold: None },
        Verdict::Duplicate { of: 2 },
        conflict.clone(),
        conflict,
        Verdict::Accepted { event: 3, hold: None },
    ];
    assert_eq!(of, want);
    assert_eq!(bed.inbox_count("select count(distinct received) from hookonce_event"), 1);
}

#[tokio::test]
async fn a_value_that_cannot_be_stored_is_kept_as_unmapped_and_harms_nobody() {
    let (bed, gate) = gated();
    bed.on_inbox(
        "create trigger poison before insert on hookonce_event when new.key_text = 'poison'
         begin select raise(abort, 'poisoned'); end",
    );
    let all = (0..33).map(|n| if n == 20 { sent("poison", "p") } else { sent(&format!("k{n}"), "x") }).collect();
    let answers = together(&bed, &gate, all).await;
    for (n, answer) in answers.iter().enumerate() {
        let verdict = &answer.as_ref().unwrap()[0];
        match (n, verdict) {
            (20, Verdict::Unmapped { reason, .. }) => assert!(reason.contains("poisoned"), "{reason}"),
            (20, other) => panic!("the culprit came to {other:?}"),
            (_, verdict) => assert!(matches!(verdict, Verdict::Accepted { .. }), "{n}: {verdict:?}"),
        }
    }
    assert_eq!(bed.inbox_count("select count(*) from hookonce_event"), 33);
    assert_eq!(bed.inbox_count("select max(id) from hookonce_event"), 33, "numbers stay dense");
    assert_eq!(
        bed.inbox_count("select count(*) from hookonce_unmapped u join hookonce_payload p on p.id = u.payload"),
        1
    );
    assert_eq!(bed.inbox_count("select count(*) from hookonce_ledger"), 33, "its key is not used up");
}

#[tokio::test]
async fn what_cannot_be_kept_at_all_is_refused_alone() {
    let (bed, gate) = gated();
    for table in ["event", "unmapped"] {
        bed.on_inbox(&format!(
            "create trigger poison_{table} before insert on hookonce_{table} when new.source = 'poison'
             begin select raise(abort, 'poisoned'); end"
        ));
    }
    let mut poison = sent("p", "p");
    poison.source = "poison".into();
    if let Mapped::Item(item) = &mut poison.mapped[0] {
        item.source = "poison".into();
    }
    let answers = together(&bed, &gate, vec![sent("a", "x"), poison, sent("b", "x")]).await;
    assert!(answers[0].is_ok() && answers[2].is_ok());
    assert!(matches!(&answers[1], Err(StoreError::Refused(why)) if why.contains("poisoned")), "{:?}", answers[1]);
    assert_eq!(bed.inbox_count("select count(*) from hookonce_payload where id > 1"), 2, "nothing of it stays");
}

#[tokio::test]
async fn f05_bytes_that_are_no_text_come_back_as_they_went() {
    let bed = Bed::new();
    let key = "evt\0x";
    let body = b"{\"note\":\"a\\u0000b\"}\0\xff\xfe";
    let mut submission = sent(key, "");
    submission.body = bytes::Bytes::from_static(body);
    assert_eq!(bed.store.admit(submission).await.unwrap().verdicts[0], Verdict::Accepted { event: 1, hold: None });
    assert_eq!(bed.admit("evtx", "other").await, Verdict::Accepted { event: 2, hold: None });
    let routing = bed.consumers(vec![crate::bed::consumer("app", hookonce_core::consumer::Order::None)]).await;
    bed.route(&routing).await;
    let runs = bed.claim(1, 2).await;
    assert_eq!(runs[0].event.body.as_ref(), body);
    assert_eq!((runs[0].event.key.as_slice(), runs[0].event.key_text.as_str()), (key.as_bytes(), key));
}

#[tokio::test]
async fn a_key_of_ten_kilobytes_is_a_key() {
    let bed = Bed::new();
    let key = "k".repeat(10_000);
    assert_eq!(bed.admit(&key, "x").await, Verdict::Accepted { event: 1, hold: None });
    assert_eq!(bed.admit(&key, "x").await, Verdict::Duplicate { of: 1 });
    assert_eq!(bed.admit(&format!("{key}2"), "x").await, Verdict::Accepted { event: 2, hold: None });
}

#[tokio::test]
async fn a_batch_stores_its_bytes_once_and_gives_each_item_its_own() {
    let bed = Bed::new();
    let body = b"[\"one\",\"two\",\"\"]";
    let part = |n: u32, key: &str, span: (u64, u64)| {
        let mut part = item(key, &body[span.0 as usize..span.1 as usize]);
        (part.item, part.span) = (n, Some(span));
        Mapped::Item(Box::new(part))
    };
    let unmapped = Mapped::Unmapped { item: 2, span: Some((13, 15)), reason: "no id".into() };
    let mapped = vec![part(0, "b1", (1, 6)), part(1, "b2", (7, 12)), unmapped];
    let verdicts = bed.store.admit(of_items(body, mapped)).await.unwrap().verdicts;
    assert!(matches!(verdicts[..], [Verdict::Accepted { .. }, Verdict::Accepted { .. }, Verdict::Unmapped { .. }]));
    assert_eq!(bed.inbox_count("select count(*) from hookonce_payload"), 1);
    let routing = bed.consumers(vec![crate::bed::consumer("app", hookonce_core::consumer::Order::None)]).await;
    bed.route(&routing).await;
    let bodies: Vec<_> =
        bed.claim(1, 5).await.into_iter().map(|run| (run.event.body.clone(), run.event.part)).collect();
    assert_eq!(bodies, [("\"one\"".into(), true), ("\"two\"".into(), true)]);
}

/// `{"events":[{"id":1},{"id":"two"}]}` and `{"events":[{"id":1,"x":2}]}` as gzip packs them.
const PACKED: &[u8] =
    b"\x1f\x8b\x08\0\0\0\0\0\x02\x03\xab\x56\x4a\x2d\x4b\xcd\x2b\x29\x56\xb2\x8a\xae\x56\xca\x4c\x51\xb2\x32\xac\
    \xd5\x81\x30\x94\x4a\xca\xf3\x95\x6a\x63\x6b\x01\x76\x3b\xba\xd0\x22\0\0\0";
const CHANGED: &[u8] =
    b"\x1f\x8b\x08\0\0\0\0\0\x02\x03\xab\x56\x4a\x2d\x4b\xcd\x2b\x29\x56\xb2\x8a\xae\x56\xca\x4c\x51\xb2\x32\xd4\
    \x51\xaa\x50\xb2\x32\xaa\x8d\xad\x05\0\x02\x63\xda\x06\x1b\0\0\0";

/// The stored bytes are the signed ones, spans count the decoded ones.
#[tokio::test]
async fn items_of_a_coded_body_are_their_own_bytes_everywhere() {
    let bed = Bed::new();
    let part = |n: u32, key: &str, bytes: &[u8], start: u64| {
        let mut part = item(key, bytes);
        (part.item, part.span) = (n, Some((start, start + bytes.len() as u64)));
        Mapped::Item(Box::new(part))
    };
    let coded = |body: &[u8], mapped| {
        let coding = (http::header::CONTENT_ENCODING, http::HeaderValue::from_static("gzip"));
        let headers = hookonce_core::request::Headers(vec![coding]);
        Submission { headers, ..of_items(body, mapped) }
    };
    let items = vec![part(0, "b1", br#"{"id":1}"#, 11), part(1, "b2", br#"{"id":"two"}"#, 20)];
    bed.store.admit(coded(PACKED, items)).await.unwrap();
    let verdicts = bed.store.admit(coded(CHANGED, vec![part(0, "b1", br#"{"id":1,"x":2}"#, 11)])).await.unwrap();
    assert!(matches!(verdicts.verdicts[..], [Verdict::Conflict { kept: true, .. }]));

    let routing = bed.consumers(vec![crate::bed::consumer("app", hookonce_core::consumer::Order::None)]).await;
    bed.route(&routing).await;
    let bodies: Vec<_> = bed.claim(1, 5).await.into_iter().map(|run| run.event.body.clone()).collect();
    assert_eq!(bodies, [r#"{"id":1}"#, r#"{"id":"two"}"#]);
    for (query, want) in
        [(Query::EventRaw { id: 2 }, r#"{"id":"two"}"#), (Query::RequestRaw { id: 1 }, r#"{"id":1,"x":2}"#)]
    {
        let Page::Raw(raw) = bed.store.read(query).await.unwrap() else { panic!("no bytes") };
        assert_eq!(raw.body, want);
    }
}
