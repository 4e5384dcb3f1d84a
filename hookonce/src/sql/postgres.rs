//! The statement files of PostgreSQL, each under the name that it is called by.

use super::call::Stmt;

macro_rules! statements {
    ($($name:ident = $file:literal;)*) => {
        $(pub const $name: &Stmt = &Stmt { name: $file, text: include_str!(concat!("postgres/", $file, ".sql")) };)*
        /// Every statement, for tests that prepare them all.
        pub const ALL: &[&Stmt] = &[$($name),*];
    };
}

statements! {
    BEGIN = "begin";
    COMMIT = "commit";
    ROLLBACK = "rollback";
    SETTING_GET = "setting_get";
    SETTING_NEW = "setting_new";
    SETTING_PUT = "setting_put";
    NOW = "now";
    READY = "ready";
    NODE_ENTER = "node_enter";
    NODE_LEAVE = "node_leave";
    NODE_DUE = "node_due";
    ADMIT_BEGIN = "admit_begin";
    ADMIT_PATIENCE = "admit_patience";
    ADMIT_KEYS = "admit_keys";
    ADMIT_GUARDS = "admit_guards";
    ADMIT_FLOORS = "admit_floors";
    ADMIT_KNOWN = "admit_known";
    ADMIT_CONFLICTS = "admit_conflicts";
    ADMIT_SEEN = "admit_seen";
    ADMIT_SEEN_VARIANT = "admit_seen_variant";
    ADMIT_CONFLICT = "admit_conflict";
    ADMIT_CONFLICT_AGAIN = "admit_conflict_again";
    ADMIT_PAYLOAD = "admit_payload";
    ADMIT_EVENT = "admit_event";
    ADMIT_REQUEST = "admit_request";
    ADMIT_UNMAPPED = "admit_unmapped";
    TALLY_PUT = "tally_put";
    TALLY_ASK = "tally_ask";
    TALLY_FOLD = "tally_fold";
    RULE_FIND = "rule_find";
    RULE_PUT = "rule_put";
    RULE_USED = "rule_used";
    SAMPLE_PUT = "sample_put";
    SAMPLE_EVICT = "sample_evict";
    CONFIGURE_FIND = "configure_find";
    CONFIGURE_LAST = "configure_last";
    CONFIGURE_NEW = "configure_new";
    CONFIGURE_PASS = "configure_pass";
    CONFIGURE_SINCE = "configure_since";
    CONFIGURE_STAND = "configure_stand";
    CONFIGURE_STANDINGS = "configure_standings";
    CONFIGURE_VERSION = "configure_version";
    TALLY_SUM = "tally_sum";
    AUDIT_LAST = "audit_last";
    AUDIT_PUT = "audit_put";
    INBOX_AUDIT_LAST = "inbox_audit_last";
    INBOX_AUDIT_PUT = "inbox_audit_put";
    UNMAPPED_DECIDE = "unmapped_decide";
    UNMAPPED_FIND = "unmapped_find";
}
