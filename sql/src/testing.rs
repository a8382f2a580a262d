//! A schema and a session for the tests of this crate.

use crate::plan::{BindContext, Plan};
use crate::{Arena, Result};
use std::sync::Arc;
use types::schema::{ColumnDef, DatabaseDef, IndexColumn, IndexDef, IndexKind, Schema, TableDef, TableId};
use types::{CollationId, ColumnType, SqlMode, TypeKind, Value};

pub(crate) struct Fixture {
    schema: Schema,
    mode: SqlMode,
}

impl Fixture {
    /// Database `test` with
    /// - `t(id INT PRIMARY KEY AUTO_INCREMENT, k INT, a INT NULL, b VARCHAR(20) NULL, c CHAR(120), KEY k (k), KEY ab (a, b))`
    /// - `u(id BIGINT UNSIGNED PRIMARY KEY, t_id INT, d DATE NULL, price DECIMAL(10,2), name VARCHAR(30) UNIQUE, KEY t_id (t_id))`
    /// - `e(x INT, y INT, kind ENUM('red', 'green'), note TEXT, at DATETIME)`, without keys
    /// - `w`, with a column of every type
    /// - `p(a INT, b INT, v INT, PRIMARY KEY (a, b), KEY v (v))`
    pub fn new() -> Self {
        let t = TableMaker::new(1, "t")
            .column("id", TypeKind::Int, false)
            .column("k", TypeKind::Int, false)
            .column("a", TypeKind::Int, true)
            .column("b", TypeKind::VarChar { length: 20 }, true)
            .column("c", TypeKind::Char { length: 120 }, false)
            .index("PRIMARY", IndexKind::Primary, &["id"])
            .index("k", IndexKind::Secondary, &["k"])
            .index("ab", IndexKind::Secondary, &["a", "b"]);
        let mut u = TableMaker::new(2, "u")
            .column("id", TypeKind::BigInt, false)
            .column("t_id", TypeKind::Int, false)
            .column("d", TypeKind::Date, true)
            .column("price", TypeKind::Decimal { precision: 10, scale: 2 }, false)
            .column("name", TypeKind::VarChar { length: 30 }, false)
            .index("PRIMARY", IndexKind::Primary, &["id"])
            .index("name", IndexKind::Unique, &["name"])
            .index("t_id", IndexKind::Secondary, &["t_id"]);
        u.def.columns[0].ty.unsigned = true;
        let members: Arc<[String]> = ["red".to_owned(), "green".to_owned()].into();
        let e = TableMaker::new(3, "e")
            .column("x", TypeKind::Int, false)
            .column("y", TypeKind::Int, true)
            .column("kind", TypeKind::Enum { members }, false)
            .column("note", TypeKind::Text(types::LobSize::Regular), true)
            .column("at", TypeKind::DateTime { fsp: 0 }, false)
            .index("GEN_CLUST_INDEX", IndexKind::HiddenRowId, &[]);
        let p = TableMaker::new(4, "p")
            .column("a", TypeKind::Int, false)
            .column("b", TypeKind::Int, false)
            .column("v", TypeKind::Int, false)
            .index("PRIMARY", IndexKind::Primary, &["a", "b"])
            .index("v", IndexKind::Secondary, &["v"]);
        let (unsigned, binary) = (ColumnType::unsigned, CollationId::UTF8MB4_BIN);
        let set: Arc<[String]> = ["a".to_owned(), "bc".to_owned()].into();
        let w = TableMaker::new(5, "w")
            .column("ti", TypeKind::TinyInt, false)
            .typed("tu", unsigned(TypeKind::TinyInt))
            .column("si", TypeKind::SmallInt, false)
            .column("mi", TypeKind::MediumInt, false)
            .typed("iu", unsigned(TypeKind::Int))
            .column("bi", TypeKind::BigInt, false)
            .typed("bu", unsigned(TypeKind::BigInt))
            .column("f", TypeKind::Float, false)
            .column("db", TypeKind::Double, false)
            .column("de", TypeKind::Decimal { precision: 20, scale: 6 }, false)
            .typed("ye", unsigned(TypeKind::Year))
            .column("ti6", TypeKind::Time { fsp: 6 }, false)
            .column("tm", TypeKind::Time { fsp: 0 }, false)
            .column("dt3", TypeKind::DateTime { fsp: 3 }, false)
            .column("ts", TypeKind::Timestamp { fsp: 0 }, false)
            .column("da", TypeKind::Date, false)
            .column("bn", TypeKind::VarBinary { length: 10 }, false)
            .column("bl", TypeKind::Blob(types::LobSize::Regular), false)
            .column("tx", TypeKind::Text(types::LobSize::Regular), false)
            .column("js", TypeKind::Json, true)
            .typed("bt", unsigned(TypeKind::Bit { length: 12 }))
            .column("st", TypeKind::Set { members: set }, false)
            .typed("cb", ColumnType { collation: binary, ..ColumnType::new(TypeKind::Char { length: 5 }) })
            .index("GEN_CLUST_INDEX", IndexKind::HiddenRowId, &[]);
        let tables = [t, u, e, p, w].map(|t| (t.def.name.clone(), Arc::new(t.def)));
        let test = DatabaseDef {
            name: "test".to_owned(),
            collation: CollationId::UTF8MB4_0900_AI_CI,
            tables: tables.into_iter().collect(),
            routines: Default::default(),
            events: Default::default(),
        };
        let other = DatabaseDef { name: "other".to_owned(), ..test.clone() };
        let databases = [test, other].map(|d| (d.name.clone(), Arc::new(d)));
        Self { schema: Schema { version: 1, databases: databases.into_iter().collect() }, mode: types::SqlMode::DEFAULT }
    }

