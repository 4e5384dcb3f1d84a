//! A node says that it lives, and sees who else does.

use hookonce_core::time::{Micros, SECOND};

use super::conn::Conn;
use crate::sql::call::{Arg, Call, Row};
use crate::sql::postgres as sql;
use crate::store::{Pulse, StoreError};

/// Nobody has heard of a node for so long: it is taken for dead. Three beats.
pub const SILENCE: Micros = 15 * SECOND;

pub async fn beat(conn: &Conn, instance: i64, config: i64) -> Result<Pulse, StoreError> {
    let (own, silence) = ([Arg::Int(instance), Arg::Int(config)], [Arg::Int(SILENCE)]);
    let calls =
        [Call::new(sql::NODE_BEAT, &own), Call::new(sql::NODE_ALIVE, &silence), Call::new(sql::NODE_CONFIG, &[])];
    let mut answers = conn.run(&calls).await?.into_iter().skip(1);
    let (alive, in_force) = (answers.next().unwrap_or_default(), answers.next().unwrap_or_default());
    let config = in_force.first().map_or(Ok(config), |row| row.int(0))?;
    Ok(Pulse { config, deserted: deserted(&alive, instance, config)?, versions: versions(alive)? })
}

/// Whether no other node that lives runs that configuration.
pub fn deserted(alive: &[Row], instance: i64, config: i64) -> Result<bool, StoreError> {
    let mut others = alive.iter().map(|row| Ok((row.int(0)?, row.opt_int(1)?)));
    others.try_fold(true, |deserted, other: Result<_, StoreError>| {
        let (node, runs) = other?;
        Ok(deserted && (node == instance || runs != Some(config)))
    })
}

fn versions(alive: Vec<Row>) -> Result<Vec<String>, StoreError> {
    alive.into_iter().map(|mut row| row.text(2)).collect()
}
