//! Opens the store that the configuration names.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use hookonce::postgres::PostgresStore;
use hookonce::sqlite::SqliteStore;
use hookonce::store::Store;
use hookonce::{postgres, sqlite};
use tokio::time::Instant;

use super::serve::Say;
use crate::config::meant;

pub async fn open(config: &meant::Store, say: Say<'_>) -> Result<Arc<dyn Store>> {
    let began = Instant::now();
    let (store, what) = match config {
        meant::Store::Sqlite { work, .. } => files(work.clone()).await?,
        meant::Store::Postgres(database) => shared(database).await?,
    };
    say(&format!("store     {what}   ready in {} ms", began.elapsed().as_millis()));
    Ok(store)
}

/// On a thread of its own: recovery after a crash reads and writes files.
async fn files(work: PathBuf) -> Result<(Arc<dyn Store>, String)> {
    let what = format!("sqlite {}   WAL, synchronous=FULL, SQLite {}", work.display(), sqlite::version());
    let store = tokio::task::spawn_blocking(move || SqliteStore::open(&work, sqlite::Options::default())).await??;
    Ok((Arc::new(store), what))
}

async fn shared(database: &meant::Postgres) -> Result<(Arc<dyn Store>, String)> {
    let store = PostgresStore::open(database.url(), postgres::Options::default()).await?;
    let what = format!("{database}   acks are {}", store.acks());
    Ok((Arc::new(store), what))
}
