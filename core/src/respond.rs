//! The answer to a request that the store has taken. Always final: what is stored is never asked for again by a 5xx.

use crate::admit::{Admission, Verdict};
use crate::source::Respond;

/// The status for an admission; the body and its type are the source's own.
///
/// A batch is answered for its worst item: a conflict that could not be kept asks for attention (409), a configured
/// 409 or 400 shows, anything else is the source's success.
pub fn answer(admission: &Admission, respond: &Respond) -> u16 {
    admission.verdicts.iter().map(|v| of(v, respond)).max_by_key(|status| rank(*status)).unwrap_or(respond.status)
}

fn of(verdict: &Verdict, respond: &Respond) -> u16 {
    match verdict {
        Verdict::Accepted { .. } | Verdict::Duplicate { .. } => respond.status,
        Verdict::Conflict { kept: false, .. } => 409,
        Verdict::Conflict { .. } if respond.on_conflict != 200 => respond.on_conflict,
        Verdict::Unmapped { .. } if respond.on_unmapped != 200 => respond.on_unmapped,
        Verdict::Conflict { .. } | Verdict::Unmapped { .. } => respond.status,
    }
}

fn rank(status: u16) -> u16 {
    if (200..300).contains(&status) { 0 } else { status }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admit::Differs;

    #[test]
    fn the_answer_table() {
        let ok = Verdict::Accepted { event: 1, hold: None };
        let dup = Verdict::Duplicate { of: 1 };
        let kept = Verdict::Conflict { with: 1, differs: Differs::Payload, kept: true };
        let full = Verdict::Conflict { with: 1, differs: Differs::Payload, kept: false };
        let unmapped = Verdict::Unmapped { id: 1, reason: String::new() };
        let plain = Respond::default();
        let strict = Respond { status: 202, on_conflict: 409, on_unmapped: 400, ..Respond::default() };
        for (verdicts, respond, want) in [
            (vec![], &plain, 200),
            (vec![&ok, &dup, &kept, &unmapped], &plain, 200),
            (vec![&ok, &full], &plain, 409),
            (vec![&ok, &dup], &strict, 202),
            (vec![&ok, &unmapped], &strict, 400),
            (vec![&unmapped, &kept], &strict, 409),
        ] {
            let admission = Admission { verdicts: verdicts.into_iter().cloned().collect() };
            assert_eq!(answer(&admission, respond), want, "{admission:?}");
        }
    }
}
