//! Where a run lives: its folders, and a loopback address of its own so that runs beside each other never meet.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::dice::Dice;

const INGEST: u16 = 18080;
const ADMIN: u16 = 18081;
const RECEIVER: u16 = 18082;
/// Addresses tried before giving up; 16 million are there.
const TRIES: u32 = 64;

/// `store` may lie on another file system than `evidence`: it is what a fault reaches.
#[derive(Debug, Clone)]
pub struct Place {
    pub folder: PathBuf,
    pub store: PathBuf,
    /// The url of a database that several share; none: files in `store`.
    pub shared: Option<String>,
    pub ip: IpAddr,
    pub receiver: SocketAddr,
    config: String,
}

impl Place {
    /// A fresh place under `folder`; what lay there is removed, so that a run never judges the leavings of another.
    pub fn fresh(folder: &Path) -> Result<Self> {
        if folder.exists() {
            std::fs::remove_dir_all(folder)?;
        }
        let (store, ip) = (folder.join("store"), free_address()?);
        let receiver = SocketAddr::new(ip, RECEIVER);
        let (folder, config) = (folder.to_path_buf(), "hookonce.toml".to_owned());
        let place = Self { folder, store, shared: None, ip, receiver, config };
        std::fs::create_dir_all(&place.store)?;
        std::fs::create_dir_all(place.evidence())?;
        Ok(place)
    }

    /// The same store and receiver, another address: for a second server over a first one that was taken for dead.
    pub fn twin(&self) -> Result<Self> {
        self.node("twin")
    }

    /// The same with a name, for one of several servers.
    pub fn node(&self, name: &str) -> Result<Self> {
        Ok(Self { ip: free_address()?, config: format!("{name}.toml"), ..self.clone() })
    }

    pub fn evidence(&self) -> PathBuf {
        self.folder.join("evidence")
    }

    pub fn look(&self) -> PathBuf {
        self.folder.join("look")
    }

    pub fn log(&self) -> PathBuf {
        self.folder.join("server.log")
    }

    pub fn config(&self) -> PathBuf {
        self.store.join(&self.config)
    }

    pub fn database(&self) -> PathBuf {
        self.store.join("hookonce.db")
    }

    /// Over that database.
    #[must_use]
    pub fn on(self, url: String) -> Self {
        Self { shared: Some(url), ..self }
    }

    /// As the configuration names it.
    pub fn url(&self) -> String {
        self.shared.clone().unwrap_or_else(|| format!("sqlite:{}", self.database().display()))
    }

    pub fn ingest(&self) -> SocketAddr {
        SocketAddr::new(self.ip, INGEST)
    }

    pub fn admin(&self) -> SocketAddr {
        SocketAddr::new(self.ip, ADMIN)
    }

    /// What keeps a second server out, as long as nobody takes it away.
    pub fn lock(&self) -> PathBuf {
        self.store.join("hookonce.lock")
    }
}

/// All of 127/8 is loopback: an address of one's own makes fixed ports free, also for the restarted child.
fn free_address() -> Result<IpAddr> {
    let mut dice = Dice::new(Dice::seed()?);
    for _ in 0..TRIES {
        let [a, b, c, ..] = dice.draw().to_be_bytes();
        let ip = IpAddr::V4(Ipv4Addr::new(127, a.clamp(1, 250), b, c.clamp(1, 250)));
        if TcpListener::bind((ip, INGEST)).is_ok() {
            return Ok(ip);
        }
    }
    bail!("no free loopback address in {TRIES} tries")
}
