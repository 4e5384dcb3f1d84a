//! Random scripts on each store and on the model side by side: verdicts, tables and invariants after every line.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use hookonce::postgres::bed::PostgresBed;
use hookonce::postgres::functions::FunctionsBed;
use hookonce::sqlite::bed::SqliteBed;
use hookonce::testkit::script::bed::{Bed, ModelBed};
use hookonce::testkit::script::random::{self, Faults};

/// Scripts in the ordinary run; `HOOKONCE_RANDOM_SCRIPTS` asks for more.
const SCRIPTS: u64 = 24;

fn scripts() -> u64 {
    std::env::var("HOOKONCE_RANDOM_SCRIPTS").ok().and_then(|n| n.parse().ok()).unwrap_or(SCRIPTS)
}

/// Verbs that faults kept from doing anything, and verbs whose answers they lost.
fn on(make: &dyn Fn() -> Box<dyn Bed>, faults: Faults, first: u64) -> (usize, usize) {
    println!("seeds {first} to {}", first + scripts() - 1);
    let ran = (first..first + scripts()).map(|seed| random::check(seed, faults, make));
    ran.fold((0, 0), |(nothing, whole), ran| (nothing + ran.nothing, whole + ran.whole))
}

fn on_sqlite(faults: Faults, first: u64) -> (usize, usize) {
    let (folder, stores) = (tempfile::tempdir().expect("a folder for the stores"), AtomicU64::new(0));
    let make = || -> Box<dyn Bed> {
        let own = folder.path().join(stores.fetch_add(1, Ordering::Relaxed).to_string());
        std::fs::create_dir(&own).expect("a folder for the store");
        Box::new(SqliteBed::new(&own))
    };
    on(&make, faults, first)
}

fn on_postgres(faults: Faults, first: u64) -> (usize, usize) {
    on(&|| Box::new(PostgresBed::default()), faults, first)
}

#[test]
fn random_scripts_agree_on_sqlite() {
    assert_eq!(on_sqlite(Faults::None, 1), (0, 0));
}

#[test]
fn random_scripts_agree_on_postgres() {
    assert_eq!(on_postgres(Faults::None, 1), (0, 0));
}

/// What is claimed and settled through the published functions comes to what core decides.
#[test]
fn random_scripts_agree_on_the_functions() {
    let calls = Arc::new(AtomicUsize::new(0));
    assert_eq!(on(&|| Box::new(FunctionsBed::counting(calls.clone())), Faults::None, 1), (0, 0));
    println!("{} calls of functions", calls.load(Ordering::Relaxed));
    assert!(calls.load(Ordering::Relaxed) as u64 > 5 * scripts());
}

/// After a fault a verb is repeated: it was whole or it was nothing, and the tables are again those of the model.
#[test]
fn random_scripts_agree_over_faults_on_sqlite() {
    struck(on_sqlite(Faults::Some, 1_001));
}

#[test]
fn random_scripts_agree_over_faults_on_postgres() {
    struck(on_postgres(Faults::Some, 1_001));
}

fn struck((nothing, whole): (usize, usize)) {
    println!("{nothing} verbs did nothing, {whole} answers were lost");
    assert!(nothing > 0 && whole > 0, "without faults this proves nothing: {nothing}, {whole}");
}

#[test]
fn the_model_keeps_its_invariants_over_many() {
    for seed in 1..=400 {
        random::check(seed, Faults::None, &|| Box::new(ModelBed::default()));
    }
}

/// A failure can only be looked into if its seed gives the same script again.
#[test]
fn a_seed_is_a_script() {
    let trace = |seed| random::run(seed, Faults::None, &ModelBed::default()).script;
    assert_eq!(trace(7), trace(7));
    assert_ne!(trace(7), trace(8));
}