    pub fn plan(&self, text: &str) -> Result<Plan> {
        let arena = Arena::new();
        let parsed = crate::parse(&arena, text.as_bytes(), &self.mode)?;
        crate::plan(&parsed, self)
    }

    /// Adds a view to `test`. If it is updatable, it gets WITH CASCADED CHECK OPTION.
    pub fn add_view(&mut self, name: &str, new: &crate::NewView) {
        use types::schema::{CheckOption, ViewDef};
        let mut maker = TableMaker::new(99, name);
        for column in &new.columns {
            maker = maker.typed(&column.name, column.ty.clone());
        }
        maker.def.view = Some(Box::new(ViewDef {
            text: new.text.clone(),
            names_columns: false,
            algorithm: new.algorithm,
            check: if new.updatable { CheckOption::Cascaded } else { CheckOption::None },
            invoker: false,
            definer_user: "root".to_owned(),
            definer_host: "localhost".to_owned(),
            updatable: new.updatable,
            client_charset: "utf8mb4".to_owned(),
            collation: CollationId::UTF8MB4_0900_AI_CI,
            tables: new.tables.clone(),
        }));
        let test = self.schema.databases.get_mut("test").expect("it is there");
        Arc::make_mut(test).tables.insert(name.to_owned(), Arc::new(maker.def));
    }

    /// The plan as text, or the error.
    pub fn explain(&self, text: &str) -> String {
        match self.plan(text) {
            Ok(plan) => crate::explain_tree(&plan),
            Err(error) => format!("error: {error}"),
        }
    }
}

impl BindContext for Fixture {
    fn database(&self) -> Option<&str> {
        Some("test")
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn system_variable(&self, _global: bool, name: &str) -> Option<(Value<'static>, ColumnType)> {
        let version = Value::Bytes(b"8.4.0".as_slice().into());
        match name {
            "version" => Some((version, ColumnType::new(TypeKind::VarChar { length: 5 }))),
            "max_connections" => Some((Value::Int(151), ColumnType::unsigned(TypeKind::BigInt))),
            _ => None,
        }
    }

    fn row_count(&self, table: &TableDef) -> u64 {
        if table.name == "e" { 100 } else { 10_000 }
    }

    fn sql_mode(&self) -> SqlMode {
        self.mode
    }

    fn connection_collation(&self) -> CollationId {
        CollationId::UTF8MB4_0900_AI_CI
    }
}

struct TableMaker {
    def: TableDef,
}

impl TableMaker {
    fn new(id: u64, name: &str) -> Self {
        Self { def: TableDef::new(TableId(id), "test", name, Vec::new()) }
    }

    fn column(self, name: &str, kind: TypeKind, nullable: bool) -> Self {
        self.add(name, ColumnType::new(kind), nullable)
    }

    fn typed(self, name: &str, ty: ColumnType) -> Self {
        self.add(name, ty, false)
    }

    fn add(mut self, name: &str, ty: ColumnType, nullable: bool) -> Self {
        let auto_increment = name == "id" && self.def.name == "t";
        self.def.columns.push(ColumnDef { auto_increment, ..ColumnDef::new(name, ty, nullable) });
        self
    }

    fn index(mut self, name: &str, kind: IndexKind, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|c| IndexColumn {
            column: self.def.column_index(c).expect("the column was added"),
            prefix: None,
            descending: false,
        });
        self.def.indexes.push(IndexDef::new(name, kind, columns.collect()));
        self
    }
}
