//! The statement files of SQLite, each under the name that it is called by.

use super::call::Stmt;

macro_rules! statements {
    ($($name:ident = $file:literal;)*) => {
        $(pub const $name: &Stmt = &Stmt { name: $file, text: include_str!(concat!("sqlite/", $file, ".sql")) };)*
        /// Every statement, for tests that prepare them all.
        pub const ALL: &[&Stmt] = &[$($name),*];
    };
}

statements! {
    BEGIN = "begin";
    COMMIT = "commit";
    ROLLBACK = "rollback";
    OPEN_PASSED = "open_passed";
    OPEN_NODE = "open_node";
    OPEN_DUE = "open_due";
    SETTING_GET = "setting_get";
    SETTING_PUT = "setting_put";
    ADMIT_KEY = "admit_key";
    ADMIT_KNOWN = "admit_known";
    ADMIT_CONFLICTS = "admit_conflicts";
    ADMIT_BESIDE = "admit_beside";
    ADMIT_FLOORS = "admit_floors";
    ADMIT_SEEN = "admit_seen";
    ADMIT_SEEN_VARIANT = "admit_seen_variant";
    ADMIT_CONFLICT = "admit_conflict";
    ADMIT_CONFLICT_AGAIN = "admit_conflict_again";
    ADMIT_EVENT = "admit_event";
    ADMIT_PAYLOAD = "admit_payload";
    ADMIT_REQUEST = "admit_request";
    ADMIT_UNMAPPED = "admit_unmapped";
    UNMAPPED_DECIDE = "unmapped_decide";
    UNMAPPED_FIND = "unmapped_find";
    TALLY_PUT = "tally_put";
    TALLY_ALL = "tally_all";
    TALLY_CLEAR = "tally_clear";
    AUDIT_LAST = "audit_last";
    AUDIT_PUT = "audit_put";
    RULE_FIND = "rule_find";
    RULE_PUT = "rule_put";
    RULE_USED = "rule_used";
    SAMPLE_PUT = "sample_put";
    SAMPLE_EVICT = "sample_evict";
}
