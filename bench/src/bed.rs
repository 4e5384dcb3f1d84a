//! What all scenarios of a run share: the binary, the scale, a disk that is a disk, and the highest memory seen.

use std::cell::Cell;
use std::path::PathBuf;

use anyhow::Result;
use tempfile::TempDir;

use crate::child::Server;
use crate::load::{self, Load, Until};
use crate::measured::Measured;
use crate::scale::Scale;

#[derive(Debug)]
pub struct Bed {
    pub binary: PathBuf,
    pub scale: Scale,
    /// Stores are made here: the temporary folder of a system may be memory, where a flush costs nothing.
    pub stores: PathBuf,
    peak_mib: Cell<f64>,
}

impl Bed {
    pub fn new(binary: PathBuf, scale: Scale, stores: PathBuf) -> Bed {
        Bed { binary, scale, stores, peak_mib: Cell::new(0.0) }
    }

    pub fn folder(&self) -> Result<TempDir> {
        std::fs::create_dir_all(&self.stores)?;
        Ok(TempDir::new_in(&self.stores)?)
    }

    /// Before a server is stopped: the most memory that it ever had.
    pub fn keep_peak(&self, server: &Server) -> Result<()> {
        let [_, peak] = server.resident_mib()?;
        self.peak_mib.set(self.peak_mib.get().max(peak));
        Ok(())
    }

    pub fn peak_mib(&self) -> f64 {
        self.peak_mib.get()
    }

    /// As many acks as come, for as long as the scale says.
    pub async fn acks(&self, server: &Server, seed: u64) -> Result<Measured> {
        let until = Until::Seconds(self.scale.seconds);
        load::run(Load { address: server.ingest, until, rate: None, seed }).await?.whole()
    }

    /// Acks at a rate.
    pub async fn paced(&self, server: &Server, rate: f64, seed: u64) -> Result<Measured> {
        let until = Until::Seconds(self.scale.seconds);
        load::run(Load { address: server.ingest, until, rate: Some(rate), seed }).await?.whole()
    }
}
