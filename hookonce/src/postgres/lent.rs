//! For tests: a connection like those of users' programs, which claim and settle inside transactions of their own.

use hookonce_core::claim::{Ask, Claimed};
use hookonce_core::lease::Lease;
use hookonce_core::settle::{Ending, Settled, receipt};

use super::claim::{self, Marks};
use super::conn::Conn;
use super::sets::Sets;
use super::settle;
use crate::sql::call::Stmt;
use crate::sql::postgres as sql;
use crate::store::{Identity, StoreError};

#[derive(Debug)]
pub struct Lent {
    conn: Conn,
    identity: Identity,
    marks: Marks,
}

impl Lent {
    pub(super) fn new(conn: Conn, identity: Identity) -> Lent {
        Lent { conn, identity, marks: Marks::default() }
    }

    /// Whatever a user's program says: `begin isolation level …`, its effect, `commit`.
    pub async fn sql(&self, text: &str) -> Result<(), StoreError> {
        self.conn.batch(text).await
    }

    pub async fn claim(&self, ask: &Ask) -> Result<Vec<Claimed>, StoreError> {
        claim::claim(&self.conn, &self.identity, &self.marks, ask).await
    }

    pub async fn renew(&self, leases: &[Lease], by: i64) -> Result<Vec<Lease>, StoreError> {
        claim::renew(&self.conn, &self.identity, leases, by).await
    }

    /// How this session goes about a statement.
    pub async fn plan(&self, stmt: &'static Stmt) -> Result<String, StoreError> {
        self.conn.plan(stmt).await
    }

    /// The settle statements, and nothing that would end the transaction.
    pub async fn settle(&self, endings: &[Ending]) -> Result<Vec<Settled>, StoreError> {
        let mut sets = Sets::default();
        settle::statements(&mut sets, &self.identity, endings);
        let mut answers = sets.run(&self.conn).await?;
        let mut kept = answers.firsts(sql::SETTLE_END)?;
        kept.extend(answers.firsts(sql::SETTLE_LATER)?);
        Ok(receipt(endings, &kept))
    }
}
