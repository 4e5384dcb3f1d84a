//! Opening a store: a database that keeps what it confirms, our schema in it, this process signed in.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::try_join_all;
use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Config};

use super::conn::{Conn, Maker, Pool};
use super::error::OpenError;
use super::link::Link;
use super::ready::Lending;
use super::timeline::Timeline;
use super::value::said;
use super::{Options, migrate, moving};
use crate::sql::call::Arg;
use crate::sql::postgres as sql;
use crate::sql::schema::Schema;
use crate::store::{Identity, StoreError};

/// Connections for admissions that wait for somebody else's lock.
const ASIDE: usize = 4;

/// The first version that is tested, as the server counts.
pub const OLDEST: i32 = 14;

/// A database that is ours to write, and connections to it.
#[derive(Debug)]
pub struct Opened {
    pub ingest: Pool,
    pub work: Pool,
    pub read: Pool,
    /// For hints; none: nobody wants any.
    pub ear: Option<Maker>,
    pub timeline: Arc<Timeline>,
    pub identity: Identity,
}

pub async fn open(url: &str, options: &Options) -> Result<Opened, OpenError> {
    let link = link(url, options)?;
    prepare(&link, options).await?;
    let timeline = Arc::<Timeline>::default();
    let pool =
        |config: Config, size| Pool::new(maker(link.with(config), &timeline, options), size, options.connect_wait);
    let engine = session(&link, &[PLANS, &limits(options, options.statement_limit)]);
    let reading = session(&link, &[&limits(options, options.read_limit)]);
    let work = pool(engine.clone(), options.work)?;
    let conn = work.get().await?;
    let identity = enter(&work, &conn, &timeline, options).await?;
    drop(conn);
    // Whoever borrows a session hears nothing.
    let ear = (options.hints && !link.pooled).then(|| hearing(&link, &timeline, options));
    let (ingest, read) = (pool(engine, options.writers + ASIDE)?, pool(reading, options.readers)?);
    Ok(Opened { ingest, work, read, ear, timeline, identity })
}

fn maker(link: Link, timeline: &Arc<Timeline>, options: &Options) -> Maker {
    let (tap, clock, limit) = (options.tap.clone(), options.clock.clone(), options.answer_limit);
    let limits = [options.lock_wait, options.statement_limit, options.answer_limit];
    let lending = link.pooled.then(|| Arc::new(Lending::new(limits)));
    Maker { link, lending, tap, clock, limit, timeline: timeline.clone(), instead: options.instead }
}

/// Its statements are nobody's business, and it writes nothing.
fn hearing(link: &Link, timeline: &Arc<Timeline>, options: &Options) -> Maker {
    let config = session(link, &[&limits(options, options.statement_limit)]);
    Maker { tap: None, clock: None, ..maker(link.with(config), timeline, options) }
}

/// Why a url cannot be one of ours, as far as it shows without asking the database.
pub fn valid(url: &str) -> Result<(), String> {
    Link::read(url).map(drop)
}

pub fn link(url: &str, options: &Options) -> Result<Link, OpenError> {
    let mut link = Link::read(url).map_err(OpenError::Address)?;
    let config = &mut link.config;
    config.connect_timeout(options.connect_wait).application_name("hookonce");
    config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    Ok(link)
}

/// The schema of a store that nobody has to have opened; with `up` after it was brought to ours.
pub async fn schema(url: &str, up: bool) -> Result<Schema, OpenError> {
    let options = Options::default();
    let db = primary(&link(url, &options)?).await?;
    sound(&db, &options).await?;
    if up {
        migrate::up(&db).await?;
    }
    migrate::look(&db).await
}

/// Statistics say little about a queue: a small or just vacuumed table would be walked, and a known hot lane would
/// change the index.
const PLANS: &str = "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_hashjoin=off \
                     -c enable_mergejoin=off -c enable_bitmapscan=off -c jit=off";

/// A session that hears nothing more of us in a transaction lets its locks go by itself.
fn limits(options: &Options, statement: Duration) -> String {
    let (lock, idle) = (options.lock_wait.as_millis(), options.answer_limit.as_millis());
    let statement = statement.as_millis();
    format!("-c lock_timeout={lock} -c statement_timeout={statement} -c idle_in_transaction_session_timeout={idle}")
}

/// Connections with these settings, behind those that the address asks for; one that is lent takes none.
fn session(link: &Link, settings: &[&str]) -> Config {
    let mut config = link.config.clone();
    if link.pooled {
        return config;
    }
    let asked = config.get_options().unwrap_or_default().to_owned();
    config.options(format!("{asked} {}", settings.join(" ")));
    config
}

/// What must be true of the database before anything is built on it, and our schema in it.
async fn prepare(link: &Link, options: &Options) -> Result<(), OpenError> {
    let db = primary(link).await?;
    sound(&db, options).await?;
    migrate::up(&db).await?;
    arrived(&db).await?;
    match link.pooled {
        true => known(&db).await,
        false => whole(&db).await,
    }
}

