//! The bugs that can be planted in the store are found by random scripts: what the suite compares is enough to see
//! each of them. Run with `--features planted`.

use std::sync::Mutex;

use hookonce::sqlite::bed::SqliteBed;
use hookonce::testkit::script::random::{self, Faults};

/// Bugs of the store, and none that only a crash or a look at the process shows.
const BUGS: [&str; 7] = [
    "settle-unfenced",
    "lane-unordered",
    "skip-delivery",
    "lose-work-on-settle",
    "conflict-overwrites",
    "no-conflict-row",
    "dedupe-in-memory",
];

/// Scripts that may pass before a bug must have shown.
const SEEDS: u64 = 40;

static PLANTED: Mutex<&str> = Mutex::new("");

fn is_planted(name: &str) -> bool {
    PLANTED.lock().map(|planted| *planted == name).unwrap_or(false)
}

#[test]
fn random_scripts_find_each_bug() {
    hookonce_core::fault::on_planted(is_planted);
    let folder = tempfile::tempdir().expect("a folder for the stores");
    for bug in BUGS {
        *PLANTED.lock().expect("nobody panics with it") = bug;
        let problem = (1..=SEEDS).find_map(|seed| {
            let own = folder.path().join(format!("{bug}-{seed}"));
            std::fs::create_dir(&own).expect("a folder for the store");
            let ran = random::run(seed, Faults::None, &SqliteBed::new(&own));
            ran.problem.map(|problem| format!("seed {seed}, line {}: {problem}", ran.script.len()))
        });
        let problem = problem.unwrap_or_else(|| panic!("{bug} is not found by {SEEDS} scripts"));
        println!("{bug}: {problem}\n");
    }
}
