//! `[consumers.NAME]`: who must handle events. Start at [`read`].

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hookonce::engine::CONCURRENCY_MAX;
use hookonce_core::consumer::{From, OnDead, Order, Pattern, Policy};

use super::code::Code;
use super::meant::{Consumer, Http, Way};
use super::near;
use super::not_built::{self, CONSUMER_KEYS, CONSUMER_KINDS, ORDERS};
use super::place::Place;
use super::reading::Reading;
use super::secret;
use super::section::{Section, Written};
use super::server::std_duration;
use super::source::{NAME_FORM, good_name};
use super::tree::{Node, Value};
use super::units::{self, DayEnd};
use hookonce_core::time::{Micros, SECOND};

const TIMEOUT: Micros = 10 * SECOND;
const CONCURRENCY: i64 = 32;
const MAX_ATTEMPTS: i64 = 1_000_000;
/// What says where and how something is sent.
const HTTP_KEYS: &[&str] = &["url", "allow_private", "timeout", "concurrency", "permanent", "sign"];

/// `None`: something about it is wrong, and has been said.
pub fn read(
    name: &str,
    key_at: &Place,
    section: &Section<'_>,
    sources: &[&str],
    reading: &Reading<'_>,
) -> Option<Consumer> {
    if !good_name(name) {
        section.problems().error(Code::BadName, key_at, format!("`{name}` cannot name a consumer"), NAME_FORM);
    }
    let kind = kind(section);
    let on = patterns(section, sources);
    let (order, later_order) = order(section);
    let way = match kind {
        Some(Kind::Pull) => pull(section),
        _ => http(section, kind == Some(Kind::Http), reading).map(Box::new).map(Way::Http),
    };
    // Where kind or order are for later, so are the keys that belong to them: one refusal says it.
    let refuse =
        if kind == Some(Kind::Later) || later_order { not_built::accept_shapes } else { not_built::refuse_keys };
    refuse(section, CONSUMER_KEYS);
    let on_dead = on_dead(section, order);
    let retry = section.section("retry").map_or_else(Policy::default, |s| retry(&s));
    let from = from(section);
    let key_name = section.filled("key_name").map_or_else(|| name.to_owned(), |n| n.value);
    section.finish();
    let order = order.unwrap_or(Order::Arrival);
    Some(Consumer { name: name.to_owned(), on, order, on_dead, retry, from, key_name, way: way? })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Http,
    Pull,
    Later,
}

const KINDS: &[(&str, Kind)] = &[("http", Kind::Http), ("pull", Kind::Pull)];

fn kind(section: &Section<'_>) -> Option<Kind> {
    let Some(word) = section.filled("kind") else {
        if !section.perhaps("kind") {
            let text = format!("`[{}]` has no `kind`", section.name);
            section.problems().error(Code::MissingKey, &section.at, text, "write `kind = \"http\"`");
        }
        return None;
    };
    if let Some((_, kind)) = KINDS.iter().find(|(name, _)| *name == word.value) {
        return Some(*kind);
    }
    let built: Vec<&str> = KINDS.iter().map(|(name, _)| *name).collect();
    not_built::refuse_word(section, &word.at, "kind", &word.value, CONSUMER_KINDS, &built);
    CONSUMER_KINDS.contains(&word.value.as_str()).then_some(Kind::Later)
}

/// The order, and whether one is written that is for later.
fn order(section: &Section<'_>) -> (Option<Order>, bool) {
    let Some(word) = section.filled("order") else { return (None, false) };
    match word.value.as_str() {
        "none" => (Some(Order::None), false),
        "arrival" => (Some(Order::Arrival), false),
        other => {
            not_built::refuse_word(section, &word.at, "order", other, ORDERS, &["none", "arrival"]);
            (None, ORDERS.contains(&other))
        }
    }
}

/// Without lanes there is nothing to hold.
fn on_dead(section: &Section<'_>, order: Option<Order>) -> OnDead {
    let choice = section.choice("on_dead", &[("hold", OnDead::Hold), ("continue", OnDead::Continue)]);
    if let (Some(Order::None), Some(Written { value: OnDead::Hold, at, .. })) = (order, &choice) {
        let hint = "remove `on_dead`, or write `order = \"arrival\"`";
        section.problems().error(Code::Contradiction, at, "`on_dead = \"hold\"` without an order to hold", hint);
    }
    match (choice, order) {
        (Some(choice), _) => choice.value,
        (None, Some(Order::None)) => OnDead::Continue,
        (None, _) => OnDead::Hold,
    }
}

