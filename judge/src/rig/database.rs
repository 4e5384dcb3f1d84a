//! A database of a run's own on the server that tests are given, for several servers to share.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::time::{Instant, sleep};
use tokio_postgres::{Client, NoTls};

/// Names the server, and a user who may make databases.
const SERVER: &str = "HOOKONCE_TEST_POSTGRES";
/// Until the sessions of killed servers are gone: theirs is a commit at the most.
const GONE_LIMIT: Duration = Duration::from_secs(20);
const STEP: Duration = Duration::from_millis(20);
/// Sessions of the servers, by the name that they give themselves.
const SESSIONS: &str = "select count(*) from pg_stat_activity
    where datname = current_database() and application_name = 'hookonce'";

pub fn server() -> String {
    std::env::var(SERVER).unwrap_or_else(|_| "postgres://postgres@127.0.0.1:5432".to_owned())
}

/// Somebody else on a database; the connection ends with its client.
pub async fn client(url: &str) -> Result<Client> {
    let connected = tokio_postgres::connect(url, NoTls).await;
    let (client, connection) = connected.with_context(|| format!("no database answers at `{url}`"))?;
    tokio::spawn(connection);
    Ok(client)
}

#[derive(Debug, Clone)]
pub struct Database {
    server: String,
    pub name: String,
}

impl Database {
    /// A new one on the server of the tests.
    pub async fn new() -> Result<Self> {
        Self::on(&server()).await
    }

    /// Those of processes that are gone are cleared away.
    pub async fn on(server: &str) -> Result<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let name = format!("hookonce_judge_{}_{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let database = Self { server: server.to_owned(), name };
        let db = database.outside().await?;
        for row in db.query("select datname::text from pg_database where datname like 'hookonce_judge_%'", &[]).await? {
            let found: String = row.get(0);
            let of = found.split('_').nth(2).unwrap_or_default();
            if !std::path::Path::new("/proc").join(of).exists() {
                // Another run may be about it as well.
                let _ = db.batch_execute(&format!("drop database if exists {found} with (force)")).await;
            }
        }
        db.batch_execute(&format!("create database {}", database.name)).await?;
        Ok(database)
    }

    pub fn url(&self) -> String {
        format!("{}/{}", self.server, self.name)
    }

    async fn outside(&self) -> Result<Client> {
        client(&format!("{}/postgres", self.server)).await
    }

    /// Waits until no server has a session any more: what a killed one was about is committed or gone.
    pub async fn alone(&self) -> Result<()> {
        let (db, until) = (client(&self.url()).await?, Instant::now() + GONE_LIMIT);
        while Instant::now() < until {
            if db.query_one(SESSIONS, &[]).await?.get::<_, i64>(0) == 0 {
                return Ok(());
            }
            sleep(STEP).await;
        }
        bail!("sessions of dead servers are still there after {GONE_LIMIT:?}")
    }

    /// Its rows stand in the copies of the last look.
    pub async fn drop(self) -> Result<()> {
        Ok(self.outside().await?.batch_execute(&format!("drop database {} with (force)", self.name)).await?)
    }
}
