//! What people ask of SQLite: which statement answers which question, and on which file's connection.

use super::conn::Conn;
use super::reader::Reader;
use crate::read::tables::{Look, Question, Tables};
use crate::sql::call::{Row, Stmt};
use crate::sql::sqlite as sql;
use crate::store::StoreError;

/// No answer is ever waited for: whoever polls a page once has it.
impl Tables for Reader {
    async fn ask(&self, questions: &[Question<'_>]) -> Result<Vec<Vec<Row>>, StoreError> {
        let answer = |question: &Question<'_>| {
            let (conn, stmt) = place(self, question.look);
            conn.rows(stmt, question.args)
        };
        questions.iter().map(answer).collect()
    }
}

fn place(reader: &Reader, look: Look) -> (&Conn, &'static Stmt) {
    let (inbox, work) = (&reader.inbox, &reader.work);
    match look {
        Look::Accepted => (inbox, sql::READ_ACCEPTED),
        Look::Attention => (work, sql::READ_ATTENTION),
        Look::Begins => (work, sql::ROUTE_BEGINS),
        Look::Behind => (work, sql::READ_BEHIND),
        Look::ConflictRaw => (inbox, sql::READ_CONFLICT_RAW),
        Look::ConsumerId => (work, sql::READ_CONSUMER_ID),
        Look::Consumers => (work, sql::READ_CONSUMERS),
        Look::Defined => (work, sql::READ_DEFINED),
        Look::Newest => (inbox, sql::READ_NEWEST),
        Look::Rules => (inbox, sql::READ_RULES),
        Look::Deliveries => (work, sql::READ_DELIVERIES),
        Look::DeliveriesHalted => (work, sql::READ_DELIVERIES_HALTED),
        Look::DeliveriesWork => (work, sql::READ_DELIVERIES_WORK),
        Look::Delivery => (work, sql::READ_DELIVERY),
        Look::Event => (inbox, sql::READ_EVENT),
        Look::EventDeliveries => (work, sql::READ_EVENT_DELIVERIES),
        Look::EventRaw => (inbox, sql::READ_EVENT_RAW),
        Look::EventRequests => (inbox, sql::READ_EVENT_REQUESTS),
        Look::HaltedCounts => (work, sql::READ_HALTED_COUNTS),
        Look::History => (work, sql::READ_HISTORY),
        Look::Hold => (work, sql::READ_HOLD),
        Look::Holds => (work, sql::READ_HOLDS),
        Look::Numbers => (inbox, sql::READ_NUMBERS),
        Look::Passes => (work, sql::ROUTE_PASSES),
        Look::Received => (inbox, sql::READ_RECEIVED),
        Look::Request => (inbox, sql::READ_REQUEST),
        Look::RequestRaw => (inbox, sql::READ_REQUEST_RAW),
        Look::Requests => (inbox, sql::READ_REQUESTS),
        Look::SampleRaw => (inbox, sql::READ_SAMPLE_RAW),
        Look::Samples => (inbox, sql::READ_SAMPLES),
        Look::Tally => (inbox, sql::TALLY_ALL),
        Look::UnmappedFind => (inbox, sql::UNMAPPED_FIND),
        Look::Unrouted => (work, sql::READ_UNROUTED),
        Look::WorkCounts => (work, sql::READ_WORK_COUNTS),
    }
}
