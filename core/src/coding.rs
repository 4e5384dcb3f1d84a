//! Content codings: gzip and deflate, undone step by step, so that whoever asks decides how much is too much.
//!
//! Not here: caps and buffers of ingest. A stored body went through them, and [`item`] needs no more than its end.

use std::convert::Infallible;
use std::io::{self, Read};
use std::ops::ControlFlow;

use bytes::Bytes;
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use http::header;

use crate::request::Headers;

/// Decoded at a time.
const STEP: usize = 16 * 1024;
/// The header that names a coding.
const NAME: &str = "content-encoding";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    Identity,
    Gzip,
    Deflate,
}

/// Why there are no decoded bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undecoded<E> {
    /// They are not of that coding, or something stands behind them.
    Broken,
    /// Whoever took them has had enough.
    Ended(E),
}

impl Coding {
    /// Whatever its letters' case and the blanks around it. A list of codings is not known to any sender we know.
    pub fn named(name: &[u8]) -> Option<Coding> {
        let name = name.trim_ascii();
        let is = |wanted: &str| name.eq_ignore_ascii_case(wanted.as_bytes());
        if name.is_empty() || is("identity") {
            Some(Coding::Identity)
        } else if is("gzip") || is("x-gzip") {
            Some(Coding::Gzip)
        } else if is("deflate") {
            Some(Coding::Deflate)
        } else {
            None
        }
    }

    /// Hands the decoded bytes over as they are made. A request without a body has nothing that could be broken.
    pub fn decode<E>(self, wire: &[u8], mut take: impl FnMut(&[u8]) -> ControlFlow<E>) -> Result<(), Undecoded<E>> {
        match self {
            _ if wire.is_empty() => Ok(()),
            Coding::Identity => ended(take(wire)),
            Coding::Gzip => inflate(&mut MultiGzDecoder::new(wire), take),
            Coding::Deflate => {
                let mut decoder = ZlibDecoder::new(wire);
                inflate(&mut decoder, take)?;
                if decoder.total_in() == wire.len() as u64 { Ok(()) } else { Err(Undecoded::Broken) }
            }
        }
    }
}

fn inflate<E>(decoder: &mut impl Read, mut take: impl FnMut(&[u8]) -> ControlFlow<E>) -> Result<(), Undecoded<E>> {
    let mut step = [0; STEP];
    loop {
        match decoder.read(&mut step) {
            Ok(0) => return Ok(()),
            Ok(read) => ended(take(step.get(..read).unwrap_or_default()))?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Err(Undecoded::Broken),
        }
    }
}

fn ended<E>(flow: ControlFlow<E>) -> Result<(), Undecoded<E>> {
    match flow {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(why) => Err(Undecoded::Ended(why)),
    }
}

/// A batch item's own bytes out of the stored ones, which may still be coded as they were signed: its span counts the
/// decoded bytes. Without a span the whole body, as it is. `None`: these bytes are not those that the span was made for.
pub fn item(headers: &Headers, body: &Bytes, span: Option<(u64, u64)>) -> Option<Bytes> {
    let Some((start, end)) = span else { return Some(body.clone()) };
    let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end).ok()?);
    let coding = Coding::named(headers.get(NAME).unwrap_or_default())?;
    if coding == Coding::Identity {
        return body.get(start..end).map(|part| body.slice_ref(part));
    }
    let decoded = until(coding, body, end)?;
    decoded.get(start..end).map(Bytes::copy_from_slice)
}

/// One item's bytes by themselves, with the headers that still describe them.
pub fn alone(headers: &Headers, body: &Bytes, span: Option<(u64, u64)>) -> (Headers, Bytes) {
    let mut headers = headers.clone();
    match item(&headers, body, span) {
        Some(bytes) => {
            if span.is_some() {
                undone(&mut headers);
            }
            (headers, bytes)
        }
        None => (headers, body.clone()),
    }
}

/// Headers that describe coded bytes go with the coding.
pub fn undone(headers: &mut Headers) {
    headers.0.retain(|(name, _)| *name != header::CONTENT_ENCODING && *name != header::CONTENT_LENGTH);
}

