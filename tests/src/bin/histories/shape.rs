//! How lists lie in tables: which parts of the server a history goes through.

use crate::history::{Element, Key};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A row by its primary key.
    Plain,
    /// A row by a secondary index whose entries change with each append.
    Index,
    /// A row refers to one of another table, and moves from one to the other.
    ForeignKey,
    /// A trigger appends to the list when a row is inserted into another table.
    Trigger,
    /// A register: it is read with a lock, then written by its value.
    Register,
}

impl Shape {
    pub const ALL: [Self; 5] = [Self::Plain, Self::Index, Self::ForeignKey, Self::Trigger, Self::Register];

    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "lists",
            Self::Index => "lists by a secondary index",
            Self::ForeignKey => "lists with a foreign key",
            Self::Trigger => "lists by a trigger",
            Self::Register => "registers",
        }
    }

    pub fn tables(self) -> Vec<&'static str> {
        match self {
            Self::Plain | Self::Register => vec!["CREATE TABLE lists (id BIGINT PRIMARY KEY, v TEXT NOT NULL)"],
            Self::Index => vec![
                "CREATE TABLE lists (id BIGINT PRIMARY KEY, other BIGINT NOT NULL, v TEXT NOT NULL, n INT NOT NULL DEFAULT 1, \
                 UNIQUE KEY (other), KEY (n, other))",
            ],
            Self::ForeignKey => vec![
                "CREATE TABLE parents (id BIGINT PRIMARY KEY)",
                "INSERT INTO parents VALUES (0), (1), (2), (3), (4), (5)",
                "CREATE TABLE lists (id BIGINT PRIMARY KEY, v TEXT NOT NULL, parent BIGINT NOT NULL, \
                 FOREIGN KEY (parent) REFERENCES parents (id))",
            ],
            Self::Trigger => vec![
                "CREATE TABLE lists (id BIGINT PRIMARY KEY, v TEXT NOT NULL)",
                "CREATE TABLE appends (element BIGINT PRIMARY KEY, id BIGINT NOT NULL)",
                "CREATE TRIGGER appended AFTER INSERT ON appends FOR EACH ROW INSERT INTO lists VALUES (NEW.id, CONCAT(',', NEW.element)) \
                 ON DUPLICATE KEY UPDATE v = CONCAT(v, ',', NEW.element)",
            ],
        }
    }

    /// Does an append read the list under a lock first?
    pub fn reads_before_it_writes(self) -> bool {
        self == Self::Register
    }

    /// The statements of an append.
    pub fn append(self, key: Key, element: Element, parent: u64) -> Vec<String> {
        let update = format!("ON DUPLICATE KEY UPDATE v = CONCAT(v, ',{element}')");
        match self {
            Self::Plain => vec![format!("INSERT INTO lists VALUES ({key}, ',{element}') {update}")],
            Self::Index => {
                vec![format!("INSERT INTO lists (id, other, v) VALUES ({key}, -{key}, ',{element}') {update}, n = n + 1")]
            }
            Self::ForeignKey => {
                vec![format!("INSERT INTO lists VALUES ({key}, ',{element}', {parent}) {update}, parent = {parent}")]
            }
            Self::Trigger => vec![format!("INSERT INTO appends VALUES ({element}, {key})")],
            // The session keeps what it read; the value that is written is made of it.
            Self::Register => vec![
                format!("SET @old = (SELECT v FROM lists WHERE id = {key} FOR UPDATE)"),
                format!("REPLACE INTO lists VALUES ({key}, CONCAT(COALESCE(@old, ''), ',{element}'))"),
            ],
        }
    }

    /// Reads lists as rows of key and text.
    pub fn read(self, keys: &[Key], lock: Option<&str>) -> String {
        let sign = if self == Self::Index { "-" } else { "" };
        let list: Vec<String> = keys.iter().map(|key| format!("{sign}{key}")).collect();
        let column = if self == Self::Index { "other" } else { "id" };
        format!("SELECT id, v FROM lists WHERE {column} IN ({}) {}", list.join(", "), lock.unwrap_or_default())
    }

    /// What must be true when nobody works, as a count that is 0.
    pub fn agreement(self) -> Option<&'static str> {
        match self {
            Self::Index => {
                Some("SELECT COUNT(*) FROM lists WHERE other != -id OR n != CHAR_LENGTH(v) - CHAR_LENGTH(REPLACE(v, ',', ''))")
            }
            Self::ForeignKey => Some("SELECT COUNT(*) FROM lists l LEFT JOIN parents p ON p.id = l.parent WHERE p.id IS NULL"),
            Self::Trigger => Some(
                "SELECT COUNT(*) FROM appends a LEFT JOIN lists l ON l.id = a.id WHERE NOT COALESCE(FIND_IN_SET(a.element, l.v), 0)",
            ),
            Self::Plain | Self::Register => None,
        }
    }
}
