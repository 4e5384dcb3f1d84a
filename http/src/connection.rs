//! One connection: the HTTP library between a stream that reports its bytes and a service that reports its requests,
//! and beside it the one timer. The library has no limit for a silent peer, so it is given none of its own at all.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use hyper::body::Incoming;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::accept::{Gate, Stage};
use crate::limits::{CONNECTION_WINDOW, MAX_HEAD, MAX_HEADERS, MAX_RESETS, MAX_STREAMS, STREAM_WINDOW};
use crate::pulse::Pulse;
use crate::receive::Ingest;

pub type Http = auto::Builder<TokioExecutor>;

/// HTTP/1.1, and HTTP/2 for who begins with it.
pub fn http() -> Http {
    let mut http = Http::new(TokioExecutor::new());
    http.http1().max_headers(MAX_HEADERS).max_buf_size(MAX_HEAD).header_read_timeout(None);
    http.http2()
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(MAX_HEAD as u32)
        .max_pending_accept_reset_streams(MAX_RESETS)
        .max_local_error_reset_streams(MAX_RESETS)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .adaptive_window(false);
    http
}

/// Serves until the peer, a limit or the gate ends it.
pub async fn serve(http: &Http, stream: TcpStream, from: IpAddr, ingest: Arc<Ingest>, gate: &Gate, pulse: Arc<Pulse>) {
    // An answer is one small segment: waiting for more to send with it is waiting for nothing.
    let _ = stream.set_nodelay(true);
    let io = Watched { stream: TokioIo::new(stream), pulse: pulse.clone() };
    let requests = pulse.clone();
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let (ingest, busy) = (ingest.clone(), requests.begin(request.version()));
        async move {
            let answer = ingest.receive(request, Some(from)).await;
            drop(busy);
            Ok::<_, Infallible>(answer)
        }
    });
    let mut connection = pin!(http.serve_connection(io, service));
    let mut alarm = pin!(sleep_until(pulse.due().unwrap_or_else(Instant::now)));
    let mut leaving = false;
    poll_fn(|cx| {
        pulse.waker.register(cx.waker());
        loop {
            if connection.as_mut().poll(cx).is_ready() || gate.stage() == Stage::Cut {
                return Poll::Ready(());
            }
            let drained = gate.stage() == Stage::Draining && !leaving;
            if !drained {
                ready!(poll_late(&pulse, alarm.as_mut(), cx));
            }
            if leaving {
                return Poll::Ready(());
            }
            // Once more round: a library that is idle now ends at once, and the timer has another time.
            leaving = true;
            connection.as_mut().graceful_shutdown();
            pulse.leave();
        }
    })
    .await;
}

/// Ready when the present state of the connection has lasted too long. The timer is moved only if it would be late, and
/// found early when it fires, so that a busy connection moves it once in some seconds and not with each request.
fn poll_late(pulse: &Pulse, mut alarm: Pin<&mut Sleep>, cx: &mut Context<'_>) -> Poll<()> {
    loop {
        if let Some(due) = pulse.due()
            && due < alarm.deadline()
        {
            alarm.as_mut().reset(due);
        }
        ready!(alarm.as_mut().poll(cx));
        match pulse.due() {
            Some(due) if due <= alarm.deadline() => return Poll::Ready(()),
            Some(due) => alarm.as_mut().reset(due),
            None => alarm.as_mut().reset(Instant::now() + crate::pulse::FAREWELL),
        }
    }
}

/// The stream, with a look at what passes.
struct Watched {
    stream: TokioIo<TcpStream>,
    pulse: Arc<Pulse>,
}

impl Read for Watched {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        self.pulse.read();
        Poll::Ready(Ok(()))
    }
}

impl Write for Watched {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, buf));
        hookonce_core::kill_point!("answered");
        Poll::Ready(written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write_vectored(cx, bufs));
        hookonce_core::kill_point!("answered");
        Poll::Ready(written)
    }
}
