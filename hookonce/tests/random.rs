//! Random scripts on SQLite and on the model side by side: verdicts, tables and invariants after every line.

use std::sync::atomic::{AtomicU64, Ordering};

use hookonce::sqlite::bed::SqliteBed;
use hookonce::testkit::script::bed::{Bed, ModelBed};
use hookonce::testkit::script::random;

/// Scripts in the ordinary run; `HOOKONCE_RANDOM_SCRIPTS` asks for more.
const SCRIPTS: u64 = 24;
const FIRST_SEED: u64 = 1;

fn scripts() -> u64 {
    std::env::var("HOOKONCE_RANDOM_SCRIPTS").ok().and_then(|n| n.parse().ok()).unwrap_or(SCRIPTS)
}

#[test]
fn random_scripts_agree() {
    println!("seeds {FIRST_SEED} to {}", FIRST_SEED + scripts() - 1);
    let (folder, stores) = (tempfile::tempdir().expect("a folder for the stores"), AtomicU64::new(0));
    let sqlite = || -> Box<dyn Bed> {
        let own = folder.path().join(stores.fetch_add(1, Ordering::Relaxed).to_string());
        std::fs::create_dir(&own).expect("a folder for the store");
        Box::new(SqliteBed::new(&own))
    };
    for seed in FIRST_SEED..FIRST_SEED + scripts() {
        random::check(seed, &sqlite);
    }
}

#[test]
fn the_model_keeps_its_invariants_over_many() {
    for seed in 1..=1_000 {
        random::check(seed, &|| Box::new(ModelBed::default()));
    }
}

/// A failure can only be looked into if its seed gives the same script again.
#[test]
fn a_seed_is_a_script() {
    let trace = |seed| random::run(seed, &ModelBed::default()).0;
    assert_eq!(trace(7), trace(7));
    assert_ne!(trace(7), trace(8));
}
