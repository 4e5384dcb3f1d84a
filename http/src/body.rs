//! A body becomes one buffer: no larger than what is there, counted as it arrives, never held twice, and given a time
//! that grows only with what came.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf as _, Bytes};
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame};
use std::future::{Future as _, poll_fn};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::answer::Declined;
use crate::budget::Held;
use crate::limits::{MAX_EMPTY, MIN_RATE};

/// Reads all of it. The limit holds for the declared length before a byte is read, then for what comes.
pub async fn read<B>(mut body: B, max: usize, time: Duration, held: &mut Held) -> Result<Bytes, Declined>
where
    B: Body<Data = Bytes> + Unpin,
{
    let declared = body.size_hint().exact().map(|n| usize::try_from(n).unwrap_or(usize::MAX));
    if declared.is_some_and(|n| n > max) {
        return Err(Declined::TooLarge);
    }
    let mut pace = Pace::new(time);
    let mut whole = Whole::Nothing;
    while let Some(data) = pace.next_data(&mut body).await? {
        if whole.len() + data.len() > max {
            return Err(Declined::TooLarge);
        }
        if !held.grow(data.len()) {
            return Err(Declined::Full);
        }
        whole.push(data, declared.unwrap_or(max));
        if body.is_end_stream() {
            break;
        }
    }
    Ok(whole.into())
}

/// Most bodies arrive in one piece, which is then taken as it is.
enum Whole {
    Nothing,
    Piece(Bytes),
    Buffer(Vec<u8>),
}

impl Whole {
    fn len(&self) -> usize {
        match self {
            Whole::Nothing => 0,
            Whole::Piece(piece) => piece.len(),
            Whole::Buffer(buffer) => buffer.len(),
        }
    }

    /// The buffer doubles up to `end`, so that neither a promise nor a pace of single bytes decides its size.
    fn push(&mut self, data: Bytes, end: usize) {
        let mut buffer = match std::mem::replace(self, Whole::Nothing) {
            Whole::Nothing => {
                *self = Whole::Piece(data);
                return;
            }
            Whole::Piece(piece) => Vec::from(piece),
            Whole::Buffer(buffer) => buffer,
        };
        let needed = buffer.len() + data.len();
        if needed > buffer.capacity() {
            let wanted = buffer.capacity().saturating_mul(2).min(end).max(needed);
            buffer.reserve_exact(wanted - buffer.len());
        }
        buffer.extend_from_slice(&data);
        *self = Whole::Buffer(buffer);
    }
}

impl From<Whole> for Bytes {
    fn from(whole: Whole) -> Bytes {
        match whole {
            Whole::Nothing => Bytes::new(),
            Whole::Piece(piece) => piece,
            Whole::Buffer(buffer) => buffer.into(),
        }
    }
}

/// The time that a body has. A timer is made only when a body lets us wait for it.
struct Pace {
    time: Duration,
    started: Option<Instant>,
    received: u64,
    empty: u32,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Pace {
    fn new(time: Duration) -> Pace {
        Pace { time, started: None, received: 0, empty: 0, timer: None }
    }

    /// The next bytes; trailers and frames without any are read past.
    async fn next_data<B>(&mut self, body: &mut B) -> Result<Option<Bytes>, Declined>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        loop {
            let Some(frame) = poll_fn(|cx| self.poll_frame(body, cx)).await? else { return Ok(None) };
            match frame.into_data() {
                Ok(data) if data.has_remaining() => {
                    self.received = self.received.saturating_add(data.remaining() as u64);
                    return Ok(Some(data));
                }
                _ => self.empty += 1,
            }
            if self.empty > MAX_EMPTY {
                return Err(Declined::Malformed("malformed_body"));
            }
        }
    }

    fn poll_frame<B>(&mut self, body: &mut B, cx: &mut Context<'_>) -> Poll<Result<Option<Frame<Bytes>>, Declined>>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        match Pin::new(&mut body.frame()).poll(cx) {
            Poll::Ready(None) => Poll::Ready(Ok(None)),
            Poll::Ready(Some(Ok(frame))) => Poll::Ready(Ok(Some(frame))),
            // Cut off, or chunks that are none: the library closes the connection behind the answer.
            Poll::Ready(Some(Err(_))) => Poll::Ready(Err(Declined::Malformed("malformed_body"))),
            Poll::Pending => {
                ready!(self.poll_late(cx));
                Poll::Ready(Err(Declined::Slow))
            }
        }
    }

    fn poll_late(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let started = *self.started.get_or_insert_with(Instant::now);
        let due = started + self.time + Duration::from_secs(self.received / MIN_RATE);
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(due)));
        ready!(timer.as_mut().poll(cx));
        if timer.deadline() >= due {
            return Poll::Ready(());
        }
        timer.as_mut().reset(due);
        timer.as_mut().poll(cx)
    }
}
