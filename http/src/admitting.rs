//! The commit, once begun, is nobody's to cancel. A sender that hangs up, or an ack deadline that passes, only stops
//! waiting; the submission goes on as a task of its own (F23 c).

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use hookonce_core::admit::{Admission, Submission};
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

use crate::budget::Held;
use crate::intake::{Intake, Unavailable};

type Admitted = Result<Admission, Unavailable>;

/// Waits for an admission. Dropped before it is there, it hands the rest to the tracker, which a drain waits for: no
/// task is made for the many that nobody cancels.
pub struct Admitting {
    rest: Option<BoxFuture<'static, Admitted>>,
    orphans: TaskTracker,
}

impl Admitting {
    /// The buffers stay counted until the commit is over, whoever still waits.
    pub fn new(intake: Arc<dyn Intake>, submission: Submission, held: Held, orphans: TaskTracker) -> Admitting {
        let commit = async move {
            let admitted = intake.admit(submission).await;
            drop(held);
            admitted
        };
        Admitting { rest: Some(Box::pin(commit)), orphans }
    }
}

impl Future for Admitting {
    type Output = Admitted;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Admitted> {
        let Some(rest) = &mut self.rest else { return Poll::Pending };
        let polled = rest.as_mut().poll(cx);
        hookonce_core::kill_point!("queued");
        if polled.is_ready() {
            self.rest = None;
        }
        polled
    }
}

impl Drop for Admitting {
    fn drop(&mut self) {
        // Without a runtime the process is ending: nothing was promised, and the sender repeats.
        if let (Some(rest), Ok(runtime)) = (self.rest.take(), Handle::try_current()) {
            self.orphans.spawn_on(rest, &runtime);
        }
    }
}
