//! Faults on the way in.

use super::scene::{Scene, digest};
use crate::checker::Rule;
use crate::history::Kind;

#[test]
fn an_acked_event_that_is_missing_is_lost() {
    let mut s = Scene::clean();
    s.send("g", "g", Kind::First, None, Some(200));
    s.finds(Rule::Invariant(2));
    assert_eq!(crate::checker::judge(&s.case()).account().lost, 1);
}

#[test]
fn an_unknown_send_that_is_missing_is_not_lost() {
    let mut s = Scene::clean();
    s.send("g", "g", Kind::First, None, None);
    s.send("h", "h", Kind::First, None, Some(503));
    assert!(matches!(crate::checker::judge(&s.case()), crate::checker::Verdict::Clean(_)));
}

#[test]
fn an_event_that_vanishes_between_two_looks_is_lost_even_if_nobody_was_answered() {
    let mut s = Scene::clean();
    let earlier = s.dump.clone();
    s.dump.inbox.events.retain(|e| e.id != 2);
    s.finds_after(&earlier, Rule::Invariant(2));
}

#[test]
fn two_events_of_one_occurrence_are_found_whatever_their_keys() {
    let mut s = Scene::clean();
    s.event(6, "a", "Patient.Insert", Some("p1"));
    s.dump.inbox.events.last_mut().unwrap().key = b"another".to_vec();
    s.finds(Rule::Invariant(1));
}

#[test]
fn two_events_under_one_key_are_found_whatever_their_bodies() {
    let mut s = Scene::clean();
    s.dump.inbox.events[1].key = s.dump.inbox.events[0].key.clone();
    s.finds(Rule::Invariant(1));
}

#[test]
fn an_event_without_its_ledger_row_is_found() {
    let mut s = Scene::clean();
    s.dump.inbox.ledger.remove(3);
    s.finds(Rule::Invariant(1));
}

#[test]
fn a_conflict_that_takes_the_place_of_the_first_content_is_found() {
    let mut s = Scene::clean();
    s.dump.inbox.events[0].digest = Some(digest("a2"));
    s.finds(Rule::Invariant(3));
}

#[test]
fn a_content_that_changes_between_two_looks_is_found() {
    let mut s = Scene::clean();
    let mut earlier = s.dump.clone();
    earlier.inbox.events[4].digest = Some(digest("old"));
    s.finds_after(&earlier, Rule::Invariant(3));
    s.dump.inbox.events[4].key = b"new".to_vec();
    s.finds_after(&Scene::clean().dump, Rule::Invariant(3));
}

#[test]
fn a_duplicate_answered_before_it_was_counted_is_found() {
    let mut s = Scene::clean();
    s.dump.inbox.ledger[0].seen = 1;
    s.finds(Rule::Invariant(13));
}

#[test]
fn a_count_above_the_sends_is_found() {
    let mut s = Scene::clean();
    s.dump.inbox.ledger[3].seen = 2;
    s.finds(Rule::Invariant(14));
}

#[test]
fn bytes_that_nobody_sent_are_found() {
    let mut s = Scene::clean();
    s.event(6, "nobody", "Patient.Insert", None);
    s.finds(Rule::Invariant(14));
}

#[test]
fn a_conflict_that_is_not_on_record_is_found() {
    let mut s = Scene::clean();
    s.dump.inbox.conflicts.clear();
    s.finds(Rule::Invariant(15));
}

#[test]
fn a_forgery_that_left_something_behind_is_found() {
    let mut s = Scene::clean();
    s.dump.inbox.unmapped.push(digest("f"));
    s.finds(Rule::Invariant(22));
}

#[test]
fn a_forgery_that_was_answered_2xx_is_found() {
    let mut s = Scene::clean();
    s.send("f2", "f2", Kind::Forged, None, Some(200));
    s.finds(Rule::Invariant(22));
}

#[test]
fn a_valid_send_that_was_refused_or_set_aside_is_found() {
    let mut s = Scene::clean();
    s.send("g", "g", Kind::First, None, Some(401));
    s.finds(Rule::Answer);
    let mut s = Scene::clean();
    s.send("g", "g", Kind::First, None, Some(200));
    s.dump.inbox.unmapped.push(digest("g"));
    s.finds(Rule::Answer);
}

#[test]
fn files_that_do_not_belong_together_are_found() {
    let mut s = Scene::clean();
    s.dump.work.settings.insert("generation".into(), "2".into());
    s.finds(Rule::Pair);
    let mut s = Scene::clean();
    s.dump.work.passes[0].pos = 6;
    s.finds(Rule::Pair);
    let mut s = Scene::clean();
    s.dump.work.deliveries[0].event = 9;
    s.finds(Rule::Pair);
    let mut s = Scene::clean();
    s.dump.inbox.settings.insert("event_counter".into(), "4".into());
    s.finds(Rule::Pair);
    let mut s = Scene::clean();
    s.dump.damage.push("inbox: wrong # of entries in index".into());
    s.finds(Rule::Integrity);
}
