//! Privileges: the static ones are bits of a word, in the order in which MySQL lists them; the dynamic ones are names.

use serde::{Deserialize, Serialize};

/// A set of static privileges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Privileges(pub u64);

/// A privilege, and the levels other than global at which it may be granted: `d`atabase, `t`able, `c`olumn, `r`outine.
struct Definition {
    name: &'static str,
    levels: &'static str,
}

const fn define(name: &'static str, levels: &'static str) -> Definition {
    Definition { name, levels }
}

const DEFINITIONS: &[Definition] = &[
    define("SELECT", "dtc"),
    define("INSERT", "dtc"),
    define("UPDATE", "dtc"),
    define("DELETE", "dt"),
    define("CREATE", "dt"),
    define("DROP", "dt"),
    define("RELOAD", ""),
    define("SHUTDOWN", ""),
    define("PROCESS", ""),
    define("FILE", ""),
    define("GRANT OPTION", "dtr"),
    define("REFERENCES", "dtc"),
    define("INDEX", "dt"),
    define("ALTER", "dt"),
    define("SHOW DATABASES", ""),
    define("SUPER", ""),
    define("CREATE TEMPORARY TABLES", "d"),
    define("LOCK TABLES", "d"),
    define("EXECUTE", "dr"),
    define("REPLICATION SLAVE", ""),
    define("REPLICATION CLIENT", ""),
    define("CREATE VIEW", "dt"),
    define("SHOW VIEW", "dt"),
    define("CREATE ROUTINE", "d"),
    define("ALTER ROUTINE", "dr"),
    define("CREATE USER", ""),
    define("EVENT", "d"),
    define("TRIGGER", "dt"),
    define("CREATE TABLESPACE", ""),
    define("CREATE ROLE", ""),
    define("DROP ROLE", ""),
];

macro_rules! bits {
    ($($name:ident = $bit:expr),* $(,)?) => { $(pub const $name: Privileges = Privileges(1 << $bit);)* };
}

impl Privileges {
    pub const NONE: Privileges = Privileges(0);
    bits! {
        SELECT = 0, INSERT = 1, UPDATE = 2, DELETE = 3, CREATE = 4, DROP = 5, RELOAD = 6, SHUTDOWN = 7, PROCESS = 8, FILE = 9, GRANT = 10,
        REFERENCES = 11, INDEX = 12, ALTER = 13, SHOW_DATABASES = 14, SUPER = 15, CREATE_TEMPORARY = 16, LOCK_TABLES = 17,
        EXECUTE = 18, REPLICATION_SLAVE = 19, REPLICATION_CLIENT = 20, CREATE_VIEW = 21, SHOW_VIEW = 22, CREATE_ROUTINE = 23,
        ALTER_ROUTINE = 24, CREATE_USER = 25, EVENT = 26, TRIGGER = 27, CREATE_ROLE = 29, DROP_ROLE = 30,
    }
    pub const GLOBAL: Privileges = Privileges((1 << DEFINITIONS.len()) - 1);
    pub const DATABASE: Privileges = at_level(b'd');
    pub const TABLE: Privileges = at_level(b't');
    pub const COLUMN: Privileges = at_level(b'c');
    pub const ROUTINE: Privileges = at_level(b'r');
    /// The privileges to read and change rows.
    pub const ROWS: Privileges = Privileges(0b1111);

    /// Finds a privilege by its name in capitals.
    pub fn named(name: &str) -> Option<Privileges> {
        DEFINITIONS.iter().position(|definition| definition.name == name).map(|bit| Privileges(1 << bit))
    }

    pub fn has(self, all: Privileges) -> bool {
        self.0 & all.0 == all.0
    }

    pub fn has_any(self, some: Privileges) -> bool {
        self.0 & some.0 != 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn with(self, more: Privileges) -> Privileges {
        Privileges(self.0 | more.0)
    }

    pub fn without(self, less: Privileges) -> Privileges {
        Privileges(self.0 & !less.0)
    }

    pub fn and(self, both: Privileges) -> Privileges {
        Privileges(self.0 & both.0)
    }

    /// The names, in MySQL's order, without GRANT OPTION.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let bits = self.without(Privileges::GRANT);
        DEFINITIONS.iter().enumerate().filter(move |(bit, _)| bits.0 >> bit & 1 == 1).map(|(_, definition)| definition.name)
    }

    /// `SELECT, INSERT`, as messages have it.
    pub fn list(self) -> String {
        let names: Vec<_> = self.all_names().collect();
        names.join(", ")
    }

    fn all_names(self) -> impl Iterator<Item = &'static str> {
        let of = move |(bit, definition): (usize, &'static Definition)| {
            (self.0 >> bit & 1 == 1).then_some(if definition.name == "GRANT OPTION" { "GRANT" } else { definition.name })
        };
        DEFINITIONS.iter().enumerate().filter_map(of)
    }
}

const fn at_level(level: u8) -> Privileges {
    let mut bits = 0;
    let mut n = 0;
    while n < DEFINITIONS.len() {
        let levels = DEFINITIONS[n].levels.as_bytes();
        let mut at = 0;
        while at < levels.len() {
            if levels[at] == level {
                bits |= 1 << n;
            }
            at += 1;
        }
        n += 1;
    }
    Privileges(bits)
}

