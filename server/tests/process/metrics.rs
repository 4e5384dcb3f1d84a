//! `/metrics` of a server that has worked: what ux 10.1 promises and is built.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};

use crate::bed::receiver;
use crate::bed::{Bed, Letter};

const SECRET: &str = "field-test-secret-A-0123456789abcdef";

fn letter(key: &str) -> Letter {
    let body = format!(r#"{{"PrimaryKey":"{key}","Entity":"Patient","Action":"Update"}}"#);
    Letter::signed("crmbridge", SECRET, &[], &body)
}

/// The value of a series, as it is written.
fn value(text: &str, series: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '))?;
    line.parse().ok()
}

#[test]
fn a_server_shows_what_it_did_and_what_is_owed() {
    let status = Arc::new(AtomicU16::new(500));
    let port = receiver(status.clone(), Arc::new(AtomicUsize::new(0)));
    let config = format!(
        "[sources.crm]\nprovider = \"crmbridge\"\nsecret = {{ env = \"CRM\" }}\n\
         [consumers.app]\nkind = \"http\"\non = [\"crm/*\"]\nurl = \"http://127.0.0.1:{port}/\"\nallow_private = true\n\
         retry = {{ attempts = 1 }}\n"
    );
    let mut bed = Bed::new(&config, &[("CRM", SECRET)]);
    bed.start(&["--drain-delay", "600s"]);
    bed.send("crm", &letter("1"));
    bed.until("the dead letter", |bed| bed.json(&["dead", "list"]).get(0).cloned());
    status.store(204, Ordering::SeqCst);
    bed.send("crm", &letter("2"));
    let dead = "hookonce_consumer_dead_events{consumer=\"app\"}";
    let latency = "hookonce_event_latency_seconds_count{consumer=\"app\"}";
    let text = bed.until("the numbers", |bed| {
        let text = bed.metrics();
        (value(&text, dead) == Some(1.0) && value(&text, latency) == Some(1.0)).then_some(text)
    });
    let of = |series: &str| value(&text, series).unwrap_or_else(|| panic!("no `{series}` in\n{text}"));
    for gauge in ["pending_events", "retrying_events", "inflight_events", "parked_events", "paused"] {
        assert_eq!(of(&format!("hookonce_consumer_{gauge}{{consumer=\"app\"}}")), 0.0, "{gauge}");
    }
    assert_eq!(of("hookonce_consumer_oldest_pending_age_seconds{consumer=\"app\"}"), 0.0);
    assert_eq!(of("hookonce_attempt_duration_seconds_count{consumer=\"app\"}"), 2.0);
    assert!(of("hookonce_attempt_duration_seconds_sum{consumer=\"app\"}") > 0.0);
    for file in ["inbox", "work"] {
        assert!(of(&format!("hookonce_store_size_bytes{{file=\"{file}\"}}")) > 0.0);
        assert!(of(&format!("hookonce_store_wal_bytes{{file=\"{file}\"}}")) > 0.0);
    }
    assert!(of("hookonce_store_free_bytes") > 0.0);
    assert_eq!(of(&format!("hookonce_build_info{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"))), 1.0);
    assert!(of("hookonce_config_last_reload_success_timestamp_seconds") > 1.7e9);
    assert_eq!((of("hookonce_config_last_reload_successful"), of("hookonce_node_draining")), (1.0, 0.0));

    bed.signal("TERM");
    bed.until("the drain", |bed| (value(&bed.metrics(), "hookonce_node_draining") == Some(1.0)).then_some(()));
    bed.signal("TERM");
    assert_eq!(bed.ended(), Some(0));
}
