//! Hand-made histories: a clean one passes, and each kind of fault, put into it alone, is found by its number.

mod admission;
mod scene;
mod work;

use super::{Rule, Verdict, judge};
use scene::Scene;

#[test]
fn a_clean_history_passes_with_the_right_figures() {
    let scene = Scene::clean();
    let Verdict::Clean(a) = judge(&scene.case()) else { panic!("{:?}", judge(&scene.case())) };
    assert_eq!((a.sent, a.acked, a.unknown, a.refused), (9, 7, 1, 1));
    assert_eq!((a.events, a.lost, a.recovered, a.unexpected, a.doubled), (5, 0, 1, 0, 0));
    assert_eq!(a.faults.get("kill"), Some(&1));
}

#[test]
fn a_clean_history_passes_with_an_earlier_look() {
    let scene = Scene::clean();
    assert!(matches!(judge(&scene.case_after(&scene.dump.clone(), 1_000)), Verdict::Clean(_)));
}

#[test]
fn a_run_without_its_fault_is_void() {
    let mut scene = Scene::clean();
    scene.evidence.faults.iter_mut().for_each(|f| f.hit = false);
    assert!(matches!(judge(&scene.case()), Verdict::Void(why, _) if why.iter().any(|w| w.contains("`kill`"))));
}

#[test]
fn a_run_without_acks_is_void() {
    let scene = Scene::empty();
    assert!(matches!(judge(&scene.case()), Verdict::Void(..)));
}

#[test]
fn a_run_that_was_not_drained_is_void_unless_it_is_wrong() {
    let mut scene = Scene::clean();
    scene.reopen_last();
    assert!(matches!(judge(&scene.case()), Verdict::Void(..)), "{:?}", judge(&scene.case()));
    scene.dump.work.work.clear();
    scene.finds(Rule::Invariant(5));
}

#[test]
fn work_left_over_is_fine_while_nobody_says_drained() {
    let mut scene = Scene::clean();
    scene.reopen_last();
    scene.expect.drained = false;
    assert!(matches!(judge(&scene.case()), Verdict::Clean(_)), "{:?}", judge(&scene.case()));
}
