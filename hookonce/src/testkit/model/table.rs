//! How a table is written down: one struct a row, one list of columns, one cell a value.
//!
//! The same description serves the model (typed rows), the dump (names and cells) and the beds that load rows into a
//! database or read them back.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// One value as a database holds it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cell {
    Null,
    Int(i64),
    Text(String),
    Blob(Vec<u8>),
}

/// Which of the two files a table stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum File {
    Inbox,
    Work,
}

/// A type that is one cell.
pub trait Column: Sized {
    fn cell(&self) -> Cell;
    fn read(cell: &Cell) -> Option<Self>;
}

impl Column for i64 {
    fn cell(&self) -> Cell {
        Cell::Int(*self)
    }
    fn read(cell: &Cell) -> Option<i64> {
        match cell {
            Cell::Int(n) => Some(*n),
            _ => None,
        }
    }
}

impl Column for bool {
    fn cell(&self) -> Cell {
        Cell::Int(i64::from(*self))
    }
    fn read(cell: &Cell) -> Option<bool> {
        i64::read(cell).map(|n| n != 0)
    }
}

impl Column for String {
    fn cell(&self) -> Cell {
        Cell::Text(self.clone())
    }
    fn read(cell: &Cell) -> Option<String> {
        match cell {
            Cell::Text(t) => Some(t.clone()),
            _ => None,
        }
    }
}

impl Column for Vec<u8> {
    fn cell(&self) -> Cell {
        Cell::Blob(self.clone())
    }
    fn read(cell: &Cell) -> Option<Vec<u8>> {
        match cell {
            Cell::Blob(b) => Some(b.clone()),
            _ => None,
        }
    }
}

impl<const N: usize> Column for [u8; N] {
    fn cell(&self) -> Cell {
        Cell::Blob(self.to_vec())
    }
    fn read(cell: &Cell) -> Option<[u8; N]> {
        match cell {
            Cell::Blob(b) => b.as_slice().try_into().ok(),
            _ => None,
        }
    }
}

impl<T: Column> Column for Option<T> {
    fn cell(&self) -> Cell {
        self.as_ref().map_or(Cell::Null, T::cell)
    }
    fn read(cell: &Cell) -> Option<Option<T>> {
        match cell {
            Cell::Null => Some(None),
            cell => T::read(cell).map(Some),
        }
    }
}

/// A row of a table: its name, its columns in the order of the migration, its key.
pub trait Row: Clone + Eq + Hash + std::fmt::Debug + Sized {
    const NAME: &'static str;
    const FILE: File;
    const COLUMNS: &'static [&'static str];
    type Key: Ord + Clone + Hash + Eq + std::fmt::Debug;
    fn key(&self) -> Self::Key;
    fn cells(&self) -> Vec<Cell>;
    fn read(cells: &[Cell]) -> Option<Self>;
}

/// An ordered table. Copies share their rows until one of them writes: an explorer holds very many worlds that differ
/// in a row or two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table<R: Row>(Arc<BTreeMap<R::Key, R>>);

impl<R: Row> Default for Table<R> {
    fn default() -> Self {
        Table(Arc::default())
    }
}

impl<R: Row> Hash for Table<R> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl<R: Row> Deref for Table<R> {
    type Target = BTreeMap<R::Key, R>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<R: Row> DerefMut for Table<R> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        Arc::make_mut(&mut self.0)
    }
}

impl<R: Row> Table<R> {
    /// Inserts unless the key is taken; answers whether it did.
    pub fn insert_new(&mut self, row: R) -> bool {
        if self.contains_key(&row.key()) {
            return false;
        }
        self.put(row);
        true
    }

    /// Inserts or replaces.
    pub fn put(&mut self, row: R) {
        self.deref_mut().insert(row.key(), row);
    }
}

/// Describes a table once. The type of the key and how it is made of the row follow the name.
macro_rules! table {
    ($(#[$meta:meta])* $row:ident = $name:literal in $file:ident by $key:ty = |$r:ident| $make:expr;
     $($field:ident $($column:literal)? : $type:ty),+ $(,)?) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub struct $row { $(pub $field: $type),+ }

        impl $crate::testkit::model::table::Row for $row {
            const NAME: &'static str = $name;
            const FILE: $crate::testkit::model::table::File = $crate::testkit::model::table::File::$file;
            const COLUMNS: &'static [&'static str] = &[$(table!(@name $field $($column)?)),+];
            type Key = $key;
            fn key(&self) -> $key {
                let $r = self;
                $make
            }
            fn cells(&self) -> Vec<$crate::testkit::model::table::Cell> {
                vec![$($crate::testkit::model::table::Column::cell(&self.$field)),+]
            }
            fn read(cells: &[$crate::testkit::model::table::Cell]) -> Option<Self> {
                let mut cells = cells.iter();
                Some($row { $($field: $crate::testkit::model::table::Column::read(cells.next()?)?),+ })
            }
        }
    };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $column:literal) => { $column };
}
pub(crate) use table;
