//! From every valid vector all the requests that are nearly it: none may pass (S2 to S7). A list of signatures is still
//! right while its timestamp and one right entry are whole; everything else of the header has to be as it was.

use bytes::Bytes;
use hookonce_core::request::Request;
use hookonce_core::signature::{Options, Place, Refusal, Scheme, Timestamp, verify};
use http::HeaderValue;

use crate::case::{self, Case};

fn header_value(request: &Request, name: &str) -> Vec<u8> {
    request.headers.get(name).expect("a header of a valid vector").to_vec()
}

fn with_header(request: &Request, name: &str, value: &[u8]) -> Request {
    let mut changed = request.clone();
    for (own, current) in &mut changed.headers.0 {
        if own.as_str().eq_ignore_ascii_case(name) {
            *current = HeaderValue::from_bytes(value).expect("a header value");
        }
    }
    changed
}

fn with_body(request: &Request, body: Vec<u8>) -> Request {
    let body = Bytes::from(body);
    Request { decoded: body.clone(), body, ..request.clone() }
}

/// Every header whose bytes the scheme reads.
fn read_headers(case: &Case) -> Vec<String> {
    let scheme = case::scheme(&case.scheme);
    let mut names = vec![case::header(scheme).to_owned()];
    if let Some(Timestamp { place: Place::Header(name), .. }) = &scheme.timestamp {
        names.push(name.to_string());
    }
    if scheme.name == "standard-webhooks" {
        names.push("webhook-id".to_owned());
    }
    names
}

/// Says by itself which headers are still right: an entry that alone makes the request valid is a right one.
struct Oracle {
    list: Option<String>,
    /// Entries without which nothing is valid.
    needed: Vec<String>,
    right: Vec<String>,
}

impl Oracle {
    fn of(case: &Case) -> Oracle {
        let scheme: &Scheme = case::scheme(&case.scheme);
        let whole = String::from_utf8(header_value(&case.request, case::header(scheme))).expect("text");
        let Some(list) = scheme.list.as_deref() else {
            return Oracle { list: None, needed: Vec::new(), right: vec![whole] };
        };
        let entries: Vec<String> = whole.split(list).map(str::to_owned).collect();
        let needed: Vec<String> = entries.iter().filter(|entry| entry.starts_with("t=")).cloned().collect();
        let alone = |entry: &&String| {
            let header: Vec<&str> = needed.iter().chain([*entry]).map(String::as_str).collect();
            let request = with_header(&case.request, case::header(scheme), header.join(list).as_bytes());
            verify(&case.keys(), &request, &case.options, case.now).is_ok()
        };
        let right = entries.iter().filter(|entry| !needed.contains(entry)).filter(alone).cloned().collect();
        Oracle { list: Some(list.to_owned()), needed, right }
    }

    fn allows(&self, header: &[u8]) -> bool {
        let Ok(text) = std::str::from_utf8(header) else { return false };
        let entries: Vec<&str> = self.list.as_deref().map_or(vec![text], |list| text.split(list).collect());
        let stamps = entries.iter().filter(|entry| entry.starts_with("t=")).count();
        stamps == self.needed.len()
            && self.needed.iter().all(|entry| entries.contains(&&**entry))
            && self.right.iter().any(|entry| entries.contains(&&**entry))
    }
}

fn judge(case: &Case, oracle: &Oracle, header: &[u8]) {
    let name = case::header(case::scheme(&case.scheme));
    let found = verify(&case.keys(), &with_header(&case.request, name, header), &case.options, case.now);
    assert_eq!(found.is_ok(), oracle.allows(header), "{}: {}", case.id, String::from_utf8_lossy(header));
}

#[test]
fn s3_every_prefix_of_a_right_signature_is_refused() {
    for case in Case::valid() {
        let oracle = Oracle::of(&case);
        assert!(!oracle.right.is_empty(), "{}", case.id);
        let header = header_value(&case.request, case::header(case::scheme(&case.scheme)));
        for end in 0..header.len() {
            judge(&case, &oracle, &header[..end]);
        }
        judge(&case, &oracle, &[&*header, b"0"].concat());
    }
}

