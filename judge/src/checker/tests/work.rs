//! Faults in routing, lanes, settling and sending.

use super::scene::{Scene, digest, message};
use crate::checker::Rule;
use crate::dump::{Attempt, Delivery, Halted, WorkRow};
use crate::history::{Effect, Kind, Reply};

#[test]
fn an_event_that_a_pass_went_over_is_found() {
    let mut s = Scene::clean();
    s.dump.work.deliveries.remove(3);
    s.finds(Rule::Invariant(4));
    let mut s = Scene::clean();
    s.dump.work.holds.clear();
    s.finds(Rule::Invariant(4));
}

#[test]
fn an_event_ahead_of_the_passes_owes_nothing_yet() {
    let mut s = Scene::clean();
    s.dump.work.holds.clear();
    s.dump.work.passes[0].pos = 4;
    s.expect.drained = false;
    assert!(matches!(crate::checker::judge(&s.case()), crate::checker::Verdict::Clean(_)));
}

#[test]
fn a_delivery_ahead_of_the_passes_or_doubled_or_unasked_is_found() {
    let mut s = Scene::clean();
    s.dump.work.passes[0].pos = 3;
    s.finds(Rule::Invariant(4));
    let mut s = Scene::clean();
    let copy = s.dump.work.deliveries[0].clone();
    s.dump.work.deliveries.push(Delivery { id: 9, seq: 9, ..copy });
    s.finds(Rule::Invariant(4));
    let mut s = Scene::clean();
    s.expect.consumers[0].on = vec!["crm/Patient.Delete".into()];
    s.finds(Rule::Invariant(4));
}

#[test]
fn a_balance_that_does_not_add_up_is_found() {
    let mut s = Scene::clean();
    s.dump.work.deliveries[1].state = "lost in thought".into();
    s.finds(Rule::Invariant(20));
    s.finds(Rule::Invariant(8));
}

#[test]
fn a_lane_without_a_head_is_found() {
    let mut s = Scene::clean();
    s.reopen_last();
    s.dump.work.work.clear();
    s.finds(Rule::Invariant(5));
    let mut s = Scene::clean();
    let d = &mut s.dump.work.deliveries[3];
    (d.open, d.state, d.ended) = (true, String::new(), None);
    s.finds(Rule::Invariant(5));
}

#[test]
fn a_second_head_is_found() {
    let mut s = Scene::clean();
    s.reopen_last();
    let d = &mut s.dump.work.deliveries[1];
    (d.open, d.state, d.ended) = (true, String::new(), None);
    s.dump.work.work.push(WorkRow { seq: 2, id: 2, lane: -7, consumer: 1, event: 2, ..WorkRow::default() });
    s.finds(Rule::Invariant(5));
}

#[test]
fn an_ending_behind_something_open_is_found() {
    let mut s = Scene::clean();
    let d = &mut s.dump.work.deliveries[1];
    (d.open, d.state, d.ended) = (true, String::new(), None);
    s.dump.work.work.push(WorkRow { seq: 2, id: 2, lane: -7, consumer: 1, event: 2, ..WorkRow::default() });
    s.finds(Rule::Invariant(6));
}

#[test]
fn a_send_before_its_predecessor_was_taken_is_found() {
    let mut s = Scene::clean();
    s.evidence.sink[0].reply = Reply::DoneThenSilence;
    s.finds(Rule::Invariant(6));
    let mut s = Scene::clean();
    s.evidence.sink.remove(1);
    s.finds(Rule::Invariant(6));
    let mut s = Scene::clean();
    s.evidence.sink[1].at = 1;
    s.finds(Rule::Invariant(6));
}

#[test]
fn a_dead_letter_that_lets_its_lane_go_on_breaks_no_order() {
    let mut s = Scene::clean();
    s.evidence.sink[0].reply = Reply::Failed;
    let d = &mut s.dump.work.deliveries[0];
    (d.state, d.ended) = (String::new(), None);
    s.dump.work.halted.push(Halted { id: 1, lane: -7, seq: 1, event: 1, kind: "dead".into(), ..Halted::default() });
    let verdict = crate::checker::judge(&s.case());
    assert!(matches!(verdict, crate::checker::Verdict::Clean(_)), "{verdict:?}");
}

#[test]
fn a_delivery_settled_twice_is_found() {
    let mut s = Scene::clean();
    s.dump.work.attempts.push(Attempt { delivery: 2, no: 2, started: 40, ended: 45, outcome: "done".into() });
    s.finds(Rule::Invariant(7));
}

