//! The seam to a dialect: what is asked, and who answers it from one state of a store's tables.

use crate::sql::call::{Arg, Row};
use crate::store::StoreError;

/// A question, whatever the dialect's statement for it. The order of the columns is the same in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    Accepted,
    Attention,
    Begins,
    Behind,
    ConflictRaw,
    ConsumerId,
    Consumers,
    Defined,
    Deliveries,
    DeliveriesHalted,
    DeliveriesWork,
    Delivery,
    Event,
    EventDeliveries,
    EventRaw,
    EventRequests,
    HaltedCounts,
    History,
    Hold,
    Holds,
    Newest,
    Numbers,
    Passes,
    Received,
    Request,
    RequestRaw,
    Requests,
    Rules,
    SampleRaw,
    Samples,
    Tally,
    UnmappedFind,
    Unrouted,
    WorkCounts,
}

#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    pub look: Look,
    pub args: &'a [Arg<'a>],
}

/// One state of the tables. Generic code awaits its answers; where a driver does not wait, they are ready at once.
pub trait Tables {
    /// One flight: no question needs another's answer.
    async fn ask(&self, questions: &[Question<'_>]) -> Result<Vec<Vec<Row>>, StoreError>;

    async fn rows(&self, look: Look, args: &[Arg<'_>]) -> Result<Vec<Row>, StoreError> {
        Ok(self.ask(&[Question { look, args }]).await?.pop().unwrap_or_default())
    }

    /// The first row of an answer.
    async fn row(&self, look: Look, args: &[Arg<'_>]) -> Result<Option<Row>, StoreError> {
        Ok(self.rows(look, args).await?.into_iter().next())
    }

    /// The same questions of each number, in one flight: so many answers for the first, then for the second.
    async fn each<const N: usize>(&self, looks: [Look; N], ids: &[i64]) -> Result<Vec<[Vec<Row>; N]>, StoreError> {
        let ids: Vec<[Arg<'_>; 1]> = ids.iter().map(|id| [Arg::Int(*id)]).collect();
        let questions: Vec<Question<'_>> =
            ids.iter().flat_map(|args| looks.map(|look| Question { look, args })).collect();
        let mut answers = self.ask(&questions).await?.into_iter();
        let mut next = || answers.next().unwrap_or_default();
        Ok(ids.iter().map(|_| std::array::from_fn(|_| next())).collect())
    }
}