#[test]
fn s3_every_change_of_one_character_is_refused() {
    for case in Case::valid() {
        let oracle = Oracle::of(&case);
        let header = header_value(&case.request, case::header(case::scheme(&case.scheme)));
        for at in 0..header.len() {
            for other in [header[at] ^ 1, header[at] ^ 0x20, b'0', b'A', b' ', b',', b'=', 0xe9] {
                if other != header[at] && (other >= b' ' && other != 0x7f) {
                    let mut changed = header.clone();
                    changed[at] = other;
                    judge(&case, &oracle, &changed);
                }
            }
            judge(&case, &oracle, &[&header[..at], &header[at + 1..]].concat());
            judge(&case, &oracle, &[&header[..at], &header[at..=at], &header[at..]].concat());
        }
    }
}

#[test]
fn s2_a_missing_empty_blank_or_doubled_header_is_refused() {
    for case in Case::valid() {
        for name in read_headers(&case) {
            let judge = |request: &Request, reason: Refusal| {
                let found = verify(&case.keys(), request, &case.options, case.now);
                assert_eq!(found, Err(reason), "{}: {name}", case.id);
            };
            let mut missing = case.request.clone();
            missing.headers.0.retain(|(own, _)| !own.as_str().eq_ignore_ascii_case(&name));
            judge(&missing, Refusal::MissingHeader);
            judge(&with_header(&case.request, &name, b""), Refusal::MissingHeader);
            judge(&with_header(&case.request, &name, b" \t "), Refusal::MissingHeader);
            for second in [header_value(&case.request, &name), b"".to_vec(), b"x".to_vec()] {
                let mut doubled = case.request.clone();
                let value = HeaderValue::from_bytes(&second).expect("a header value");
                doubled.headers.0.push((name.to_ascii_lowercase().parse().expect("a name"), value));
                judge(&doubled, Refusal::MalformedHeader);
            }
        }
    }
}

#[test]
fn s5_the_bytes_are_verified_and_nothing_else() {
    for case in Case::valid() {
        let body = case.request.body.to_vec();
        let mut bodies: Vec<Vec<u8>> = vec![
            [&*body, b"!"].concat(),
            [&*body, b"\n"].concat(),
            [b"\xef\xbb\xbf", &*body].concat(),
            [&*body, b"\xff"].concat(),
            [b"\x1f\x8b\x08", &*body].concat(),
        ];
        for at in 0..body.len() {
            let mut changed = body.clone();
            changed[at] ^= 1;
            bodies.push(changed);
            bodies.push([&body[..at], &body[at + 1..]].concat());
        }
        if let Ok(json) = serde_json::from_slice::<serde_json::Value>(&body) {
            let printed = serde_json::to_vec_pretty(&json).expect("json");
            bodies.push(printed);
        }
        for changed in bodies.iter().filter(|changed| !same_content(&case, &body, changed)) {
            let found = verify(&case.keys(), &with_body(&case.request, changed.clone()), &case.options, case.now);
            assert!(found.is_err(), "{}: {}", case.id, String::from_utf8_lossy(changed));
        }
    }
}

/// What a body says to its scheme. Twilio signs the sorted fields of a form and not its bytes: a `%2b` in lower case,
/// or two equal bytes of which one was taken out, are the same content there.
fn same_content(case: &Case, body: &[u8], changed: &[u8]) -> bool {
    if case.scheme != "twilio" || case.request.url.contains("bodySHA256=") {
        return body == changed;
    }
    let fields = |body: &[u8]| {
        let text = String::from_utf8_lossy(body).into_owned();
        let mut fields: Vec<(String, String)> = text
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        fields.sort();
        fields.dedup();
        fields.into_iter().map(|(name, value)| name + &value).collect::<String>().to_ascii_lowercase()
    };
    fields(body) == fields(changed)
}