/// SHOW PRIVILEGES: name, context, comment. Dynamic privileges follow.
pub const DESCRIBED: &[(&str, &str, &str)] = &[
    ("Alter", "Tables", "To alter the table"),
    ("Alter routine", "Functions,Procedures", "To alter or drop stored functions/procedures"),
    ("Create", "Databases,Tables,Indexes", "To create new databases and tables"),
    ("Create routine", "Databases", "To use CREATE FUNCTION/PROCEDURE"),
    ("Create role", "Server Admin", "To create new roles"),
    ("Create temporary tables", "Databases", "To use CREATE TEMPORARY TABLE"),
    ("Create view", "Tables", "To create new views"),
    ("Create user", "Server Admin", "To create new users"),
    ("Delete", "Tables", "To delete existing rows"),
    ("Drop", "Databases,Tables", "To drop databases, tables, and views"),
    ("Drop role", "Server Admin", "To drop roles"),
    ("Event", "Server Admin", "To create, alter, drop and execute events"),
    ("Execute", "Functions,Procedures", "To execute stored routines"),
    ("File", "File access on server", "To read and write files on the server"),
    ("Grant option", "Databases,Tables,Functions,Procedures", "To give to other users those privileges you possess"),
    ("Index", "Tables", "To create or drop indexes"),
    ("Insert", "Tables", "To insert data into tables"),
    ("Lock tables", "Databases", "To use LOCK TABLES (together with SELECT privilege)"),
    ("Process", "Server Admin", "To view the plain text of currently executing queries"),
    ("Proxy", "Server Admin", "To make proxy user possible"),
    ("References", "Databases,Tables", "To have references on tables"),
    ("Reload", "Server Admin", "To reload or refresh tables, logs and privileges"),
    ("Replication client", "Server Admin", "To ask where the slave or master servers are"),
    ("Replication slave", "Server Admin", "To read binary log events from the master"),
    ("Select", "Tables", "To retrieve rows from table"),
    ("Show databases", "Server Admin", "To see all databases with SHOW DATABASES"),
    ("Show view", "Tables", "To see views with SHOW CREATE VIEW"),
    ("Shutdown", "Server Admin", "To shut down the server"),
    ("Super", "Server Admin", "To use KILL thread, SET GLOBAL, CHANGE REPLICATION SOURCE, etc."),
    ("Trigger", "Tables", "To use triggers"),
    ("Create tablespace", "Server Admin", "To create/alter/drop tablespaces"),
    ("Update", "Tables", "To update existing rows"),
    ("Usage", "Server Admin", "No privileges - allow connect only"),
];

/// MySQL's dynamic privileges, in order.
pub const DYNAMIC: &[&str] = &[
    "ALLOW_NONEXISTENT_DEFINER",
    "APPLICATION_PASSWORD_ADMIN",
    "AUDIT_ABORT_EXEMPT",
    "AUDIT_ADMIN",
    "AUTHENTICATION_POLICY_ADMIN",
    "BACKUP_ADMIN",
    "BINLOG_ADMIN",
    "BINLOG_ENCRYPTION_ADMIN",
    "CLONE_ADMIN",
    "CONNECTION_ADMIN",
    "CREATE_SPATIAL_REFERENCE_SYSTEM",
    "ENCRYPTION_KEY_ADMIN",
    "FIREWALL_EXEMPT",
    "FLUSH_OPTIMIZER_COSTS",
    "FLUSH_PRIVILEGES",
    "FLUSH_STATUS",
    "FLUSH_TABLES",
    "FLUSH_USER_RESOURCES",
    "GROUP_REPLICATION_ADMIN",
    "GROUP_REPLICATION_STREAM",
    "INNODB_REDO_LOG_ARCHIVE",
    "INNODB_REDO_LOG_ENABLE",
    "MANAGE_DATA_MASKING_POLICY",
    "OPTIMIZE_LOCAL_TABLE",
    "PASSWORDLESS_USER_ADMIN",
    "PERSIST_RO_VARIABLES_ADMIN",
    "REPLICATION_APPLIER",
    "REPLICATION_SLAVE_ADMIN",
    "RESOURCE_GROUP_ADMIN",
    "RESOURCE_GROUP_USER",
    "ROLE_ADMIN",
    "SENSITIVE_VARIABLES_OBSERVER",
    "SERVICE_CONNECTION_ADMIN",
    "SESSION_VARIABLES_ADMIN",
    "SET_ANY_DEFINER",
    "SHOW_ROUTINE",
    "SYSTEM_USER",
    "SYSTEM_VARIABLES_ADMIN",
    "TABLE_ENCRYPTION_ADMIN",
    "TELEMETRY_LOG_ADMIN",
    "TRANSACTION_GTID_TAG",
    "XA_RECOVER_ADMIN",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_bits_agree() {
        for (name, bit) in [
            ("SELECT", Privileges::SELECT),
            ("FILE", Privileges::FILE),
            ("GRANT OPTION", Privileges::GRANT),
            ("LOCK TABLES", Privileges::LOCK_TABLES),
            ("REPLICATION CLIENT", Privileges::REPLICATION_CLIENT),
            ("CREATE USER", Privileges::CREATE_USER),
            ("DROP ROLE", Privileges::DROP_ROLE),
        ] {
            assert_eq!(Privileges::named(name), Some(bit), "{name}");
        }
        assert_eq!(Privileges::COLUMN.list(), "SELECT, INSERT, UPDATE, REFERENCES");
    }
}
