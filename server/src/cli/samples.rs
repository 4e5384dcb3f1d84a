//! Sample events in the shapes of their providers: for `send`, for a first try, never for production.

use http::{HeaderName, HeaderValue};

/// A request before it is signed.
#[derive(Clone, Debug)]
pub struct Sample {
    pub content_type: &'static str,
    /// Headers that carry identity and are perhaps signed.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    pub body: String,
}

/// What a sample is made of. `unique` tells one event from the next; equal ones give equal bytes.
#[derive(Clone, Copy, Debug)]
pub struct Wish<'a> {
    pub kind: &'a str,
    pub unique: &'a str,
    pub now_seconds: i64,
}

const JSON: &str = "application/json";

pub fn of(provider: Option<&str>, wish: Wish<'_>) -> Sample {
    match provider {
        Some("crmbridge") => crmbridge(wish),
        Some("github") => github(wish),
        Some("slack") => slack(wish),
        Some("standard-webhooks") => standard_webhooks(wish),
        Some("stripe") => stripe(wish),
        Some("twilio") => twilio(wish),
        _ => generic(wish),
    }
}

fn plain(body: String) -> Sample {
    Sample { content_type: JSON, headers: Vec::new(), body }
}

fn header(name: &'static str, value: &str) -> Option<(HeaderName, HeaderValue)> {
    Some((HeaderName::from_static(name), HeaderValue::from_str(value).ok()?))
}

fn text(value: &str) -> String {
    serde_json::Value::from(value).to_string()
}

/// `Patient.Update` is entity and action.
fn crmbridge(wish: Wish<'_>) -> Sample {
    let (entity, action) = wish.kind.split_once('.').unwrap_or((wish.kind, "Update"));
    let at = jiff::Timestamp::from_second(wish.now_seconds).unwrap_or_default();
    plain(format!(
        r#"{{"Business":"17","Location":"3","Entity":{},"Action":{},"PrimaryKey":{},"CommandTime":"{at}","Data":{{"Name":"Avery Example"}}}}"#,
        text(entity),
        text(action),
        text(wish.unique)
    ))
}

/// `issues.opened` is event and action.
fn github(wish: Wish<'_>) -> Sample {
    let (event, action) = wish.kind.split_once('.').map_or((wish.kind, None), |(e, a)| (e, Some(a)));
    let action = action.map(|a| format!("\"action\":{},", text(a))).unwrap_or_default();
    let body = format!(r#"{{{action}"repository":{{"id":1,"full_name":"acme/app"}},"sample":{}}}"#, text(wish.unique));
    let headers = [header("x-github-delivery", wish.unique), header("x-github-event", event)];
    Sample { headers: headers.into_iter().flatten().collect(), ..plain(body) }
}

fn slack(wish: Wish<'_>) -> Sample {
    plain(format!(
        r#"{{"type":"event_callback","team_id":"T1","event_id":{},"event_time":{},"event":{{"type":{},"channel":"C1","ts":"{}.000100","text":"hello"}}}}"#,
        text(&format!("Ev{}", wish.unique)),
        wish.now_seconds,
        text(wish.kind),
        wish.now_seconds
    ))
}

fn standard_webhooks(wish: Wish<'_>) -> Sample {
    let at = jiff::Timestamp::from_second(wish.now_seconds).unwrap_or_default();
    let body = format!(r#"{{"type":{},"timestamp":"{at}","data":{{"id":{}}}}}"#, text(wish.kind), text(wish.unique));
    let id = header("webhook-id", &format!("msg_{}", wish.unique));
    Sample { headers: id.into_iter().collect(), ..plain(body) }
}

fn stripe(wish: Wish<'_>) -> Sample {
    let object = wish.kind.split('.').next().unwrap_or("invoice");
    plain(format!(
        r#"{{"id":{},"object":"event","type":{},"created":{},"livemode":false,"pending_webhooks":1,"data":{{"object":{{"id":{},"object":{},"amount_paid":4900,"customer":"cus_42"}}}}}}"#,
        text(&format!("evt_test_{}", wish.unique)),
        text(wish.kind),
        wish.now_seconds,
        text(&format!("obj_{}", wish.unique)),
        text(object)
    ))
}

fn twilio(wish: Wish<'_>) -> Sample {
    let status = wish.kind.rsplit('.').next().unwrap_or("delivered");
    let encoded = |value: &str| value.bytes().map(percent).collect::<String>();
    let body = format!(
        "AccountSid=AC42&MessageSid=SM{}&MessageStatus={}&To=%2B15005550006",
        encoded(wish.unique),
        encoded(status)
    );
    let token = header("i-twilio-idempotency-token", wish.unique);
    Sample { content_type: "application/x-www-form-urlencoded", headers: token.into_iter().collect(), body }
}

fn percent(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") }
}

fn generic(wish: Wish<'_>) -> Sample {
    plain(format!(
        r#"{{"id":{},"type":{},"created":{},"data":{{"id":{}}}}}"#,
        text(wish.unique),
        text(wish.kind),
        wish.now_seconds,
        text(&format!("obj-{}", wish.unique))
    ))
}
