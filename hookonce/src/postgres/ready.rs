//! Statements ready to be run: prepared by their session, or, where sessions are lent by the transaction, sent with the
//! types of their parameters each time.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error, SimpleQueryMessage, Statement};

/// What a pooler that lends sessions by the transaction asks of us.
#[derive(Debug)]
pub struct Lending {
    types: Mutex<HashMap<&'static str, Arc<[Type]>>>,
    /// Of locks, of statements, of silence in a transaction: said anew in each one.
    pub limits: [String; 3],
}

#[derive(Clone, Debug)]
pub enum Ready {
    Prepared(Statement),
    Sent(&'static str, Arc<[Type]>),
}

impl Ready {
    pub fn params(&self) -> &[Type] {
        match self {
            Ready::Prepared(statement) => statement.params(),
            Ready::Sent(_, types) => types,
        }
    }
}

impl Lending {
    pub fn new(limits: [Duration; 3]) -> Lending {
        Lending { types: Mutex::default(), limits: limits.map(|limit| limit.as_millis().to_string()) }
    }

    /// Asked of the database once for each text.
    pub async fn ready(&self, client: &Client, text: &'static str) -> Result<Ready, Error> {
        let known = self.types().get(text).cloned();
        let types = match known {
            Some(types) => types,
            None => {
                let types: Arc<[Type]> = ask(client, text).await?.into();
                self.types().insert(text, types.clone());
                types
            }
        };
        Ok(Ready::Sent(text, types))
    }

    fn types(&self) -> MutexGuard<'_, HashMap<&'static str, Arc<[Type]>>> {
        self.types.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// In one message, which is one transaction and so one session. One that breaks off may leave its name there: each has
/// its own.
async fn ask(client: &Client, text: &'static str) -> Result<Vec<Type>, Error> {
    if !text.contains("$1") {
        return Ok(Vec::new());
    }
    static ASKED: AtomicU64 = AtomicU64::new(0);
    let name = format!("hookonce_{}_{}", std::process::id(), ASKED.fetch_add(1, Relaxed));
    let asked = format!(
        "prepare {name} as {text};
         select unnest(parameter_types::oid[])::text from pg_prepared_statements where name = '{name}';
         deallocate {name}"
    );
    let oid = |message: &SimpleQueryMessage| match message {
        SimpleQueryMessage::Row(row) => row.get(0).and_then(|oid| oid.parse().ok()).and_then(Type::from_oid),
        _ => None,
    };
    Ok(client.simple_query(&asked).await?.iter().filter_map(oid).collect())
}
