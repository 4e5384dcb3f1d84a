//! The rig against itself: the load aimed at a receiver of ours, without any server between.

use std::sync::Arc;

use super::load::Provider;
use super::receiver::{Manner, Receiver};
use super::traffic::{Letter, Source, invent};
use super::{Clock, Place};
use crate::checker::Sends;
use crate::dice::Dice;
use crate::history::{Books, Evidence, Kind, Validity};
use crate::sign;

fn rig() -> (tempfile::TempDir, Place, Arc<Books>, Clock) {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::fresh(&folder.path().join("run")).unwrap();
    let books = Arc::new(Books::open(&place.evidence()).unwrap());
    (folder, place, books, Clock::start())
}

#[tokio::test]
async fn every_send_is_on_record_with_its_outcome_and_every_arrival_is_one_of_them() {
    let (_folder, place, books, clock) = rig();
    let receiver = Receiver::start(place.ingest(), books.clone(), clock, Dice::new(1)).await.unwrap();
    receiver.behave(Manner::Rough);
    let provider = Arc::new(Provider::new(place.ingest(), books, clock));
    provider.round(4, 300, &Dice::new(2)).await.unwrap();
    receiver.behave(Manner::Kind);
    provider.settle().await.unwrap();
    receiver.stop();
    let evidence = Evidence::read(&place.evidence()).unwrap();
    let sends = Sends::of(&evidence.history);
    assert!(sends.all.len() >= 300);
    assert_eq!(evidence.history.len(), 2 * sends.all.len(), "each send has its outcome");
    assert_eq!(evidence.sink.len(), sends.all.len());
    for arrival in &evidence.sink {
        let source = arrival.consumer.trim_start_matches("in/");
        assert!(sends.of_body(source, &arrival.digest).next().is_some(), "{arrival:?}");
    }
    for kind in [Kind::First, Kind::Duplicate, Kind::Parallel, Kind::Conflict, Kind::Forged, Kind::Retry] {
        assert!(sends.all.iter().any(|t| t.sent.copy == kind), "{kind:?} never sent");
    }
}

#[tokio::test]
async fn nobody_listening_leaves_no_send_on_record() {
    let (_folder, place, books, clock) = rig();
    let provider = Arc::new(Provider::new(place.ingest(), books, clock));
    provider.round(2, 4, &Dice::new(3)).await.unwrap();
    assert!(Evidence::read(&place.evidence()).unwrap().history.is_empty());
}

#[test]
fn forgeries_do_not_verify_and_conflicts_keep_their_key() {
    let mut dice = Dice::new(5);
    for n in 1..200 {
        let what = invent(n, &mut dice);
        let other = what.contradict();
        assert_eq!((&other.key, &other.aggregate), (&what.key, &what.aggregate));
        assert_ne!(other.body, what.body);
        let tampered = Letter { what: what.clone(), kind: Kind::Forged, validity: Validity::Tampered };
        assert_ne!(tampered.body(), what.body);
        if what.source == Source::Crm {
            let text = |validity| {
                let letter = Letter { what: what.clone(), kind: Kind::First, validity };
                String::from_utf8_lossy(&letter.request("127.0.0.1:1".parse().unwrap(), &Clock::start())).into_owned()
            };
            let right = sign::hub(super::config::CRM_SECRET, &what.body);
            assert!(text(Validity::Valid).contains(&right));
            assert!(!text(Validity::WrongSignature).contains(&right));
        }
    }
}
