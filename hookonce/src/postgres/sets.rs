//! A flight of statements that work on sets: each call owns its columns, and one without rows is not sent.

use super::conn::Conn;
use crate::sql::call::{Arg, Call, Row, Stmt};
use crate::store::StoreError;

/// One parameter of a set-based statement: a column, or a value that is the same for all rows.
#[derive(Clone, Debug)]
pub enum Column<'a> {
    Ints(Vec<i64>),
    OptInts(Vec<Option<i64>>),
    Bools(Vec<bool>),
    Texts(Vec<&'a str>),
    OptTexts(Vec<Option<&'a str>>),
    Blobs(Vec<&'a [u8]>),
    All(Arg<'a>),
}

impl<'a> Column<'a> {
    pub fn ints<T>(rows: &[T], of: impl Fn(&T) -> i64) -> Column<'a> {
        Column::Ints(rows.iter().map(of).collect())
    }

    pub fn opt_ints<T>(rows: &[T], of: impl Fn(&T) -> Option<i64>) -> Column<'a> {
        Column::OptInts(rows.iter().map(of).collect())
    }

    fn is_empty(&self) -> bool {
        match self {
            Column::Ints(column) => column.is_empty(),
            Column::OptInts(column) => column.is_empty(),
            Column::Bools(column) => column.is_empty(),
            Column::Texts(column) => column.is_empty(),
            Column::OptTexts(column) => column.is_empty(),
            Column::Blobs(column) => column.is_empty(),
            Column::All(_) => false,
        }
    }

    fn arg(&self) -> Arg<'_> {
        match self {
            Column::Ints(column) => Arg::Ints(column),
            Column::OptInts(column) => Arg::OptInts(column),
            Column::Bools(column) => Arg::Bools(column),
            Column::Texts(column) => Arg::Texts(column),
            Column::OptTexts(column) => Arg::OptTexts(column),
            Column::Blobs(column) => Arg::Blobs(column),
            Column::All(arg) => *arg,
        }
    }
}

#[derive(Debug, Default)]
pub struct Sets<'a>(Vec<(&'static Stmt, Vec<Column<'a>>)>);

impl<'a> Sets<'a> {
    /// The next statement, unless there are no rows for it.
    pub fn add(&mut self, stmt: &'static Stmt, columns: impl Into<Vec<Column<'a>>>) {
        let columns = columns.into();
        if !columns.first().is_some_and(Column::is_empty) {
            self.0.push((stmt, columns));
        }
    }

    /// Sends all in one flight and gives the answers of those that were sent.
    pub async fn run(&self, conn: &Conn) -> Result<Answers, StoreError> {
        let args: Vec<Vec<Arg<'_>>> =
            self.0.iter().map(|(_, columns)| columns.iter().map(Column::arg).collect()).collect();
        let calls: Vec<Call<'_>> = self.0.iter().zip(&args).map(|((stmt, _), args)| Call::new(stmt, args)).collect();
        let answers = conn.run(&calls).await?;
        Ok(Answers(self.0.iter().map(|(stmt, _)| *stmt).zip(answers).collect()))
    }
}

#[derive(Debug)]
pub struct Answers(Vec<(&'static Stmt, Vec<Row>)>);

impl Answers {
    /// The rows of one statement; none if it was not sent.
    pub fn take(&mut self, stmt: &'static Stmt) -> Vec<Row> {
        let answer = self.0.iter_mut().find(|(of, _)| *of == stmt);
        answer.map(|(_, rows)| std::mem::take(rows)).unwrap_or_default()
    }

    /// The first column of a statement's rows.
    pub fn firsts(&mut self, stmt: &'static Stmt) -> Result<Vec<i64>, StoreError> {
        self.take(stmt).iter().map(|row| row.int(0)).collect()
    }
}
