//! Where a sending consumer's messages go. The trait alone: what sends is in `hookonce-destinations`, which turns every
//! end of a try into an [`Outcome`], so that no loop ever matches on a kind of destination.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use crate::delivery::Outcome;
use crate::message::Message;

/// Something that messages can be sent to. A send may repeat; the message's id lets the receiver see it.
pub trait Destination: Send + Sync + fmt::Debug {
    /// One try, ended within `within`: the caller's lease is not longer. Dropping the future gives the try up, and
    /// then nobody knows whether it arrived.
    fn send(&self, message: Message, within: Duration) -> Sending<'_>;
}

pub type Sending<'a> = Pin<Box<dyn Future<Output = Sent> + Send + 'a>>;

/// How a try came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    pub outcome: Outcome,
    /// The receiver wants nothing more (410): the consumer is paused until a person decides, and this is why.
    pub pause: Option<String>,
}

impl From<Outcome> for Sent {
    fn from(outcome: Outcome) -> Sent {
        Sent { outcome, pause: None }
    }
}