fn patterns(section: &Section<'_>, sources: &[&str]) -> Vec<Pattern> {
    let Some(entry) = section.entry("on") else {
        if section.perhaps("on") {
            return Vec::new();
        }
        let text = format!("`[{}]` takes no events", section.name);
        let hint = "write `on = [\"SOURCE/*\"]` or `[\"SOURCE/type.*\"]`";
        section.problems().error(Code::MissingKey, &section.at, text, hint);
        return Vec::new();
    };
    let list = section.texts("on").unwrap_or_default();
    if matches!(&entry.node.value, Value::List(l) if l.is_empty()) {
        section.bad(&entry.node.at, "`on` is empty", "write `on = [\"SOURCE/*\"]`, or remove the consumer");
    }
    list.iter().filter_map(|text| pattern(section, text, sources)).collect()
}

fn pattern(section: &Section<'_>, text: &Written<String>, sources: &[&str]) -> Option<Pattern> {
    let parsed = text.value.contains('/').then(|| Pattern::parse(&text.value)).flatten();
    let Some(pattern) = parsed else {
        let hint = "a source, a slash and a type: `billing/invoice.*`, `crm/*`; `*` stands for any text";
        section.problems().error(Code::BadPattern, &text.at, format!("`{}` is no pattern", text.shown), hint);
        return None;
    };
    let any =
        sources.iter().any(|source| Pattern { source: pattern.source.clone(), kind: "*".into() }.matches(source, ""));
    if !any {
        let text_ = format!("no source is named `{}`", pattern.source);
        let hint = match near::nearest(&pattern.source, sources.iter().copied()) {
            Some(near) => format!("did you mean `{near}/{}`?", pattern.kind),
            None if sources.is_empty() => "no source is configured: add `[sources.NAME]`".to_owned(),
            None => format!("sources: {}", near::list(sources.iter().copied())),
        };
        section.problems().error(Code::UnknownSource, &text.at, text_, hint);
        return None;
    }
    Some(pattern)
}

fn retry(section: &Section<'_>) -> Policy {
    let default = Policy::default();
    let (first, max) = (section.some_time("first"), section.some_time("max"));
    let give_up_after = section.some_time("give_up_after").map_or(default.give_up_after, |t| t.value);
    let attempts = section.integer("attempts", 1, MAX_ATTEMPTS).map(|n| n.value);
    section.finish();
    let policy = Policy {
        first: first.as_ref().map_or(default.first, |t| t.value),
        max: max.as_ref().map_or(default.max, |t| t.value),
        give_up_after,
        attempts,
    };
    if policy.first > policy.max {
        let at = max.or(first).map_or_else(|| section.at.clone(), |t| t.at);
        let text =
            format!("`first` ({}) is longer than `max` ({})", units::spoken(policy.first), units::spoken(policy.max));
        section.problems().error(Code::Contradiction, &at, text, "delays grow from `first` to `max`");
    }
    policy
}

fn from(section: &Section<'_>) -> From {
    let Some(entry) = section.entry("from") else { return From::Now };
    match &entry.node.value {
        Value::Text { text, .. } if text == "now" => From::Now,
        Value::Text { text, .. } if text == "beginning" => From::Beginning,
        Value::Text { text, shown } if units::instant(text, DayEnd::First).is_none() => {
            let hint = format!("`\"now\"`, `\"beginning\"`, or an instant; {}", units::INSTANT_FORM);
            section.bad(&entry.node.at, format!("`from` cannot be `{shown}`"), hint);
            From::Now
        }
        _ => section.instant("from", DayEnd::First).map_or(From::Now, From::Time),
    }
}

