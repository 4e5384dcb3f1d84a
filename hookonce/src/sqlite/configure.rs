//! The configuration in force: consumers get the ids of their names, new definitions a number and a pass row.

use hookonce_core::consumer::{Consumer, From, Standing};
use hookonce_core::route::{Pass, Routing};

use super::conn::Conn;
use super::open;
use super::route::{self, counter};
use super::work::Work;
use crate::sql::call::Arg;
use crate::sql::definition;
use crate::sql::sqlite as sql;
use crate::store::StoreError;

/// The setting that names the definitions in force: `id:number` of each consumer.
const IN_FORCE: &str = "config";

/// The same definitions again change nothing.
pub fn configure(work: &mut Work, consumers: &[Consumer]) -> Result<Routing, StoreError> {
    let last = route::last(&work.conn)?;
    let number = last.as_ref().map_or(0, |pass| pass.config) + 1;
    let mut named = Vec::with_capacity(consumers.len());
    for consumer in consumers {
        let (id, row) = put(work, consumer, number)?;
        named.push((Consumer { id, ..consumer.clone() }, row));
    }
    named.sort_by_key(|(consumer, _)| consumer.id);
    stand(&work.conn, &named)?;
    let in_force: Vec<String> = named.iter().map(|(consumer, row)| format!("{}:{row}", consumer.id)).collect();
    let in_force = in_force.join(",");
    let changed = last.is_none() || open::setting(&work.conn, IN_FORCE)?.as_deref() != Some(&in_force);
    if changed {
        open::put(&work.conn, IN_FORCE, &in_force)?;
        put_pass(work, last, number)?;
    }
    let consumers = named.into_iter().map(|(consumer, _)| consumer).collect();
    Ok(Routing { config: if changed { number } else { number - 1 }, consumers })
}

/// The id is the name's; a definition that differs from the newest one is a row more. Answers id and row in force.
fn put(work: &mut Work, consumer: &Consumer, number: i64) -> Result<(i64, i64), StoreError> {
    let text = definition::text(consumer);
    let found = work.conn.row(sql::CONFIGURE_FIND, &[Arg::Text(&consumer.name)])?;
    let known = found.map(|mut row| Ok::<_, StoreError>((row.int(0)?, row.int(1)?, row.text(2)?))).transpose()?;
    if let Some((id, row, definition)) = &known
        && *definition == text
    {
        return Ok((*id, *row));
    }
    let id = match known {
        Some((id, ..)) => {
            let args = [Arg::Int(id), Arg::Int(number), Arg::Text(&text)];
            work.conn.exec(sql::CONFIGURE_VERSION, &args)?;
            id
        }
        None => {
            let begins = begins(&work.inbox, consumer.from)?;
            let args = [Arg::Text(&consumer.name), Arg::Int(number), Arg::Int(begins), Arg::Text(&text)];
            work.conn.row(sql::CONFIGURE_NEW, &args)?.unwrap_or_default().int(0)?
        }
    };
    work.group.cursors.begin(work.conn.rows(sql::ROUTE_BEGINS, &[])?)?;
    Ok((id, number))
}

/// Who is not listed any more is handed nothing; who is back goes on as it was.
fn stand(conn: &Conn, named: &[(Consumer, i64)]) -> Result<(), StoreError> {
    for mut row in conn.rows(sql::READ_CONSUMERS, &[])? {
        let (id, before) = (row.int(0)?, Standing::parse(&row.text(2)?));
        let listed = named.iter().any(|(consumer, _)| consumer.id == id);
        let after = before.map(|standing| Standing { listed, ..standing });
        if let Some(after) = after.filter(|after| Some(*after) != before) {
            conn.exec(sql::COMMAND_STATE, &[Arg::Int(id), Arg::Text(after.name())])?;
        }
    }
    Ok(())
}

/// The position behind which a consumer that was not there before begins.
fn begins(inbox: &Conn, from: From) -> Result<i64, StoreError> {
    match from {
        From::Now => counter(inbox),
        From::Beginning => Ok(0),
        From::Time(at) => match inbox.row(sql::CONFIGURE_SINCE, &[Arg::Int(at)])?.unwrap_or_default().opt_int(0)? {
            Some(first) => Ok(first - 1),
            None => counter(inbox),
        },
    }
}

/// Same position, new configuration. It lists whom the last one listed: those stand where it stands.
fn put_pass(work: &mut Work, last: Option<Pass>, config: i64) -> Result<(), StoreError> {
    let first = Pass { n: 0, pos: 0, seq: 0, config, consumers: Vec::new(), own: None };
    let last = last.unwrap_or(first);
    let pass = Pass { n: last.n + 1, own: None, config, ..last };
    route::put_pass(&work.conn, &pass, work.identity.instance, work.group.now)?;
    work.group.cursors.moved(&pass);
    Ok(())
}
