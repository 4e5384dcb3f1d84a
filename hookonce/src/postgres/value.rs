//! Values on their way into and out of PostgreSQL's types, and the remedy for each of its errors.

use std::borrow::Cow;
use std::error::Error;

use bytes::BytesMut;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use crate::sql::call::{Arg, Row, Value};
use crate::store::StoreError;

type Foreign = Box<dyn Error + Sync + Send>;

impl ToSql for Arg<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Foreign> {
        match self {
            Arg::Null => Ok(IsNull::Yes),
            Arg::Int(n) if *ty == Type::INT4 => put(&i32::try_from(*n)?, ty, out),
            Arg::Int(n) if *ty == Type::BOOL => put(&(*n != 0), ty, out),
            Arg::Int(n) => put(n, ty, out),
            Arg::Text(text) => put(&written(text), ty, out),
            Arg::Blob(bytes) => put(bytes, ty, out),
            Arg::Ints(column) => put(column, ty, out),
            Arg::OptInts(column) => put(column, ty, out),
            Arg::Bools(column) => put(column, ty, out),
            Arg::Texts(column) if column.iter().any(|text| is_special(text)) => {
                put(&column.iter().map(|text| written(text)).collect::<Vec<_>>(), ty, out)
            }
            Arg::Texts(column) => put(column, ty, out),
            Arg::OptTexts(column) if column.iter().flatten().any(|text| is_special(text)) => {
                put(&column.iter().map(|text| text.map(written)).collect::<Vec<_>>(), ty, out)
            }
            Arg::OptTexts(column) => put(column, ty, out),
            Arg::Blobs(column) => put(column, ty, out),
            Arg::OptBlobs(column) => put(column, ty, out),
            Arg::Bytes(column) => put(column, ty, out),
        }
    }

    /// [`fit`] has asked each value by itself.
    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

fn put<T: ToSql>(value: &T, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Foreign> {
    value.to_sql(ty, out)
}

/// Asked before anything of a flight is sent: the commit behind a call that could not be written would stand alone.
pub fn fit(args: &[Arg<'_>], types: &[Type]) -> Result<(), StoreError> {
    let fits = args.len() == types.len() && args.iter().zip(types).all(|(arg, ty)| is_of(arg, ty));
    if fits { Ok(()) } else { Err(StoreError::Failed(format!("a statement that takes {types:?} was given others"))) }
}

fn is_of(arg: &Arg<'_>, ty: &Type) -> bool {
    match arg {
        Arg::Null => true,
        Arg::Int(n) => [Type::INT8, Type::BOOL].contains(ty) || *ty == Type::INT4 && i32::try_from(*n).is_ok(),
        Arg::Text(_) => <&str>::accepts(ty),
        Arg::Blob(_) => <&[u8]>::accepts(ty),
        Arg::Ints(_) | Arg::OptInts(_) => *ty == Type::INT8_ARRAY,
        Arg::Bools(_) => *ty == Type::BOOL_ARRAY,
        Arg::Texts(_) | Arg::OptTexts(_) => *ty == Type::TEXT_ARRAY,
        Arg::Blobs(_) | Arg::OptBlobs(_) | Arg::Bytes(_) => *ty == Type::BYTEA_ARRAY,
    }
}

/// PostgreSQL's text holds no NUL, and what a provider sends may: it is written behind this character of nobody's, as is
/// the character itself.
const ESCAPE: char = '\u{e000}';

fn is_special(text: &str) -> bool {
    text.contains(['\0', ESCAPE])
}

fn written(text: &str) -> Cow<'_, str> {
    if !is_special(text) {
        return text.into();
    }
    text.replace(ESCAPE, "\u{e000}1").replace('\0', "\u{e000}0").into()
}

fn read(text: String) -> String {
    if !text.contains(ESCAPE) {
        return text;
    }
    text.replace("\u{e000}0", "\0").replace("\u{e000}1", "\u{e000}")
}

pub fn row(row: &tokio_postgres::Row) -> Result<Row, StoreError> {
    let columns = row.columns().iter().enumerate();
    let values = columns.map(|(at, column)| value(row, at, column.type_()).map_err(|error| remedy(&error)));
    values.collect::<Result<_, _>>().map(Row)
}

/// Types that no statement of ours gives are shown as null, and whoever reads the column says so.
fn value(row: &tokio_postgres::Row, at: usize, ty: &Type) -> Result<Value, tokio_postgres::Error> {
    Ok(match *ty {
        Type::INT8 => row.try_get::<_, Option<i64>>(at)?.map(Value::Int),
        Type::INT4 => row.try_get::<_, Option<i32>>(at)?.map(|n| Value::Int(n.into())),
        Type::BOOL => row.try_get::<_, Option<bool>>(at)?.map(|b| Value::Int(b.into())),
        Type::TEXT | Type::VARCHAR | Type::NAME => row.try_get::<_, Option<String>>(at)?.map(read).map(Value::Text),
        Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(at)?.map(Value::Blob),
        _ => None,
    }
    .unwrap_or_default())
}

/// What a driver's error asks for, by SQLSTATE and never by its text.
pub fn remedy(error: &tokio_postgres::Error) -> StoreError {
    let text = said(error);
    match error.code().map(SqlState::code) {
        Some(code) => by_state(code, text),
        None if error.is_closed() || is_io(error) => StoreError::Busy(text),
        None => StoreError::Failed(text),
    }
}

/// A lost connection, a lock that was not had, a server that has no room or is on its way down: to be waited out. What a
/// value brings about is that value's. All that is left says that the schema or our SQL is not what it should be, and
/// then no 2xx may leave any more.
fn by_state(code: &str, text: String) -> StoreError {
    match code.get(..2).unwrap_or_default() {
        // A plan that another version's migration made stale; the connection is not used again.
        "0A" | "26" => StoreError::Busy(text),
        "08" | "25" | "28" | "3D" | "40" | "53" | "55" | "57" | "58" => StoreError::Busy(text),
        "21" | "22" | "23" | "54" => StoreError::Refused(text),
        _ => StoreError::Failed(text),
    }
}

pub fn said(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(db) => format!("{} ({})", db.message(), db.code().code()),
        None => error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}")),
    }
}

pub fn is_io(error: &tokio_postgres::Error) -> bool {
    error.source().is_some_and(|source| source.is::<std::io::Error>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back() {
        for text in ["", "plain", "\0", "a\0b", "\u{e000}", "\u{e000}0", "\u{e000}1\0", "\0\u{e000}\u{e000}1"] {
            assert!(!written(text).contains('\0'), "{text:?}");
            assert_eq!(read(written(text).into_owned()), text);
        }
    }

    #[test]
    fn remedies_by_state() {
        let of = |code| by_state(code, String::new());
        for code in ["08006", "40001", "40P01", "53100", "53300", "55P03", "57014", "57P01", "25006", "58030"] {
            assert_eq!(of(code), StoreError::Busy(String::new()), "{code}");
        }
        for code in ["22021", "23505", "54000", "21000"] {
            assert_eq!(of(code), StoreError::Refused(String::new()), "{code}");
        }
        for code in ["42P01", "XX001", "42703", ""] {
            assert_eq!(of(code), StoreError::Failed(String::new()), "{code}");
        }
    }
}
