//! The configuration in force: consumers get the ids of their names, new definitions a number and a pass row. Nodes that
//! configure at the same moment, and a router that passes meanwhile, collide on a key; whoever is second begins again.
//! What was in force before and comes back waits until nobody runs the current one ([`configs`]).

use hookonce_core::consumer::{Consumer, From, Standing};
use hookonce_core::route::Routing;

use super::configs::{self, Configs};
use super::conn::{Conn, Pool};
use super::open::setting;
use crate::sql::call::Arg;
use crate::sql::definition;
use crate::sql::postgres as sql;
use crate::store::StoreError;

/// The setting that names the definitions in force: `id:number` of each consumer.
const IN_FORCE: &str = "config";

/// The last pass, and what the next one goes on from.
struct Last {
    n: i64,
    pos: i64,
    seq: i64,
    consumers: String,
    config: i64,
}

/// The same definitions again change nothing.
pub async fn configure(pool: &Pool, node: i64, consumers: &[Consumer]) -> Result<Routing, StoreError> {
    pool.tx(|conn| within(conn, node, consumers)).await
}

async fn within(conn: Conn, node: i64, consumers: &[Consumer]) -> Result<Routing, StoreError> {
    let last = last(&conn).await?;
    let (hash, known) = (configs::hash(consumers), Configs::read(&conn).await?);
    let before = last.as_ref().zip(known.number(&hash)).filter(|(last, number)| last.config != *number);
    if let Some((last, number)) = before
        && !configs::deserted(&conn, node, last.config).await?
    {
        configs::runs(&conn, node, number).await?;
        return earlier(&conn, consumers, number).await;
    }
    let number = last.as_ref().map_or(0, |last| last.config) + 1;
    let mut named = Vec::with_capacity(consumers.len());
    for consumer in consumers {
        let (id, row) = put(&conn, consumer, number).await?;
        named.push((Consumer { id, ..consumer.clone() }, row));
    }
    named.sort_by_key(|(consumer, _)| consumer.id);
    stand(&conn, &named).await?;
    let in_force: Vec<String> = named.iter().map(|(consumer, row)| format!("{}:{row}", consumer.id)).collect();
    let in_force = in_force.join(",");
    let changed = last.is_none() || setting(&conn, IN_FORCE).await?.as_deref() != Some(&in_force);
    if changed {
        conn.exec(sql::SETTING_PUT, &[Arg::Text(IN_FORCE), Arg::Blob(in_force.as_bytes())]).await?;
        put_pass(&conn, last, number, node).await?;
    }
    let config = if changed { number } else { number - 1 };
    known.put(&conn, hash, config).await?;
    configs::runs(&conn, node, config).await?;
    let consumers = named.into_iter().map(|(consumer, _)| consumer).collect();
    Ok(Routing { config, consumers })
}

/// As it was: it does not route, and asks again with its heartbeats.
async fn earlier(conn: &Conn, consumers: &[Consumer], number: i64) -> Result<Routing, StoreError> {
    let mut named = Vec::with_capacity(consumers.len());
    for consumer in consumers {
        if let Some(row) = conn.row(sql::CONFIGURE_FIND, &[Arg::Text(&consumer.name)]).await? {
            named.push(Consumer { id: row.int(0)?, ..consumer.clone() });
        }
    }
    named.sort_by_key(|consumer| consumer.id);
    Ok(Routing { config: number, consumers: named })
}

async fn last(conn: &Conn) -> Result<Option<Last>, StoreError> {
    let Some(mut row) = conn.row(sql::CONFIGURE_LAST, &[]).await? else { return Ok(None) };
    let (pos, consumers) = (row.opt_int(1)?.unwrap_or(0), row.opt_text(3)?.unwrap_or_default());
    Ok(Some(Last { n: row.int(0)?, pos, seq: row.int(2)?, consumers, config: row.int(4)? }))
}

/// The id is the name's; a definition that differs from the newest one is a row more. Answers id and row in force.
async fn put(conn: &Conn, consumer: &Consumer, number: i64) -> Result<(i64, i64), StoreError> {
    let text = definition::text(consumer);
    let found = conn.row(sql::CONFIGURE_FIND, &[Arg::Text(&consumer.name)]).await?;
    let known = found.map(|mut row| Ok::<_, StoreError>((row.int(0)?, row.int(1)?, row.text(2)?))).transpose()?;
    let made = match known {
        Some((id, row, definition)) if definition == text => return Ok((id, row)),
        Some((id, ..)) => {
            let args = [Arg::Int(id), Arg::Int(number), Arg::Text(&text)];
            conn.row(sql::CONFIGURE_VERSION, &args).await?
        }
        None => {
            let begins = begins(conn, consumer.from).await?;
            let args = [Arg::Text(&consumer.name), Arg::Int(number), Arg::Int(begins), Arg::Text(&text)];
            conn.row(sql::CONFIGURE_NEW, &args).await?
        }
    };
    let made = made.ok_or_else(|| conn.conflict("another node is configuring"))?;
    Ok((made.int(0)?, number))
}

/// Who is not listed any more is handed nothing; who is back goes on as it was.
async fn stand(conn: &Conn, named: &[(Consumer, i64)]) -> Result<(), StoreError> {
    for mut row in conn.rows(sql::CONFIGURE_STANDINGS, &[]).await? {
        let (id, before) = (row.int(0)?, Standing::parse(&row.text(1)?));
        let listed = named.iter().any(|(consumer, _)| consumer.id == id);
        let after = before.map(|standing| Standing { listed, ..standing });
        if let Some(after) = after.filter(|after| Some(*after) != before) {
            conn.exec(sql::CONFIGURE_STAND, &[Arg::Int(id), Arg::Text(after.name())]).await?;
        }
    }
    Ok(())
}

/// The position behind which a consumer that was not there before begins. What has arrived and has none yet gets the next
/// ones in its order.
async fn begins(conn: &Conn, from: From) -> Result<i64, StoreError> {
    let since = match from {
        From::Beginning => return Ok(0),
        From::Now => Arg::Null,
        From::Time(at) => Arg::Int(at),
    };
    conn.row(sql::CONFIGURE_SINCE, &[since]).await?.unwrap_or_default().int(0)
}

/// Same position, new configuration. It lists whom the last one listed: those stand where it stands.
async fn put_pass(conn: &Conn, last: Option<Last>, config: i64, node: i64) -> Result<(), StoreError> {
    let last = last.unwrap_or(Last { n: 0, pos: 0, seq: 0, consumers: String::new(), config: 0 });
    let args = [
        Arg::Int(last.n + 1),
        Arg::Int(last.pos),
        Arg::Int(last.seq),
        Arg::Text(&last.consumers),
        Arg::Int(config),
        Arg::Int(node),
    ];
    match conn.exec(sql::CONFIGURE_PASS, &args).await? {
        0 => Err(conn.conflict("a router passed meanwhile")),
        _ => Ok(()),
    }
}
