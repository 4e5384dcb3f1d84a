//! What the child is told: three sources of different schemes, three consumers aimed at the receiver.

use crate::checker::Wants;

use super::Place;

pub const CRM_SECRET: &str = "judge-crm-secret-0123456789abcdef";
pub const PLAIN_SECRET: &str = "judge-plain-secret-0123456789abcdef";
/// 32 bytes each.
pub const REGISTRY_SECRET: &str = "whsec_anVkZ2UtcmVnaXN0cnkta2V5LTAxMjM0NTY3ODlhYmM=";
pub const APP_SECRET: &str = "whsec_anVkZ2UtY29uc3VtZXIta2V5LTAxMjM0NTY3ODlhYmM=";

/// Secrets go through the environment, as in production.
pub const SECRETS: [(&str, &str); 4] = [
    ("JUDGE_CRM_SECRET", CRM_SECRET),
    ("JUDGE_PLAIN_SECRET", PLAIN_SECRET),
    ("JUDGE_REGISTRY_SECRET", REGISTRY_SECRET),
    ("JUDGE_APP_SECRET", APP_SECRET),
];

/// The consumers in the checker's words; `toml` writes the same ones down.
pub fn consumers() -> Vec<Wants> {
    let wants = |name: &str, on: &[&str], ordered| Wants {
        name: name.to_owned(),
        on: on.iter().map(|p| (*p).to_owned()).collect(),
        ordered,
    };
    vec![
        wants("app", &["crm/*", "registry/filing.*"], true),
        wants("clinic", &["crm/Patient.*"], true),
        wants("bulk", &["plain/*"], false),
    ]
}

/// What a case changes on every consumer.
#[derive(Debug, Clone, Copy)]
pub struct Tuning {
    pub retry: &'static str,
    pub more: &'static str,
    /// On the sources `crm` and `plain`, whose signatures have no age.
    pub source: &'static str,
}

impl Default for Tuning {
    /// Short retries: a run must be able to drain within seconds after a receiver that failed on purpose.
    fn default() -> Self {
        Self { retry: r#"{ first = "50ms", max = "400ms", give_up_after = "3d" }"#, more: "", source: "" }
    }
}

pub fn toml(place: &Place, tuning: Tuning) -> String {
    let consumers: String = consumers().iter().map(|c| consumer(place, c, tuning)).collect();
    format!(
        r#"[store]
url = "{store}"
[ingest]
listen = "{ingest}"
[admin]
listen = "{admin}"

[sources.crm]
provider = "crmbridge"
secret = {{ env = "JUDGE_CRM_SECRET" }}
key = "{{Entity}}:{{Action}}:{{PrimaryKey}}:{{CommandTime}}"
type = "{{Entity}}.{{Action}}"
aggregate = "{{Business}}:{{Location}}:{{Entity}}:{{PrimaryKey}}"
{source}

[sources.registry]
provider = "standard-webhooks"
secret = {{ env = "JUDGE_REGISTRY_SECRET" }}
type = "$.type"
aggregate = "$.data.id"

[sources.plain]
verify = {{ hmac = "sha256", header = "X-Signature", prefix = "sha256=", encoding = "hex", signed = "{{body}}" }}
secret = {{ env = "JUDGE_PLAIN_SECRET" }}
key = "header:X-Event-Id"
type = "$.kind"
{source}
{consumers}"#,
        store = place.url(),
        source = tuning.source,
        ingest = place.ingest(),
        admin = place.admin(),
    )
}

fn consumer(place: &Place, wants: &Wants, Tuning { retry, more, .. }: Tuning) -> String {
    let on: Vec<String> = wants.on.iter().map(|p| format!("\"{p}\"")).collect();
    format!(
        r#"
[consumers.{name}]
kind = "http"
on = [{on}]
url = "http://{receiver}/{name}"
allow_private = true
order = "{order}"
retry = {retry}
timeout = "3s"
concurrency = 16
sign = {{ env = "JUDGE_APP_SECRET" }}
{more}
"#,
        name = wants.name,
        on = on.join(", "),
        receiver = place.receiver,
        order = if wants.ordered { "arrival" } else { "none" },
    )
}
