//! The database that tests are given: a server that runs, else one of our own, which ends with the steps. If there is no
//! PostgreSQL on the machine, it is installed.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result, ensure};

use crate::run::{has, need, output, run, tell};

/// What tests read it from (`hookonce::postgres::bed`).
const SERVER: &str = "HOOKONCE_TEST_POSTGRES";
const USUAL: &str = "postgres://postgres@127.0.0.1:5432";

/// The folder of our own server, while it runs.
static OURS: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Finds a server or starts one, and tells everybody where it is.
pub fn ready() -> Result<()> {
    if let Ok(named) = std::env::var(SERVER) {
        ensure!(answers(&named), "`{SERVER}` names `{named}`, and nobody answers there as we need it");
        return Ok(());
    }
    if answers(USUAL) {
        tell(SERVER, USUAL);
        return Ok(());
    }
    let address = start()?;
    ensure!(answers(&address), "our own server at `{address}` does not answer");
    tell(SERVER, &address);
    Ok(())
}

/// Lets us in without a password, and lets us make databases.
fn answers(address: &str) -> bool {
    let asked = "select rolcreatedb or rolsuper from pg_roles where rolname = current_user";
    let mut psql = Command::new("psql");
    psql.args(["--no-password", "--tuples-only", "--no-align", "--command", asked, &format!("{address}/postgres")]);
    psql.stderr(Stdio::null()).output().is_ok_and(|said| said.status.success() && said.stdout.starts_with(b"t"))
}

/// A new cluster in a folder that its user may enter, on a port that nobody has.
fn start() -> Result<String> {
    if !has("psql") || binaries().is_err() {
        need("psql-of-a-server", "postgresql")?;
    }
    let bin = binaries()?;
    let folder = std::env::temp_dir().join(format!("hookonce-postgres-{}", std::process::id()));
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    fs::create_dir_all(&folder)?;
    let data = folder.join("data");
    let (folder_text, data_text) = (text(&folder)?, text(&data)?);
    if is_root()? {
        run("chown", &["postgres", folder_text], &[])?;
    }
    let init = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync", "--pgdata"];
    as_postgres(&bin.join("initdb"), &[&init[..], &[data_text]].concat())?;
    *OURS.lock().unwrap_or_else(PoisonError::into_inner) = Some(folder.clone());
    let options = format!("-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=300");
    let log = folder.join("log");
    let line = ["start", "--wait", "--pgdata", data_text, "--log", text(&log)?, "--options", &options];
    as_postgres(&bin.join("pg_ctl"), &line)?;
    Ok(format!("postgres://postgres@127.0.0.1:{port}"))
}

/// The newest that is installed.
fn binaries() -> Result<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").context("no PostgreSQL is installed")?;
    let versions = versions.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let newest = versions.max().context("no PostgreSQL is installed")?;
    Ok(PathBuf::from(format!("/usr/lib/postgresql/{newest}/bin")))
}

/// It refuses to run as root.
fn as_postgres(program: &Path, args: &[&str]) -> Result<()> {
    let program = text(program)?;
    if is_root()? {
        return run("runuser", &[&["-u", "postgres", "--", program], args].concat(), &[]);
    }
    run(program, args, &[])
}

fn is_root() -> Result<bool> {
    Ok(output("id", &["-u"])?.trim() == "0")
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("a path of text")
}

/// Ends our own server, if there is one, when it goes.
pub struct Stopped;

impl Drop for Stopped {
    fn drop(&mut self) {
        let Some(folder) = OURS.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        let data = folder.join("data");
        let stopped = binaries()
            .and_then(|bin| as_postgres(&bin.join("pg_ctl"), &["stop", "--mode=immediate", "--pgdata", text(&data)?]));
        if let Err(error) = stopped.and_then(|()| Ok(fs::remove_dir_all(&folder)?)) {
            eprintln!("the server in `{}` is not cleared away: {error}", folder.display());
        }
    }
}