/// Nothing is sent to it, so nothing may say how.
fn pull(section: &Section<'_>) -> Option<Way> {
    let mut way = Some(Way::Pull);
    for entry in HTTP_KEYS.iter().filter_map(|key| Some((key, section.entry(key)?))) {
        let (key, at) = (entry.0, &entry.1.key_at);
        let hint = format!("remove `{key}`: the worker claims what it does, nothing is sent to it");
        section.problems().error(
            Code::Contradiction,
            at,
            format!("`{key}` of a consumer with `kind = \"pull\"`"),
            hint,
        );
        way = None;
    }
    way
}

/// What only an `http` consumer has. `None`: it is none, or has no usable URL.
fn http(section: &Section<'_>, wanted: bool, reading: &Reading<'_>) -> Option<Http> {
    let written = section.filled("url");
    let allow_private = section.flag("allow_private").unwrap_or(false);
    let timeout = section.some_time("timeout").map_or(TIMEOUT, |t| t.value);
    let concurrency = section.integer("concurrency", 1, CONCURRENCY_MAX as i64).map_or(CONCURRENCY, |n| n.value);
    let permanent = section.entry("permanent").map_or_else(Vec::new, |e| statuses(section, &e.node));
    let sign = secret::signing(section, reading);
    if wanted && !section.perhaps("url") {
        let text = format!("`[{}]` has no `url`", section.name);
        section.problems().error(Code::MissingKey, &section.at, text, "write `url = \"https://…\"`");
    }
    let url = url(section, &written.filter(|_| wanted)?, allow_private)?;
    Some(Http {
        url,
        allow_private,
        timeout: std_duration(timeout),
        concurrency: usize::try_from(concurrency).unwrap_or(1),
        permanent,
        sign,
    })
}

fn statuses(section: &Section<'_>, node: &Node) -> Vec<u16> {
    let Value::List(list) = &node.value else {
        section.wrong::<()>("permanent", node, "a list of statuses: `[400, 422]`", node.value.noun());
        return Vec::new();
    };
    let one = |node: &Node| match node.value {
        Value::Integer(Some(n)) if (400..=599).contains(&n) => u16::try_from(n).ok(),
        _ => {
            section.bad(&node.at, "`permanent` lists statuses that fail", "from 400 to 599, without quotes");
            None
        }
    };
    list.iter().filter_map(one).collect()
}

fn url(section: &Section<'_>, url: &Written<String>, allow_private: bool) -> Option<http::Uri> {
    let refuse = |text: String, hint: &str| {
        section.problems().error(Code::BadUrl, &url.at, text, hint);
        None
    };
    let Ok(uri) = url.value.parse::<http::Uri>() else {
        return refuse("`url` is no URL".to_owned(), "such as `https://app.example.com/hook`");
    };
    let Some(authority) = uri.authority().filter(|_| matches!(uri.scheme_str(), Some("http" | "https"))) else {
        return refuse(
            "`url` needs `http://` or `https://` and a host".to_owned(),
            "such as `https://app.example.com/hook`",
        );
    };
    if authority.as_str().contains('@') {
        return refuse(
            "`url` carries a user or a password".to_owned(),
            "what we send is signed: write `sign = { env = \"NAME\" }`",
        );
    }
    if url.value.contains('#') {
        return refuse("`url` has a fragment".to_owned(), "remove everything from `#` on: it is never sent");
    }
    if !allow_private && obviously_private(authority.host()) {
        let hint = "write `allow_private = true` if this is meant";
        section.problems().error(
            Code::PrivateTarget,
            &url.at,
            format!("`{}` is a private address", authority.host()),
            hint,
        );
        return None;
    }
    Some(uri)
}

/// What can be said without asking a name server. The sender checks every address that it connects to; this only
/// tells the user before the first event does.
fn obviously_private(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.').to_lowercase();
    if host == "localhost" || host.ends_with(".localhost") {
        return true;
    }
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(v4)) => private_v4(v4),
        Ok(IpAddr::V6(v6)) => private_v6(v6),
        Err(_) => false,
    }
}

fn private_v4(ip: Ipv4Addr) -> bool {
    ip.is_loopback() || ip.is_private() || ip.is_link_local() || ip.is_unspecified()
}

fn private_v6(ip: Ipv6Addr) -> bool {
    let mapped = ip.to_ipv4_mapped().is_some_and(private_v4);
    mapped || ip.is_loopback() || ip.is_unspecified() || ip.is_unique_local() || ip.is_unicast_link_local()
}