/// The decoded bytes up to there and no further: what stands behind is nobody's business here.
fn until(coding: Coding, wire: &[u8], end: usize) -> Option<Vec<u8>> {
    let mut decoded = Vec::new();
    let full = coding.decode(wire, |step| {
        decoded.extend_from_slice(step);
        if decoded.len() >= end { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    match full {
        Ok(()) | Err(Undecoded::Ended(())) => Some(decoded),
        Err(Undecoded::Broken) => None,
    }
}

/// All decoded bytes of a stored body. It came through the caps of ingest when it was stored.
pub fn decoded(headers: &Headers, wire: &Bytes) -> Option<Bytes> {
    let coding = Coding::named(headers.get(NAME).unwrap_or_default())?;
    if coding == Coding::Identity {
        return Some(wire.clone());
    }
    let mut decoded = Vec::new();
    let taken = coding.decode(wire, |step| {
        decoded.extend_from_slice(step);
        ControlFlow::<Infallible>::Continue(())
    });
    taken.is_ok().then(|| decoded.into())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::{GzEncoder, ZlibEncoder};
    use http::{HeaderName, HeaderValue};

    use super::*;

    const PLAIN: &[u8] = br#"{"events":[{"id":1},{"id":"two"}]}"#;

    fn gzip(bytes: &[u8]) -> Bytes {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap().into()
    }

    fn deflate(bytes: &[u8]) -> Bytes {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap().into()
    }

    fn coded(name: &'static str) -> Headers {
        Headers(vec![(HeaderName::from_static(NAME), HeaderValue::from_static(name))])
    }

    #[test]
    fn an_item_is_cut_out_of_what_it_was_read_from() {
        let two = (20, 32);
        assert_eq!(&PLAIN[20..32], br#"{"id":"two"}"#);
        for (headers, body) in [
            (Headers::default(), Bytes::from_static(PLAIN)),
            (coded("identity"), Bytes::from_static(PLAIN)),
            (coded("gzip"), gzip(PLAIN)),
            (coded(" X-GZip "), gzip(PLAIN)),
            (coded("deflate"), deflate(PLAIN)),
        ] {
            assert_eq!(item(&headers, &body, Some(two)).unwrap(), &PLAIN[20..32], "{headers:?}");
            assert_eq!(item(&headers, &body, None).unwrap(), body, "whole, it stays as it was signed");
            assert_eq!(decoded(&headers, &body).unwrap(), PLAIN);
        }
    }

    #[test]
    fn an_item_alone_is_not_described_as_coded() {
        let mut headers = coded("gzip");
        headers.0.push((header::CONTENT_LENGTH, HeaderValue::from_static("54")));
        headers.0.push((HeaderName::from_static("x-a"), HeaderValue::from_static("1")));
        let (left, body) = alone(&headers, &gzip(PLAIN), Some((20, 32)));
        assert_eq!((left.0.len(), left.get("x-a"), &body[..]), (1, Some(&b"1"[..]), &PLAIN[20..32]));
        assert_eq!(alone(&headers, &gzip(PLAIN), None), (headers, gzip(PLAIN)));
    }

    #[test]
    fn what_does_not_fit_gives_nothing_rather_than_something_else() {
        let body = gzip(PLAIN);
        for (headers, body, span) in [
            (Headers::default(), Bytes::from_static(PLAIN), (20, 99)),
            (Headers::default(), Bytes::from_static(PLAIN), (9, 3)),
            (coded("gzip"), body.clone(), (20, 99)),
            (coded("gzip"), body.slice(..body.len() / 2), (0, PLAIN.len() as u64)),
            (coded("gzip"), Bytes::from_static(PLAIN), (0, 4)),
            (coded("br"), body.clone(), (0, 4)),
            (coded("gzip"), body, (u64::MAX - 1, u64::MAX)),
        ] {
            assert_eq!(item(&headers, &body, Some(span)), None, "{headers:?} {span:?}");
        }
    }

    #[test]
    fn no_more_is_decoded_than_the_item_needs() {
        let zeros = gzip(&vec![b'0'; 8 * 1024 * 1024]);
        let mut steps = 0;
        let ended = Coding::Gzip.decode(&zeros, |_| {
            steps += 1;
            ControlFlow::Break(())
        });
        assert_eq!((ended, steps), (Err(Undecoded::Ended(())), 1));
        assert!(until(Coding::Gzip, &zeros, 10).unwrap().len() <= STEP);
    }

    #[test]
    fn something_behind_the_end_is_no_part_of_it() {
        let long = [&deflate(PLAIN)[..], b"x"].concat();
        let all = Coding::Deflate.decode(&long, |_| ControlFlow::<()>::Continue(()));
        assert_eq!(all, Err(Undecoded::Broken));
    }
}
