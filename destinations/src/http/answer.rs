//! What an answer means: status, `Retry-After` and the begin of the body → [`Sent`]. Pure; a table tests it.

use hookonce_core::delivery::Outcome;
use hookonce_core::destination::Sent;
use hookonce_core::retry::RETRY_AFTER_MAX;
use hookonce_core::time::{Micros, SECOND};

/// What was read of an answer.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    pub status: u16,
    pub retry_after: Option<&'a [u8]>,
    /// The begin of the body.
    pub body: &'a [u8],
    /// The store's clock, for a `Retry-After` that is a date.
    pub now: Micros,
}

pub fn judge(answer: &Answer<'_>, permanent: &[u16]) -> Sent {
    let said = said(answer);
    let asked = answer.retry_after.and_then(|value| retry_after(value, answer.now));
    match (answer.status, asked) {
        (200..=299, _) => Outcome::Done.into(),
        (status, _) if permanent.contains(&status) => Outcome::Dead(said).into(),
        // The receiver says that it is gone for good. Only a person knows whether it is: nothing is counted or lost.
        (410, _) => Sent { outcome: Outcome::Deferred { reason: said.clone(), after: None }, pause: Some(said) },
        (429 | 503, Some(_)) => Outcome::Deferred { reason: said, after: asked }.into(),
        _ => Outcome::Retry { reason: said, after: None }.into(),
    }
}

fn said(answer: &Answer<'_>) -> String {
    let status = answer.status;
    let more = match status {
        300..=399 => " (redirects are not followed)",
        _ => "",
    };
    match plain(answer.body) {
        text if text.is_empty() => format!("answered {status}{more}"),
        text => format!("answered {status}{more}: {text}"),
    }
}

/// Characters of a body that a history shows.
const SHOWN: usize = 300;

/// A body as one line of text: what is not text or moves a terminal's cursor is shown as a mark (S31). It is shown to
/// operators only.
fn plain(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let mut line: String =
        text.trim().chars().take(SHOWN).map(|c| if unsafe_to_show(c) { '\u{fffd}' } else { c }).collect();
    line.truncate(line.trim_end().len());
    line
}

fn unsafe_to_show(c: char) -> bool {
    let bidi = matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || bidi || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// RFC 9110 10.2.3: seconds, or a date. What is neither was not said.
fn retry_after(value: &[u8], now: Micros) -> Option<Micros> {
    let text = std::str::from_utf8(value).ok()?.trim();
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        // More digits than a number has are a very long time.
        let seconds = text.parse::<i64>().unwrap_or(i64::MAX);
        return Some(seconds.saturating_mul(SECOND).min(RETRY_AFTER_MAX));
    }
    let at = jiff::fmt::rfc2822::parse(text).ok()?.timestamp().as_microsecond();
    Some(at.saturating_sub(now).clamp(0, RETRY_AFTER_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Micros = 1_445_412_420 * SECOND; // Wed, 21 Oct 2015 07:27:00 GMT

    fn judged(status: u16, retry_after: Option<&str>, body: &str) -> String {
        let answer = Answer { status, retry_after: retry_after.map(str::as_bytes), body: body.as_bytes(), now: NOW };
        let sent = judge(&answer, &[422]);
        let pause = if sent.pause.is_some() { " and pause" } else { "" };
        match sent.outcome {
            Outcome::Done => format!("done{pause}"),
            Outcome::Dead(reason) => format!("dead {reason}{pause}"),
            Outcome::Retry { reason, after: None } => format!("retry {reason}{pause}"),
            Outcome::Deferred { reason, after: Some(after) } => format!("in {} s: {reason}{pause}", after / SECOND),
            Outcome::Deferred { reason, after: None } => format!("later: {reason}{pause}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn answers() {
        for (status, retry_after, body, want) in [
            (200, None, "ok", "done"),
            (204, None, "", "done"),
            (299, Some("5"), "", "done"),
            (302, None, "", "retry answered 302 (redirects are not followed)"),
            (400, None, "bad", "retry answered 400: bad"),
            (401, None, "", "retry answered 401"),
            (404, None, "", "retry answered 404"),
            (408, None, "", "retry answered 408"),
            (410, None, "gone", "later: answered 410: gone and pause"),
            (410, Some("9"), "", "later: answered 410 and pause"),
            (422, None, "no", "dead answered 422: no"),
            (422, Some("9"), "", "dead answered 422"),
            (429, None, "", "retry answered 429"),
            (429, Some("7"), "slow", "in 7 s: answered 429: slow"),
            (500, Some("7"), "", "retry answered 500"),
            (503, Some("0"), "", "in 0 s: answered 503"),
            (503, Some("99999999999999999999999"), "", "in 86400 s: answered 503"),
            (503, Some("Wed, 21 Oct 2015 07:28:00 GMT"), "", "in 60 s: answered 503"),
            (503, Some("Wed, 21 Oct 2015 07:26:00 GMT"), "", "in 0 s: answered 503"),
            (503, Some("Fri, 01 Jan 2100 00:00:00 GMT"), "", "in 86400 s: answered 503"),
            (503, Some("soon"), "", "retry answered 503"),
            (503, Some("-1"), "", "retry answered 503"),
            (503, Some(""), "", "retry answered 503"),
            (999, None, "", "retry answered 999"),
        ] {
            assert_eq!(judged(status, retry_after, body), want, "{status} {retry_after:?} {body}");
        }
    }

    #[test]
    fn a_body_is_shown_as_one_harmless_line() {
        assert_eq!(
            judged(500, None, " \u{1b}[2Ja\r\nb\u{202e}c\0 \n"),
            "retry answered 500: \u{fffd}[2Ja\u{fffd}\u{fffd}b\u{fffd}c\u{fffd}"
        );
        assert_eq!(plain(&[0xff, b'a']), "\u{fffd}a");
        assert_eq!(plain("é".repeat(4_000).as_bytes()).chars().count(), SHOWN);
    }
}