#[test]
fn s7_both_limits_of_the_time_hold_and_the_limit_itself_passes() {
    let mut timed = 0;
    for case in Case::valid().iter().filter(|case| case::scheme(&case.scheme).timestamp.is_some()) {
        let options = Options { tolerance: Some(0), ..Options::default() };
        let at = |now: i64, options: &Options| verify(&case.keys(), &case.request, options, now).map(|_| ());
        // With no tolerance the last second that passes is the one in which it was signed.
        let made = (case.now - 400..=case.now + 400).rev().find(|now| at(*now, &options).is_ok()).expect("a time");
        let own = &case.options;
        assert_eq!(at(made - 301, own), Err(Refusal::FutureTimestamp), "{}", case.id);
        assert_eq!(at(made - 300, own), Ok(()), "{}", case.id);
        assert_eq!(at(made, own), Ok(()), "{}", case.id);
        assert_eq!(at(made + 300, own), Ok(()), "{}", case.id);
        assert_eq!(at(made + 301, own), Err(Refusal::StaleTimestamp), "{}", case.id);
        // Whatever the source says of the past, a minute of the future is allowed and no more.
        assert_eq!(at(made + 1, &options), Err(Refusal::StaleTimestamp), "{}", case.id);
        assert_eq!(at(made - 60, &options), Ok(()), "{}", case.id);
        assert_eq!(at(made - 61, &options), Err(Refusal::FutureTimestamp), "{}", case.id);
        let wide = Options { tolerance: Some(172_800), ..Options::default() };
        assert_eq!(at(made + 172_800, &wide), Ok(()), "{}", case.id);
        for extreme in [i64::MIN, i64::MAX] {
            assert!(at(extreme, own).is_err(), "{}", case.id);
        }
        timed += 1;
    }
    assert!(timed >= 15, "{timed}");
}

#[test]
fn s6_a_time_in_another_spelling_is_refused() {
    for case in Case::valid() {
        let scheme = case::scheme(&case.scheme);
        let Some(stamp) = &scheme.timestamp else { continue };
        let (name, prefix) = match &stamp.place {
            Place::Header(name) => (&**name, ""),
            Place::Entry(prefix) => (case::header(scheme), &**prefix),
        };
        let header = String::from_utf8(header_value(&case.request, name)).expect("text");
        let entry = header.split(',').find(|entry| entry.starts_with(prefix)).expect("a time").to_owned();
        let digits = entry.trim_start_matches(prefix);
        let zeros = format!("{digits:0>20}");
        for other in [format!("+{digits}"), format!("0{digits}"), format!("{digits}.0"), format!("-{digits}"), zeros] {
            let changed = header.replace(&entry, &format!("{prefix}{other}"));
            let request = with_header(&case.request, name, changed.as_bytes());
            let found = verify(&case.keys(), &request, &case.options, case.now);
            assert_eq!(found, Err(Refusal::MalformedTimestamp), "{}: {other}", case.id);
        }
    }
}

#[test]
fn s6_signed_parts_cannot_slide_into_each_other() {
    let case = case::of("standard-webhooks").remove(0);
    let text = |name| String::from_utf8(header_value(&case.request, name)).expect("text");
    let (id, stamp) = (text("webhook-id"), text("webhook-timestamp"));
    // The same signed bytes, cut at other places: id and time one to the left, then one to the right.
    let inner = with_body(&case.request, [stamp.as_bytes(), b".", &case.request.body].concat());
    let moved = with_header(&inner, "webhook-id", id.split_at(3).0.as_bytes());
    let moved = with_header(&moved, "webhook-timestamp", id.split_at(3).1.as_bytes());
    assert!(verify(&case.keys(), &moved, &case.options, case.now).is_err());
    let sender = with_body(&case.request, [b"1649367553.".as_slice(), &case.request.body].concat());
    let keys = case.keys();
    let signed = hookonce_core::signature::sign(&keys, &hookonce_core::signature::Parts::of(&sender), 5);
    let signature = signed.expect("a signature").pop().expect("its header").1;
    let cut = with_header(&case.request, "webhook-id", format!("{id}.5").as_bytes());
    let cut = with_header(&cut, "webhook-signature", signature.as_bytes());
    assert_eq!(verify(&keys, &cut, &case.options, case.now), Err(Refusal::MalformedHeader));
}
