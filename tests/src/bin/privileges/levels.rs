//! The matrix of levels: each kind of statement about tables, views, programs and events, by an account that has one privilege (or SELECT and
//! one more) on one level and nothing else.
//!
//! | level | what is granted |
//! |---|---|
//! | global, database | each static privilege |
//! | table | the same on the tables `t` and `d` |
//! | column | on the column `a` of `t` |
//! | routine | on the procedures and functions |
//!
//! | way | who runs the statement, and whose privileges count |
//! |---|---|
//! | direct | `acct_me`, by its own |
//! | role | `acct_member`, by those of a role |
//! | definer | `acct_caller`, by those of the definer `acct_me` of a procedure with this statement |
//! | object | `acct_caller`, by those of the definer of a view or trigger that is used |
//!
//! An outcome is `ok`, the number of an error, or how many rows a statement shows.
//!
//! L1: an administrator undoes what succeeded before the next statement.
//! L2: after each set of privileges the objects are as they were.

use crate::answers::Answers;
use crate::level_statements::{DATABASE, MAKE, Statement, of_objects, statements};
use mysql::Conn;
use mysql::prelude::Queryable;
use tests::Address;

const ACCOUNTS: &str = "acct_me, acct_member, acct_caller, acct_plain, acct_level_role";
const TABLE: &[&str] = &[
    "ALTER",
    "CREATE",
    "CREATE VIEW",
    "DELETE",
    "DROP",
    "GRANT OPTION",
    "INDEX",
    "INSERT",
    "REFERENCES",
    "SELECT",
    "SHOW VIEW",
    "TRIGGER",
    "UPDATE",
];
const IN_DATABASE: &[&str] = &["ALTER ROUTINE", "CREATE ROUTINE", "CREATE TEMPORARY TABLES", "EVENT", "EXECUTE", "LOCK TABLES"];
const GLOBAL: &[&str] = &["PROCESS", "RELOAD", "SHOW DATABASES", "SUPER", "CREATE USER", "FILE"];
const COLUMN: &[&str] = &["SELECT (a)", "INSERT (a)", "UPDATE (a)", "REFERENCES (a)", "SELECT (a), UPDATE (a)", "SELECT (a, b)"];
const ROUTINE: &[&str] = &["EXECUTE", "ALTER ROUTINE", "GRANT OPTION"];

/// Where Heddle answers otherwise: a part of the statement with its way, a part of the set's name, Heddle's outcome, and why.
pub const KNOWN: &[(&str, &str, &str, &str)] = &[
    ("DELETE acct_levels.t FROM", "UPDATE on", "1143", "the error names the column that is missing, not the table"),
    (
        "INSERT INTO acct_levels.v",
        "INSERT",
        "1356",
        "a view that is changed is bound as one that is read: it needs SELECT as well",
    ),
    ("SELECT a FROM acct_levels.v_me", "SELECT (a)", "1356", "a view needs the columns of its whole select list"),
    ("SELECT COUNT(*) FROM acct_levels.v_me", "SELECT (a)", "1356", "as above"),
    ("CHECK TABLE", "on table", "1142", "it needs SELECT, where MySQL takes any privilege on exactly this table"),
    ("CHECK TABLE", "on column", "1142", "as above"),
    ("USE ", "GRANT OPTION on table", "ok", "any entry for a table opens its database, whose tables are then hidden one by one"),
    ("SHOW CREATE DATABASE", "GRANT OPTION on table", "1 rows", "as above"),
    ("USE ", "GRANT OPTION on database", "1044", "GRANT OPTION alone is no use of a database"),
    ("SHOW CREATE DATABASE", "GRANT OPTION on database", "1044", "as above"),
    ("SHOW DATABASES", "GRANT OPTION on database", "0 rows", "as above"),
    ("SCHEMATA", "GRANT OPTION on database", "0 rows", "as above"),
    ("role: SHOW", "GRANT OPTION on database", "1044", "as above"),
    ("role: SHOW CREATE PROCEDURE", "on routine", "1 rows", "a role's privileges on a routine show it, as direct ones do"),
    ("role: SHOW CREATE FUNCTION", "on routine", "1 rows", "as above"),
    ("role: SHOW PROCEDURE STATUS", "on routine", "1 rows", "as above"),
    ("role: SELECT ROUTINE_NAME", "on routine", "4 rows", "as above"),
    (
        "direct: SELECT TABLE_NAME FROM information_schema.VIEWS",
        "",
        "0 rows",
        "VIEW_DEFINITION needs SHOW VIEW from the definer, too",
    ),
];

/// A set of privileges: its name, and the ends of the GRANT statements that give it, up to the account.
struct Set {
    name: String,
    grants: Vec<String>,
}

