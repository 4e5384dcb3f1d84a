//! A database of a test's own on the server that tests are given, and a line to it that can be cut.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio_postgres::NoTls;

/// Names the server, and a user who may make databases.
const SERVER: &str = "HOOKONCE_TEST_POSTGRES";

fn server() -> String {
    std::env::var(SERVER).unwrap_or_else(|_| "postgres://postgres@127.0.0.1:5432".to_owned())
}

/// Gone with its owner.
pub struct Database {
    pub name: String,
}

impl Database {
    pub fn new() -> Database {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let name = format!("hookonce_process_{}_{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        run("postgres", &format!("create database {name}"));
        Database { name }
    }

    pub fn url(&self) -> String {
        format!("{}/{}", server(), self.name)
    }

    /// As somebody else would.
    pub fn run(&self, sql: &str) {
        run(&self.name, sql);
    }

    /// Of every session from now on; `None`: as the server has it.
    pub fn set(&self, setting: &str, value: Option<&str>) {
        let what = value.map_or_else(|| format!("reset {setting}"), |value| format!("set {setting} = {value}"));
        run("postgres", &format!("alter database {} {what}", self.name));
    }

    pub fn count(&self, sql: &str) -> i64 {
        on(&self.name, async |client| client.query_one(sql, &[]).await.expect("a count").get(0))
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        run("postgres", &format!("drop database if exists {} with (force)", self.name));
    }
}

fn run(database: &str, sql: &str) {
    on(database, async |client| client.batch_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}")));
}

/// A missing server is a failure, never a reason to leave a test out.
fn on<T>(database: &str, ask: impl AsyncFnOnce(&tokio_postgres::Client) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let url = format!("{}/{database}", server());
    runtime.block_on(async {
        let connected = tokio_postgres::connect(&url, NoTls).await;
        let (client, connection) = connected
            .unwrap_or_else(|error| panic!("{url}: {error}\nhint: start PostgreSQL, or name a server in `{SERVER}`"));
        tokio::spawn(connection);
        ask(&client).await
    })
}

/// What stands between a node and its database.
pub struct Line {
    pub listen: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    cut: bool,
    open: Vec<TcpStream>,
}

impl Line {
    pub fn new() -> Line {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let listen = listener.local_addr().expect("an address");
        let state = Arc::<Mutex<State>>::default();
        let shared = state.clone();
        std::thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                // Whoever comes while it is cut finds the door shut.
                let _ = carry(near, &shared);
            }
        });
        Line { listen, state }
    }

    /// The database's url by this way.
    pub fn url(&self, database: &Database) -> String {
        format!("postgres://postgres@{}/{}", self.listen, database.name)
    }

    /// Ends every connection, and lets none through.
    pub fn cut(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.cut = true;
        state.open.drain(..).for_each(|stream| drop(stream.shutdown(Shutdown::Both)));
    }
}

fn carry(near: TcpStream, state: &Mutex<State>) -> io::Result<()> {
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    if state.cut {
        return near.shutdown(Shutdown::Both);
    }
    let far = TcpStream::connect(target())?;
    state.open.extend([near.try_clone()?, far.try_clone()?]);
    for (mut from, mut to) in [(near.try_clone()?, far.try_clone()?), (far, near)] {
        std::thread::spawn(move || {
            let _ = io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Both);
        });
    }
    Ok(())
}

fn target() -> String {
    let server = server();
    let host = server.rsplit(['@', '/']).next().unwrap_or_default();
    if host.contains(':') { host.to_owned() } else { format!("{host}:5432") }
}
