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
    CLAIM_BODY = "claim_body";
    CLAIM_DUE = "claim_due";
    CLAIM_DUE_QUIET = "claim_due_quiet";
    CLAIM_LOST = "claim_lost";
    CLAIM_PAUSED = "claim_paused";
    CLAIM_TAKE = "claim_take";
    NEXT_DUE = "next_due";
    PLANTED_LEASE = "planted_lease";
    PLANTED_OVERWRITE = "planted_overwrite";
    RELEASE = "release";
    RENEW = "renew";
    ROUTE_BEGINS = "route_begins";
    ROUTE_COUNTER = "route_counter";
    ROUTE_DELIVERED = "route_delivered";
    ROUTE_EVENT = "route_event";
    ROUTE_EVENTS = "route_events";
    ROUTE_HELD = "route_held";
    ROUTE_LAST = "route_last";
    ROUTE_MOVED = "route_moved";
    ROUTE_PASSES = "route_passes";
    ROUTE_REQUEUE = "route_requeue";
    ROUTE_TAIL = "route_tail";
    ROUTE_TRIM = "route_trim";
    ROUTE_UNHALT = "route_unhalt";
    ROUTE_WRITE_CLOSED = "route_write_closed";
    ROUTE_WRITE_DELIVERY = "route_write_delivery";
    ROUTE_WRITE_DONE = "route_write_done";
    ROUTE_WRITE_HOLD = "route_write_hold";
    ROUTE_WRITE_MOVED = "route_write_moved";
    ROUTE_WRITE_PASS = "route_write_pass";
    ROUTE_WRITE_WORK = "route_write_work";
    SETTLE_ENDED = "settle_ended";
    SETTLE_GONE = "settle_gone";
    SETTLE_HALT = "settle_halt";
    SETTLE_LATER = "settle_later";
    SETTLE_NEXT = "settle_next";
    SETTLE_TRIED = "settle_tried";
    COMMAND_DECIDE = "command_decide";
    COMMAND_HALTED = "command_halted";
    COMMAND_HOLD = "command_hold";
    COMMAND_REOPEN = "command_reopen";
    COMMAND_REQUEUE = "command_requeue";
    COMMAND_STATE = "command_state";
    COMMAND_WORK = "command_work";
    CONFIGURE_FIND = "configure_find";
    CONFIGURE_NEW = "configure_new";
    CONFIGURE_SINCE = "configure_since";
    CONFIGURE_VERSION = "configure_version";
    ROUTE_LIVE = "route_live";
    SWEEP_LANES = "sweep_lanes";
    SWEEP_STRETCH = "sweep_stretch";
    CHECKPOINT_NOOP = "checkpoint_noop";
    CHECKPOINT_PASSIVE = "checkpoint_passive";
    CHECKPOINT_TRUNCATE = "checkpoint_truncate";
    READ_EVENT_RAW = "read_event_raw";
}
