//! Configurations that were in force once, by the hash of their definitions: a node that brings one back must not undo what
//! another one runs by now. One that nobody has seen before is somebody's will, and is in force at once.

use hookonce_core::consumer::Consumer;
use hookonce_core::frame;

use super::beat;
use super::conn::Conn;
use super::open::setting;
use crate::sql::call::{Arg, Call};
use crate::sql::definition;
use crate::sql::postgres as sql;
use crate::store::StoreError;

/// The setting that holds them, a line each, oldest first.
const CONFIGS: &str = "configs";
/// So many are remembered.
const MOST: usize = 64;

pub struct Configs(Vec<(String, i64)>);

/// The same for the same definitions, in whatever order they stand in a file.
pub fn hash(consumers: &[Consumer]) -> String {
    let mut texts: Vec<String> = consumers.iter().map(definition::text).collect();
    texts.sort_unstable();
    frame::sha256(texts.join("\n").as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Configs {
    pub async fn read(conn: &Conn) -> Result<Configs, StoreError> {
        let text = setting(conn, CONFIGS).await?.unwrap_or_default();
        let line = |line: &str| line.split_once(' ').and_then(|(hash, n)| Some((hash.to_owned(), n.parse().ok()?)));
        Ok(Configs(text.lines().filter_map(line).collect()))
    }

    /// The number that it had last.
    pub fn number(&self, hash: &str) -> Option<i64> {
        self.0.iter().rev().find(|(known, _)| known == hash).map(|(_, number)| *number)
    }

    /// It is in force under that number.
    pub async fn put(mut self, conn: &Conn, hash: String, number: i64) -> Result<(), StoreError> {
        if self.number(&hash) == Some(number) {
            return Ok(());
        }
        self.0.retain(|(known, _)| *known != hash);
        self.0.push((hash, number));
        let from = self.0.len().saturating_sub(MOST);
        let text: Vec<String> = self.0[from..].iter().map(|(hash, number)| format!("{hash} {number}")).collect();
        conn.exec(sql::SETTING_PUT, &[Arg::Text(CONFIGS), Arg::Blob(text.join("\n").as_bytes())]).await.map(drop)
    }
}

/// This node runs that one from now on; it has to be known before its first heartbeat.
pub async fn runs(conn: &Conn, node: i64, number: i64) -> Result<(), StoreError> {
    conn.exec(sql::NODE_BEAT, &[Arg::Int(node), Arg::Int(number)]).await.map(drop)
}

/// Whether no other node that lives runs that one.
pub async fn deserted(conn: &Conn, node: i64, number: i64) -> Result<bool, StoreError> {
    let silence = [Arg::Int(beat::SILENCE)];
    let alive = conn.run(&[Call::new(sql::NODE_ALIVE, &silence)]).await?.pop().unwrap_or_default();
    beat::deserted(&alive, node, number)
}