#[test]
fn a_run_that_was_found_lost_and_settles_all_the_same_is_found() {
    let lost = |at| Attempt { delivery: 2, no: 2, started: 20, ended: at, outcome: "lost".into() };
    let mut s = Scene::clean();
    s.dump.work.attempts.push(lost(23));
    s.finds(Rule::Invariant(7));
    // Found lost before the run that settled began: that is how it should be.
    let mut s = Scene::clean();
    s.dump.work.attempts.push(lost(20));
    assert!(matches!(crate::checker::judge(&s.case()), crate::checker::Verdict::Clean(_)));
}

#[test]
fn an_epoch_that_falls_is_found() {
    let mut s = Scene::clean();
    s.reopen_last();
    let mut earlier = s.dump.clone();
    earlier.work.work[0].epoch = 3;
    s.finds_after(&earlier, Rule::Invariant(7));
}

#[test]
fn impossible_states_are_found() {
    let mut s = Scene::clean();
    s.dump.work.deliveries[3].ended = None;
    s.finds(Rule::Invariant(8));
    let mut s = Scene::clean();
    s.dump.work.deliveries[3].open = true;
    s.finds(Rule::Invariant(8));
    let mut s = Scene::clean();
    s.dump.work.work.push(WorkRow { seq: 4, id: 4, lane: 4, consumer: 1, event: 4, ..WorkRow::default() });
    s.finds(Rule::Invariant(8));
    let mut s = Scene::clean();
    s.dump.work.work.push(WorkRow { seq: 40, id: 40, lane: 40, ..WorkRow::default() });
    s.finds(Rule::Invariant(8));
}

#[test]
fn a_final_delivery_that_changes_or_goes_is_found_unless_somebody_decided() {
    let mut s = Scene::clean();
    let mut earlier = s.dump.clone();
    earlier.work.deliveries[3].state = "permanently_failed".into();
    s.finds_after(&earlier, Rule::Invariant(9));
    s.dump.work.deliveries[3].decided = true;
    let verdict = crate::checker::judge(&s.case_after(&earlier, 1_000));
    assert!(!verdict.broken(Rule::Invariant(9)), "{verdict:?}");
    let earlier = s.dump.clone();
    s.dump.work.deliveries.remove(3);
    s.finds_after(&earlier, Rule::Invariant(9));
}

#[test]
fn an_effect_done_twice_is_found() {
    let mut s = Scene::clean();
    s.evidence.effects.push(Effect { consumer: "app".into(), message: "m".into(), digest: digest("a"), at: 9 });
    s.finds(Rule::Invariant(16));
}

#[test]
fn a_send_after_success_was_on_record_is_found() {
    let mut s = Scene::clean();
    let earlier = s.dump.clone();
    s.evidence.sink.push({
        let mut again = s.evidence.sink[3].clone();
        again.at = 2_000;
        again
    });
    s.finds_after(&earlier, Rule::Invariant(16));
}

#[test]
fn a_success_that_nobody_saw_is_found() {
    let mut s = Scene::clean();
    s.evidence.sink[3].reply = Reply::Failed;
    s.finds(Rule::Invariant(17));
}

#[test]
fn a_repeat_under_another_id_or_with_other_bytes_is_found() {
    let mut s = Scene::clean();
    s.arrive("d", "msg-other", Reply::Done);
    s.finds(Rule::Invariant(17));
    let mut s = Scene::clean();
    s.arrive("e", &message("d"), Reply::Done);
    s.finds(Rule::Invariant(17));
    let mut s = Scene::clean();
    s.evidence.sink[0].signed = false;
    s.finds(Rule::Invariant(17));
}

#[test]
fn an_id_that_is_stable_but_not_made_of_the_key_is_found() {
    let mut s = Scene::clean();
    s.evidence.sink[3].message = "row-4".into();
    s.finds(Rule::Invariant(17));
}

#[test]
fn a_body_written_anew_is_found() {
    let mut s = Scene::clean();
    s.evidence.sink[3].digest = digest("d ");
    s.finds(Rule::Invariant(14));
}

#[test]
fn a_conflicting_body_that_was_forwarded_is_found() {
    let mut s = Scene::clean();
    s.arrive("a2", "msg-9", Reply::Done);
    s.finds(Rule::Invariant(3));
}

#[test]
fn a_body_of_no_event_that_was_forwarded_is_found() {
    let mut s = Scene::clean();
    s.send("g", "g", Kind::First, None, None);
    s.arrive("g", "msg-9", Reply::Done);
    s.finds(Rule::Invariant(17));
}
