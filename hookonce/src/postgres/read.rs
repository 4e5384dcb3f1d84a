//! What people ask of PostgreSQL: a page is one read-only transaction with a time limit, so that all of it shows one
//! moment and no snapshot is held for long.

use std::time::Duration;

use hookonce_core::time::Micros;
use tokio::time::timeout;

use super::conn::{Conn, Pool};
use crate::read;
use crate::read::tables::{Look, Question, Tables};
use crate::sql::call::{Call, Row, Stmt};
use crate::sql::postgres as sql;
use crate::store::StoreError;
use crate::view::{Page, Query};

pub async fn page(pool: &Pool, query: &Query, limit: Duration) -> Result<Page, StoreError> {
    let conn = pool.get().await?;
    let Ok(page) = timeout(limit, answered(&conn, query)).await else {
        // Its statements go on to their own limits; nobody waits for them.
        conn.spoil();
        return Err(StoreError::Busy(format!("the read took longer than {} s", limit.as_secs())));
    };
    if conn.rows(sql::ROLLBACK, &[]).await.is_err() {
        conn.spoil();
    }
    page
}

async fn answered(conn: &Conn, query: &Query) -> Result<Page, StoreError> {
    let begun = conn.run(&[Call::new(sql::READ_BEGIN, &[]), Call::new(sql::NOW, &[])]).await?;
    let now: Micros = begun.last().and_then(|rows| rows.first()).cloned().unwrap_or_default().int(0)?;
    read::page(conn, query, now).await
}

impl Tables for Conn {
    async fn ask(&self, questions: &[Question<'_>]) -> Result<Vec<Vec<Row>>, StoreError> {
        let calls: Vec<Call<'_>> = questions.iter().map(|q| Call::new(stmt(q.look), q.args)).collect();
        self.run(&calls).await
    }
}

fn stmt(look: Look) -> &'static Stmt {
    match look {
        Look::Accepted => sql::READ_ACCEPTED,
        Look::Attention => sql::READ_ATTENTION,
        Look::Begins => sql::READ_BEGINS,
        Look::Behind => sql::READ_BEHIND,
        Look::ConflictRaw => sql::READ_CONFLICT_RAW,
        Look::ConsumerId => sql::READ_CONSUMER_ID,
        Look::Consumers => sql::READ_CONSUMERS,
        Look::Defined => sql::READ_DEFINED,
        Look::Newest => sql::READ_NEWEST,
        Look::Rules => sql::READ_RULES,
        Look::Deliveries => sql::READ_DELIVERIES,
        Look::DeliveriesHalted => sql::READ_DELIVERIES_HALTED,
        Look::DeliveriesWork => sql::READ_DELIVERIES_WORK,
        Look::Delivery => sql::READ_DELIVERY,
        Look::Event => sql::READ_EVENT,
        Look::EventDeliveries => sql::READ_EVENT_DELIVERIES,
        Look::EventRaw => sql::READ_EVENT_RAW,
        Look::EventRequests => sql::READ_EVENT_REQUESTS,
        Look::HaltedCounts => sql::READ_HALTED_COUNTS,
        Look::History => sql::READ_HISTORY,
        Look::Hold => sql::READ_HOLD,
        Look::Holds => sql::READ_HOLDS,
        Look::Numbers => sql::READ_NUMBERS,
        Look::Passes => sql::READ_PASSES,
        Look::Received => sql::READ_RECEIVED,
        Look::Request => sql::READ_REQUEST,
        Look::RequestRaw => sql::READ_REQUEST_RAW,
        Look::Requests => sql::READ_REQUESTS,
        Look::SampleRaw => sql::READ_SAMPLE_RAW,
        Look::Samples => sql::READ_SAMPLES,
        Look::Tally => sql::READ_TALLY,
        Look::UnmappedFind => sql::UNMAPPED_FIND,
        Look::Unrouted => sql::READ_UNROUTED,
        Look::WorkCounts => sql::READ_WORK_COUNTS,
    }
}
