//! A PostgreSQL server of a test's own, from the installed programs, in a folder and on a port of its own: to be set,
//! ended and promoted as no shared one may be. Calls wait, for seconds at the most.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

#[derive(Debug)]
pub struct Cluster {
    folder: TempDir,
    bin: PathBuf,
    port: u16,
}

impl Cluster {
    pub fn start() -> Result<Self> {
        let cluster = Self::folder()?;
        let data = cluster.data();
        let init = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync", "-D"];
        ran(cluster.program("initdb").args(init).arg(&data))?;
        cluster.begin()?;
        Ok(cluster)
    }

    /// A standby that follows this one.
    pub fn standby(&self) -> Result<Self> {
        let standby = Self::folder()?;
        let from = format!("host=127.0.0.1 port={} user=postgres application_name=standby", self.port);
        let line = ["-R", "-X", "stream", "-c", "fast", "--no-sync", "-d", &from, "-D"];
        ran(standby.program("pg_basebackup").args(line).arg(standby.data()))?;
        standby.begin()?;
        Ok(standby)
    }

    fn folder() -> Result<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let cluster = Self { folder: tempfile::tempdir()?, bin: binaries()?, port };
        if is_root() {
            ran(Command::new("chown").arg("postgres").arg(cluster.folder.path()))?;
        }
        Ok(cluster)
    }

    /// `host:port`.
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Without a database.
    pub fn url(&self) -> String {
        format!("postgres://postgres@{}", self.host())
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Lines of its configuration, in force from the next start on.
    pub fn set(&self, lines: &str) -> Result<()> {
        let file = self.data().join("postgresql.auto.conf");
        let text = std::fs::read_to_string(&file)?;
        Ok(std::fs::write(&file, text + lines + "\n")?)
    }

    /// Files that it is to read become its user's.
    pub fn own(&self, files: &[&Path]) -> Result<()> {
        if is_root() {
            ran(Command::new("chown").arg("postgres").args(files))?;
        }
        Ok(())
    }

    /// Starts, and waits until it answers.
    pub fn begin(&self) -> Result<()> {
        let options = format!(
            "-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=100 -c fsync=on",
            self.port
        );
        let log = self.folder.path().join("log");
        ran(self.program("pg_ctl").args(["start", "-w", "-o", &options, "-l"]).arg(log).arg("-D").arg(self.data()))
    }

    /// No last word to anybody, as behind a crash.
    pub fn end(&self) -> Result<()> {
        ran(self.program("pg_ctl").args(["stop", "-w", "-m", "immediate", "-D"]).arg(self.data()))
    }

    pub fn promote(&self) -> Result<()> {
        ran(self.program("pg_ctl").args(["promote", "-w", "-D"]).arg(self.data()))
    }

    /// SIGKILL to the server and all of its processes.
    pub fn kill(&self) -> Result<()> {
        let main = self.main()?;
        let children = children(main)?;
        for process in [vec![main], children].concat() {
            // One that has ended meanwhile has ended.
            let _ = signal(process, Signal::KILL);
        }
        Ok(())
    }

    /// Sends a signal to its processes whose title holds these words; how many had not ended meanwhile.
    pub fn signal(&self, words: &str, what: Signal) -> Result<usize> {
        let title = |process: i32| std::fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default();
        let meant = children(self.main()?)?.into_iter().filter(|process| title(*process).contains(words));
        Ok(meant.filter(|process| signal(*process, what).is_ok()).count())
    }

    fn main(&self) -> Result<i32> {
        let text = std::fs::read_to_string(self.data().join("postmaster.pid"))?;
        Ok(text.lines().next().unwrap_or_default().trim().parse()?)
    }

    /// PostgreSQL refuses to run as root.
    fn program(&self, name: &str) -> Command {
        let program = self.bin.join(name);
        if !is_root() {
            return Command::new(program);
        }
        let mut command = Command::new("runuser");
        command.args(["-u", "postgres", "--"]).arg(program);
        command
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // Ended by a test already, it cannot be ended again.
        let _ = self.end();
    }
}

fn signal(process: i32, what: Signal) -> Result<()> {
    Ok(kill_process(Pid::from_raw(process).context("no process")?, what)?)
}

/// Its processes, by the parent that stands behind the state of each.
fn children(main: i32) -> Result<Vec<i32>> {
    let all = std::fs::read_dir("/proc")?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let parent = |process: &i32| -> Option<i32> {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()
    };
    Ok(all.filter(|process| parent(process) == Some(main)).collect())
}

fn ran(command: &mut Command) -> Result<()> {
    let out = command.current_dir("/").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let status = out.with_context(|| format!("cannot start {command:?}"))?;
    ensure!(status.success(), "{command:?}: {status}");
    Ok(())
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The newest that is installed.
fn binaries() -> Result<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").context("no PostgreSQL is installed")?;
    let numbers = versions.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let newest = numbers.max().context("no PostgreSQL is installed")?;
    Ok(Path::new("/usr/lib/postgresql").join(newest.to_string()).join("bin"))
}
