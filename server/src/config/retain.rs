//! How long a source's events are kept, and that no key goes while its event may still come again (invariant 12).

use hookonce_core::provider::Provider;
use hookonce_core::retain::Keep;
use hookonce_core::signature::Scheme;
use hookonce_core::time::{DAY, Micros, SECOND};

use super::code::Code;
use super::not_built::{self, RETAIN_KEYS};
use super::place::Place;
use super::section::{Section, Written};
use super::units::spoken;

/// Below that a key is forgotten so early that somebody must have said why.
const UNEXPLAINED: Micros = 90 * DAY;

/// `tolerance`: the age of a signed time that is still taken, as it is written on the source.
pub fn read(
    section: &Section<'_>,
    provider: Option<&Provider>,
    scheme: Option<&Scheme>,
    tolerance: Option<u32>,
) -> Keep {
    let default = Keep::default();
    let window = section.duration("retry_window");
    let Some(retain) = section.section("retain") else {
        against(section, default.ledger, &section.at, &horizons(provider, scheme, tolerance, window));
        return default;
    };
    let (payload, ledger) = (retain.some_time("payload"), retain.some_time("ledger"));
    let reason = retain.filled("reason");
    not_built::refuse_keys(&retain, RETAIN_KEYS);
    retain.finish();
    let value = |written: &Option<Written<Micros>>| written.as_ref().map(|written| written.value);
    let payload = value(&payload).unwrap_or_else(|| default.payload.min(value(&ledger).unwrap_or(default.ledger)));
    let keep = Keep { payload, ledger: value(&ledger).unwrap_or(default.ledger) };
    let at = ledger.as_ref().map_or(&retain.at, |ledger| &ledger.at);
    if keep.ledger < keep.payload {
        let text = format!(
            "keys are kept for {} and bytes for {}: a key must outlive its bytes",
            spoken(keep.ledger),
            spoken(keep.payload)
        );
        section.problems().error(Code::Contradiction, at, text, "raise `ledger`, or lower `payload`");
    }
    if keep.ledger < UNEXPLAINED && reason.is_none() {
        let text = format!("keys are kept for {}, less than {}", spoken(keep.ledger), spoken(UNEXPLAINED));
        let hint = "a copy that comes later is not known any more: write `reason = \"…\"` beside it, or raise `ledger`";
        section.problems().error(Code::Contradiction, at, text, hint);
    }
    against(section, keep.ledger, at, &horizons(provider, scheme, tolerance, window));
    keep
}

/// Within that a sender may send the same again, in words.
type Horizon = (Micros, &'static str);

fn horizons(
    provider: Option<&Provider>,
    scheme: Option<&Scheme>,
    tolerance: Option<u32>,
    window: Option<Written<Micros>>,
) -> Vec<Horizon> {
    let seconds = |n: u64| i64::try_from(n).unwrap_or(i64::MAX).saturating_mul(SECOND);
    let of_provider = provider.and_then(|p| p.retry_window_seconds).map(|n| (seconds(n), "its provider retries for"));
    let written = window.map(|window| (window.value, "`retry_window` says that its sender retries for"));
    let signed = scheme.and_then(|scheme| scheme.timestamp.as_ref());
    let age = signed.and_then(|stamp| tolerance.or(stamp.past));
    let age = age.map(|n| (seconds(n.into()), "a signature is taken for"));
    written.or(of_provider).into_iter().chain(age).collect()
}

fn against(section: &Section<'_>, ledger: Micros, at: &Place, horizons: &[Horizon]) {
    for (time, why) in horizons.iter().filter(|(time, _)| ledger < *time) {
        let text = format!("keys are kept for {}, and {why} {}", spoken(ledger), spoken(*time));
        let hint = "a retry would be taken for a new event: raise `ledger` in `retain`";
        section.problems().error(Code::Contradiction, at, text, hint);
    }
}