/// The same over a session that is lent, one after the other.
async fn known(db: &Client) -> Result<(), OpenError> {
    let lending = Lending::new(Default::default());
    for stmt in sql::ALL {
        lending.ready(db, stmt.text).await.map_err(foreign)?;
    }
    Ok(())
}

fn foreign(error: tokio_postgres::Error) -> OpenError {
    match error.code() {
        Some(code) if code.code().starts_with("42") => OpenError::Foreign(said(&error)),
        _ => error.into(),
    }
}

/// No move into it is under way.
async fn arrived(db: &Client) -> Result<(), OpenError> {
    match db.query_typed_opt("select from hookonce.setting where name = $1", &[(&moving::MOVING, Type::TEXT)]).await? {
        Some(_) => Err(OpenError::Moving),
        None => Ok(()),
    }
}

/// Every statement of ours can be run on it: no table, column or function is missing or another one.
async fn whole(db: &Client) -> Result<(), OpenError> {
    try_join_all(sql::ALL.iter().map(|stmt| db.prepare(stmt.text))).await.map(drop).map_err(foreign)
}

pub async fn primary(link: &Link) -> Result<Client, OpenError> {
    match connect(link).await {
        // One that takes no writes is turned away by name.
        Err(error) => {
            let mut config = link.config.clone();
            config.target_session_attrs(TargetSessionAttrs::Any);
            connect(&link.with(config)).await.map_err(|_| OpenError::connecting(error))
        }
        Ok(db) => Ok(db),
    }
}

/// The connection ends with its client.
async fn connect(link: &Link) -> Result<Client, tokio_postgres::Error> {
    let (client, connection) = link.connect().await?;
    tokio::spawn(connection);
    Ok(client)
}

pub async fn sound(db: &Client, options: &Options) -> Result<(), OpenError> {
    let asked = "select current_setting('server_version_num')::int, current_setting('server_version'),
        current_setting('transaction_read_only'), current_setting('synchronous_commit'), current_setting('fsync'),
        current_setting('server_encoding')";
    let row = db.query_typed_one(asked, &[]).await?;
    if row.try_get::<_, i32>(0)? < OLDEST * 10_000 {
        return Err(OpenError::TooOld { found: row.try_get(1)? });
    }
    if row.try_get::<_, String>(2)? == "on" {
        return Err(OpenError::ReadOnly);
    }
    for (at, name) in [(3, "synchronous_commit"), (4, "fsync")] {
        let found: String = row.try_get(at)?;
        if found == "off" && !options.may_lose_commits {
            return Err(OpenError::Setting { name, found, want: "on" });
        }
    }
    match row.try_get::<_, String>(5)? {
        found if found != "UTF8" => Err(OpenError::Setting { name: "server_encoding", found, want: "UTF8" }),
        _ => Ok(()),
    }
}

/// Signs this process in. What those held that have said good-bye is due now.
async fn enter(pool: &Pool, conn: &Conn, timeline: &Timeline, options: &Options) -> Result<Identity, StoreError> {
    let fresh = fresh_id(options);
    pool.tx(|conn| {
        let fresh = &fresh;
        async move {
            name(&conn, "store_id", fresh).await?;
            name(&conn, "generation", "1").await?;
            conn.exec(sql::TIMELINE_NEW, &[]).await.map(drop)
        }
    })
    .await?;
    conn.look(timeline).await?;
    let version = Arg::Text(env!("CARGO_PKG_VERSION"));
    let row = conn.row(sql::NODE_ENTER, &[version]).await?;
    conn.exec(sql::NODE_DUE, &[]).await?;
    Ok(Identity {
        store: setting(conn, "store_id").await?.unwrap_or_default(),
        generation: timeline.generation(),
        instance: row.unwrap_or_default().int(0)?,
    })
}

/// Only the first who says it.
async fn name(conn: &Conn, name: &str, value: &str) -> Result<(), StoreError> {
    conn.exec(sql::SETTING_NEW, &[Arg::Text(name), Arg::Blob(value.as_bytes())]).await.map(drop)
}

fn fresh_id(options: &Options) -> String {
    let mut bytes = [0u8; 16];
    match options.seed {
        Some(seed) => bytes[..8].copy_from_slice(&seed.to_be_bytes()),
        None => getrandom::fill(&mut bytes).expect("the system has random numbers"),
    }
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

pub async fn setting(conn: &Conn, name: &str) -> Result<Option<String>, StoreError> {
    match conn.row(sql::SETTING_GET, &[Arg::Text(name)]).await? {
        Some(mut row) => Ok(Some(String::from_utf8_lossy(&row.blob(0)?).into_owned())),
        None => Ok(None),
    }
}