fn sets() -> Vec<Set> {
    let mut sets = vec![Set { name: "nothing".into(), grants: Vec::new() }];
    let levels: [(&str, Vec<&str>, &[String]); 3] = [
        ("global", [TABLE, IN_DATABASE, GLOBAL].concat(), &["*.*".into()]),
        ("database", [TABLE, IN_DATABASE].concat(), &[format!("{DATABASE}.*")]),
        ("table", TABLE.to_vec(), &[format!("{DATABASE}.t"), format!("{DATABASE}.d")]),
    ];
    for (level, privileges, places) in levels {
        let grants = |privilege: &str| places.iter().map(|place| grant(privilege, place)).collect::<Vec<_>>();
        sets.extend(
            privileges.iter().map(|privilege| Set { name: format!("{privilege} on {level}"), grants: grants(privilege) }),
        );
        let others = privileges.iter().filter(|privilege| !["SELECT", "GRANT OPTION"].contains(privilege));
        sets.extend(others.map(|privilege| Set {
            name: format!("SELECT + {privilege} on {level}"),
            grants: [grants("SELECT"), grants(privilege)].concat(),
        }));
    }
    sets.push(Set {
        name: "INSERT + CREATE + ALTER + DROP on database".into(),
        grants: vec![grant("INSERT, CREATE, ALTER, DROP", &format!("{DATABASE}.*"))],
    });
    sets.extend(COLUMN.iter().map(|privilege| Set {
        name: format!("{privilege} on column"),
        grants: vec![grant(privilege, &format!("{DATABASE}.t"))],
    }));
    sets.extend(ROUTINE.iter().map(|privilege| {
        Set {
            name: format!("{privilege} on routine"),
            grants: ["PROCEDURE p", "PROCEDURE p_invoker", "PROCEDURE dp", "FUNCTION f"]
                .iter()
                .map(|routine| grant(privilege, &routine.replace(' ', &format!(" {DATABASE}."))))
                .collect(),
        }
    }));
    sets
}

fn grant(privilege: &str, place: &str) -> String {
    match privilege {
        "GRANT OPTION" => format!("GRANT USAGE ON {place} TO $1 WITH GRANT OPTION"),
        _ => format!("GRANT {privilege} ON {place} TO $1"),
    }
}

/// The connections of the accounts.
struct World {
    admin: Conn,
    me: Conn,
    member: Conn,
    caller: Conn,
    /// Whether the statement is one of a procedure.
    in_procedure: Vec<bool>,
}

/// The answers of a server, and the names of the sets.
pub fn run(address: &Address, only: &str) -> Result<(Answers, Vec<String>), String> {
    let mut admin = address.connect().map_err(|e| e.to_string())?;
    let statements: Vec<Statement> = statements().into_iter().filter(|s| s.text.contains(only)).collect();
    clear(&mut admin)?;
    MAKE.iter().try_for_each(|sql| administer(&mut admin, sql))?;
    let in_procedure = make_procedures(&mut admin, &statements)?;
    let as_account = |name: &str| {
        let options = address.options().user(Some(name)).pass(None::<String>);
        Conn::new(options).map_err(|e| format!("{name}: {e}"))
    };
    let mut world = World {
        admin,
        me: as_account("acct_me")?,
        member: as_account("acct_member")?,
        caller: as_account("acct_caller")?,
        in_procedure,
    };
    let mut answers = Answers::default();
    let sets = sets();
    let before = world.fingerprint()?;
    for set in &sets {
        world.grant(set)?;
        // Privileges of a database count from the next USE on, and those of all from the next connection on.
        (world.me, world.member, world.caller) = (as_account("acct_me")?, as_account("acct_member")?, as_account("acct_caller")?);
        for (number, statement) in statements.iter().enumerate() {
            world.ways(number, statement, &set.name, &mut answers)?;
        }
        for statement in of_objects().iter().filter(|statement| statement.text.contains(only)) {
            let outcome = outcome(&mut world.caller, &statement.text)?;
            world.undo(statement, "caller", &outcome)?;
            answers.put(&format!("object: {}", statement.text), &set.name, outcome);
        }
        let after = world.fingerprint()?;
        if let Some((before, after)) = before.iter().zip(&after).find(|(before, after)| before != after) {
            return Err(format!("with {} some statement left {after}, where was {before}", set.name));
        }
        world.revoke()?;
    }
    clear(&mut world.admin)?;
    Ok((answers, sets.into_iter().map(|set| set.name).collect()))
}

fn clear(admin: &mut Conn) -> Result<(), String> {
    for database in [DATABASE, "acct_calls", "acct_levels_2", "acct_new"] {
        administer(admin, &format!("DROP DATABASE IF EXISTS {database}"))?;
    }
    administer(admin, &format!("DROP USER IF EXISTS {ACCOUNTS}"))
}

fn administer(admin: &mut Conn, sql: &str) -> Result<(), String> {
    admin.query_drop(sql).map_err(|e| format!("{sql}: {e}"))
}

/// A procedure for each statement that may be in one; the administrator makes it, with `acct_me` as its definer.
fn make_procedures(admin: &mut Conn, statements: &[Statement]) -> Result<Vec<bool>, String> {
    administer(admin, "CREATE DATABASE acct_calls")?;
    administer(admin, "GRANT EXECUTE ON acct_calls.* TO acct_caller")?;
    administer(admin, &format!("USE {DATABASE}"))?;
    let made = statements.iter().enumerate().map(|(number, statement)| {
        // Some of these, refused within a procedure, get an answer of MySQL that breaks the protocol.
        if statement.text.starts_with("SHOW ") {
            return Ok(false);
        }
        let create = format!("CREATE DEFINER = acct_me PROCEDURE acct_calls.s{number} () {}", statement.text);
        match admin.query_drop(&create) {
            Ok(()) => Ok(true),
            Err(mysql::Error::MySqlError(_)) => Ok(false),
            Err(error) => Err(format!("{create}: {error}")),
        }
    });
    made.collect()
}

