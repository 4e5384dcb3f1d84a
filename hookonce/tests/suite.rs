//! The conformance suite: every script of `tests/scripts` on every bed, each a case of its own name.

use hookonce::postgres::bed::PostgresBed;
use hookonce::postgres::functions::FunctionsBed;
use hookonce::sqlite::bed::SqliteBed;
use hookonce::testkit::script::{bed::ModelBed, check};

macro_rules! scripts {
    ($($name:ident),+ $(,)?) => {
        const NAMES: &[&str] = &[$(stringify!($name)),+];
        mod model {
            $(#[test]
            fn $name() {
                let script = include_str!(concat!("scripts/", stringify!($name), ".txt"));
                super::check(stringify!($name), script, &super::ModelBed::default());
            })+
        }
        mod sqlite {
            $(#[test]
            fn $name() {
                let script = include_str!(concat!("scripts/", stringify!($name), ".txt"));
                let folder = tempfile::tempdir().expect("a folder for the store");
                super::check(stringify!($name), script, &super::SqliteBed::new(folder.path()));
            })+
        }
        mod postgres {
            $(#[test]
            fn $name() {
                let script = include_str!(concat!("scripts/", stringify!($name), ".txt"));
                super::check(stringify!($name), script, &super::PostgresBed::default());
            })+
        }
        mod functions {
            $(#[test]
            fn $name() {
                let script = include_str!(concat!("scripts/", stringify!($name), ".txt"));
                super::check(stringify!($name), script, &super::FunctionsBed::default());
            })+
        }
    };
}

scripts! {
    admission, conflicts, guards, unmapped, routing, beginnings, lanes, leases, retries, dead_letters, lost_runs, restarts,
    retention,
}

macro_rules! cases {
    ($($name:ident),+ $(,)?) => {
        mod model_case {
            $(#[test]
            fn $name() {
                hookonce::testkit::suite::$name(&super::ModelBed::default());
            })+
        }
        mod sqlite_case {
            $(#[test]
            fn $name() {
                let folder = tempfile::tempdir().expect("a folder for the store");
                hookonce::testkit::suite::$name(&super::SqliteBed::new(folder.path()));
            })+
        }
        mod postgres_case {
            $(#[test]
            fn $name() {
                hookonce::testkit::suite::$name(&super::PostgresBed::default());
            })+
        }
    };
}

cases! {
    sixty_four_copies_at_once, what_was_answered_first_is_first, a_batch_is_stored_once, what_was_sent_comes_back,
    a_settle_claims_the_next, repeated_verbs_change_nothing, one_holder_a_lane, two_routers_one_order,
    what_is_due_next, a_crowd_with_zombies,
}

/// A script that nobody runs proves nothing.
#[test]
fn every_script_is_on_the_list() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scripts");
    let files = std::fs::read_dir(folder).expect("the folder of scripts is there");
    for file in files {
        let name = file.expect("its entries can be read").file_name().into_string().expect("names are text");
        let name = name.strip_suffix(".txt").unwrap_or(&name);
        assert!(NAMES.contains(&name), "tests/scripts/{name} is on no list");
    }
}
