//! Alarms: for now a log line and a counter. One place, so that whoever rings a bell later finds all of them.

/// Something that a person must see. `name` is one of a fixed set, it becomes a label; `detail` says what and where.
pub fn raise(name: &'static str, detail: &str) {
    metrics::counter!("hookonce_alarms_total", "name" => name).increment(1);
    tracing::error!(alarm = name, "{detail}");
}