impl World {
    fn grant(&mut self, set: &Set) -> Result<(), String> {
        for account in ["acct_me", "acct_level_role"] {
            for grant in &set.grants {
                administer(&mut self.admin, &grant.replace("$1", account))?;
            }
        }
        Ok(())
    }

    fn revoke(&mut self) -> Result<(), String> {
        administer(&mut self.admin, "REVOKE ALL PRIVILEGES, GRANT OPTION FROM acct_me, acct_level_role")
    }

    fn ways(&mut self, number: usize, statement: &Statement, set: &str, answers: &mut Answers) -> Result<(), String> {
        let text = &statement.text;
        let direct = outcome(&mut self.me, text)?;
        self.undo(statement, "me", &direct)?;
        answers.put(&format!("direct: {text}"), set, direct);
        let role = outcome(&mut self.member, text)?;
        self.undo(statement, "member", &role)?;
        answers.put(&format!("role: {text}"), set, role);
        if self.in_procedure[number] {
            let call = format!("CALL acct_calls.s{number}()");
            let definer = outcome(&mut self.caller, &call).map_err(|why| format!("{text}: {why}"))?;
            self.undo(statement, "caller", &definer)?;
            answers.put(&format!("definer: {text}"), set, definer);
        }
        Ok(())
    }

    /// L1
    fn undo(&mut self, statement: &Statement, who: &str, outcome: &str) -> Result<(), String> {
        if outcome.parse::<u16>().is_ok() {
            return Ok(());
        }
        for undo in &statement.undo {
            let Some(own) = undo.strip_prefix("me: ") else {
                administer(&mut self.admin, undo)?;
                continue;
            };
            let conn = match who {
                "me" => &mut self.me,
                "member" => &mut self.member,
                _ => &mut self.caller,
            };
            conn.query_drop(own).map_err(|e| format!("{}: {own}: {e}", statement.text))?;
        }
        Ok(())
    }

    /// L2. MySQL forgets the columns of a view that its definer may not read.
    fn fingerprint(&mut self) -> Result<Vec<String>, String> {
        let mut all = Vec::new();
        for (columns, from) in [
            ("TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, COLUMN_KEY", "COLUMNS WHERE TABLE_SCHEMA"),
            ("ROUTINE_NAME, DEFINER, ROUTINE_COMMENT", "ROUTINES WHERE ROUTINE_SCHEMA"),
            ("EVENT_NAME, DEFINER, EVENT_COMMENT", "EVENTS WHERE EVENT_SCHEMA"),
            ("TRIGGER_NAME, DEFINER", "TRIGGERS WHERE TRIGGER_SCHEMA"),
            ("TABLE_NAME, DEFINER, VIEW_DEFINITION", "VIEWS WHERE TABLE_SCHEMA"),
            ("TABLE_NAME, INDEX_NAME, COLUMN_NAME", "STATISTICS WHERE TABLE_SCHEMA"),
            ("SCHEMA_NAME, DEFAULT_COLLATION_NAME", "SCHEMATA WHERE SCHEMA_NAME"),
        ] {
            let sql = format!(
                "SELECT CONCAT_WS(' ', {columns}) AS x FROM information_schema.{from} LIKE 'acct\\_levels%' HAVING x NOT LIKE 'v\\_%' ORDER BY x"
            );
            let rows: Vec<String> = self.admin.query(&sql).map_err(|e| format!("{sql}: {e}"))?;
            all.push(rows.join(", "));
        }
        for table in ["t", "u", "d", "fired_1"] {
            let sql = format!("SELECT CONCAT_WS(' ', '{table}', COUNT(*), SUM(a), SUM(b)) FROM {DATABASE}.{table}");
            all.extend(self.admin.query::<String, _>(&sql).map_err(|e| format!("{sql}: {e}"))?);
        }
        Ok(all)
    }
}

/// `ok`, a number of rows of what shows objects, or the number of an error.
fn outcome(conn: &mut Conn, text: &str) -> Result<String, String> {
    let shows = ["SHOW ", "information_schema", "CHECK TABLE", "ANALYZE TABLE"].iter().any(|word| text.contains(word));
    let run = |conn: &mut Conn| -> mysql::Result<usize> {
        let mut count = 0;
        let mut results = conn.query_iter(text)?;
        while let Some(mut rows) = results.iter() {
            rows.try_for_each(|row| row.map(|_| count += 1))?;
        }
        Ok(count)
    };
    match run(conn) {
        Ok(count) if shows => Ok(format!("{count} rows")),
        Ok(_) => Ok("ok".into()),
        Err(mysql::Error::MySqlError(error)) => Ok(error.code.to_string()),
        Err(error) => Err(format!("{text}: {error}")),
    }
}
