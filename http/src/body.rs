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

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
    use tokio::time::advance;

    use super::*;
    use crate::budget::Budget;

    /// Frames as a test sends them; the end is when it has no more to send.
    struct Sent(UnboundedReceiver<&'static [u8]>);

    impl Body for Sent {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            self.0.poll_recv(cx).map(|data| data.map(|data| Ok(Frame::data(Bytes::from_static(data)))))
        }
    }

    /// Frames without bytes, always there.
    struct Nothing;

    impl Body for Nothing {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Ready(Some(Ok(Frame::data(Bytes::new()))))
        }
    }

    const TIME: Duration = Duration::from_secs(10);
    const SECOND_OF_BYTES: &[u8] = &[0; MIN_RATE as usize];

    fn held() -> Held {
        Held::new(&Budget::new(usize::MAX), &Budget::new(usize::MAX))
    }

    /// Sends a piece each `step` seconds; how it ended, and after how many pieces.
    async fn paced(piece: &'static [u8], pieces: usize, step: u64) -> (Result<usize, Declined>, usize) {
        let (sender, receiver) = unbounded_channel();
        let reading = tokio::spawn(async move {
            let mut held = held();
            read(Sent(receiver), usize::MAX, TIME, &mut held).await.map(|whole| whole.len())
        });
        let mut sent = 0;
        while sent < pieces && sender.send(piece).is_ok() {
            sent += 1;
            tokio::task::yield_now().await;
            advance(Duration::from_secs(step)).await;
            tokio::task::yield_now().await;
        }
        drop(sender);
        (reading.await.expect("no panic"), sent)
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_keeps_its_pace_has_the_time_that_it_needs() {
        let (whole, sent) = paced(SECOND_OF_BYTES, 60, 1).await;
        assert_eq!((whole.ok(), sent), (Some(60 * SECOND_OF_BYTES.len()), 60));
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_of_single_bytes_has_the_time_of_an_ordinary_one() {
        let (slow, sent) = paced(b"x", 60, 1).await;
        assert!(matches!(slow, Err(Declined::Slow)));
        assert!((10..=11).contains(&sent), "{sent}");
    }

    #[tokio::test]
    async fn frames_without_bytes_come_to_an_end() {
        let mut held = held();
        assert!(matches!(read(Nothing, 10, TIME, &mut held).await, Err(Declined::Malformed(_))));
    }

    #[tokio::test]
    async fn a_buffer_is_never_larger_than_its_end() {
        let mut whole = Whole::Nothing;
        for _ in 0..100 {
            whole.push(Bytes::from_static(&[0; 1000]), 100_000);
        }
        let Whole::Buffer(buffer) = &whole else { panic!("pieces were put together") };
        assert_eq!((buffer.len(), buffer.capacity()), (100_000, 100_000));
    }
}
