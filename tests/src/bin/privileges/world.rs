//! The accounts and objects that the statements are about, and the account that runs them.
//!
//! | account | what it is |
//! |---|---|
//! | `acct_me` | runs the statements; all privileges on the database `acct_matrix`, `acct_own_role` WITH ADMIN OPTION, and the set under test |
//! | `acct_plain`, `acct_role` | an ordinary account, and an ordinary role that it has |
//! | `acct_system`, `acct_system_role` | an account and a role with SYSTEM_USER |
//! | `acct_via` | has `acct_system_role`, and SYSTEM_USER by it alone |
//! | `acct_definer`, `acct_system_definer` | have made objects of `acct_matrix`; the second has SYSTEM_USER |
//! | `acct_absent` | is not there, but has made objects |
//! | `acct_new` | is not there |

use crate::statements::Statement;
use mysql::Conn;
use mysql::prelude::Queryable;
use tests::Address;

const ACCOUNTS: [&str; 11] = [
    "acct_me",
    "acct_plain",
    "acct_role",
    "acct_own_role",
    "acct_system",
    "acct_system_role",
    "acct_via",
    "acct_definer",
    "acct_system_definer",
    "acct_absent",
    "acct_new",
];

const SETUP: &[&str] = &[
    "CREATE USER acct_plain, acct_system, acct_via, acct_definer, acct_system_definer, acct_absent",
    "CREATE ROLE acct_role, acct_own_role, acct_system_role",
    "GRANT SYSTEM_USER ON *.* TO acct_system, acct_system_role, acct_system_definer",
    "GRANT acct_role TO acct_plain",
    "GRANT acct_system_role TO acct_via",
    "SET DEFAULT ROLE acct_system_role TO acct_via",
    "CREATE DATABASE acct_matrix",
    "CREATE DATABASE acct_other",
    "CREATE TABLE acct_matrix.t (a INT)",
    "CREATE TABLE acct_other.t (a INT)",
    "GRANT SELECT ON acct_matrix.* TO acct_plain, acct_system, acct_role, acct_system_role, acct_definer, acct_system_definer",
];

/// What each of these has made: a procedure, a view, an event and a trigger.
pub const DEFINERS: [&str; 3] = ["acct_definer", "acct_system_definer", "acct_absent"];

/// Makes the objects of a definer.
pub fn make_objects(definer: &str) -> [String; 4] {
    [
        format!("CREATE DEFINER = {definer} PROCEDURE acct_matrix.{definer}_procedure () SELECT 1"),
        format!("CREATE DEFINER = {definer} VIEW acct_matrix.{definer}_view AS SELECT 1 AS a"),
        format!("CREATE DEFINER = {definer} EVENT acct_matrix.{definer}_event ON SCHEDULE AT '2037-01-01' DISABLE DO SELECT 1"),
        format!(
            "CREATE DEFINER = {definer} TRIGGER acct_matrix.{definer}_trigger BEFORE INSERT ON acct_matrix.t FOR EACH ROW SET @a = 1"
        ),
    ]
}

/// Privileges that open a door together.
const PAIRS: &[(&str, &[&str])] = &[
    (
        "SYSTEM_USER",
        &[
            "CREATE USER",
            "CREATE ROLE",
            "DROP ROLE",
            "ROLE_ADMIN",
            "SUPER",
            "SYSTEM_VARIABLES_ADMIN",
            "CONNECTION_ADMIN",
            "SET_ANY_DEFINER",
            "PROXY",
            "APPLICATION_PASSWORD_ADMIN",
        ],
    ),
    ("CREATE USER", &["ROLE_ADMIN", "SUPER", "SET_ANY_DEFINER", "ALLOW_NONEXISTENT_DEFINER", "DROP ROLE", "SELECT"]),
    ("SYSTEM_VARIABLES_ADMIN", &["ROLE_ADMIN", "PERSIST_RO_VARIABLES_ADMIN", "SUPER", "CONNECTION_ADMIN"]),
    ("ROLE_ADMIN", &["SUPER"]),
    ("SET_ANY_DEFINER", &["ALLOW_NONEXISTENT_DEFINER"]),
];
/// What is of use where it may be given on.
const GRANTABLE: &[&str] = &["SELECT", "INSERT", "SYSTEM_USER", "ROLE_ADMIN", "CREATE USER"];

/// The sets of privileges, by name: `USAGE`, each privilege of SHOW PRIVILEGES, and pairs.
pub fn sets(admin: &mut Conn) -> Result<Vec<String>, String> {
    let listed: Vec<(String, String, String)> = admin.query("SHOW PRIVILEGES").map_err(|e| e.to_string())?;
    let mut sets: Vec<String> = listed.into_iter().map(|(name, ..)| name.to_uppercase()).collect();
    sets.sort();
    let pairs = PAIRS.iter().flat_map(|(one, others)| others.iter().map(move |other| format!("{one} + {other}")));
    sets.extend(pairs);
    sets.extend(GRANTABLE.iter().map(|privilege| format!("{privilege} WITH GRANT OPTION")));
    Ok(sets)
}

/// Reads all rows: an error may come after some of them.
fn run_whole(conn: &mut Conn, text: &str) -> mysql::Result<()> {
    let mut results = conn.query_iter(text)?;
    while let Some(mut rows) = results.iter() {
        rows.try_for_each(|row| row.map(drop))?;
    }
    Ok(())
}

/// A server with the accounts and objects.
pub struct World {
    address: Address,
    pub admin: Conn,
    /// Sessions to be killed, by account.
    victims: [(&'static str, Option<Conn>); 3],
}

impl World {
    pub fn make(address: &Address) -> Result<Self, String> {
        let admin = address.connect().map_err(|e| e.to_string())?;
        let mut world =
            Self { address: address.clone(), admin, victims: ["acct_plain", "acct_system", "acct_via"].map(|name| (name, None)) };
        world.clear()?;
        SETUP.iter().try_for_each(|statement| world.administer(statement))?;
        for definer in DEFINERS {
            make_objects(definer).iter().try_for_each(|statement| world.administer(statement))?;
        }
        world.administer("DROP USER acct_absent")?;
        Ok(world)
    }

    pub fn clear(&mut self) -> Result<(), String> {
        self.administer("DROP DATABASE IF EXISTS acct_matrix")?;
        self.administer("DROP DATABASE IF EXISTS acct_other")?;
        self.administer("DROP DATABASE IF EXISTS acct_new")?;
        self.administer(&format!("DROP USER IF EXISTS {}", ACCOUNTS.join(", ")))
    }

    fn administer(&mut self, statement: &str) -> Result<(), String> {
        self.admin.query_drop(statement).map_err(|e| format!("{statement}: {e}"))
    }

    /// Calls `run` with a connection of an account that has the set of privileges. P2
    pub fn as_account_with(
        &mut self,
        set: &str,
        run: impl FnOnce(&mut Self, &mut Conn) -> Result<(), String>,
    ) -> Result<(), String> {
        self.administer("CREATE USER acct_me")?;
        self.administer("GRANT ALL ON acct_matrix.* TO acct_me WITH GRANT OPTION")?;
        self.administer("GRANT acct_own_role TO acct_me WITH ADMIN OPTION")?;
        for privilege in set.split(" + ") {
            let grant = match privilege {
                "PROXY" => "GRANT PROXY ON ''@'' TO acct_me WITH GRANT OPTION".to_owned(),
                "GRANT OPTION" => "GRANT USAGE ON *.* TO acct_me WITH GRANT OPTION".to_owned(),
                privilege => match privilege.strip_suffix(" WITH GRANT OPTION") {
                    Some(privilege) => format!("GRANT {privilege} ON *.* TO acct_me WITH GRANT OPTION"),
                    None => format!("GRANT {privilege} ON *.* TO acct_me"),
                },
            };
            self.administer(&grant)?;
            if privilege == "PROXY" {
                // MySQL takes this for GRANT OPTION on *.*, too.
                self.administer("REVOKE GRANT OPTION ON *.* FROM acct_me")?;
            }
        }
        let before = self.fingerprint()?;
        let options = self.address.options().user(Some("acct_me")).pass(None::<String>);
        let mut conn = Conn::new(options).map_err(|e| format!("acct_me with {set}: {e}"))?;
        run(self, &mut conn)?;
        let after = self.fingerprint()?;
        if let Some((before, after)) = before.iter().zip(&after).find(|(before, after)| before != after) {
            return Err(format!("with {set} some statement left {after}, where was {before}"));
        }
        self.administer("DROP USER acct_me")
    }

    /// How a statement ends. P1
    pub fn outcome(&mut self, conn: &mut Conn, statement: &Statement) -> Result<String, String> {
        let mut text = statement.text.clone();
        for n in 0..self.victims.len() {
            let placeholder = format!("${}", self.victims[n].0);
            if text.contains(&placeholder) {
                text = text.replace(&placeholder, &self.victim(n)?.to_string());
            }
        }
        match run_whole(conn, &text) {
            Ok(()) => {}
            Err(mysql::Error::MySqlError(error)) => return Ok(error.code.to_string()),
            Err(error) => return Err(format!("{text}: {error}")),
        }
        for undo in &statement.undo {
            match undo.strip_prefix("me: ") {
                Some(undo) => conn.query_drop(undo).map_err(|e| format!("{undo}: {e}"))?,
                None => self.administer(undo)?,
            }
        }
        Ok("ok".to_owned())
    }

    /// The session of a victim, which is there now.
    fn victim(&mut self, n: usize) -> Result<u32, String> {
        let (name, conn) = &mut self.victims[n];
        let alive = conn.as_mut().is_some_and(|conn| conn.query_drop("DO 1").is_ok());
        if !alive {
            let options = self.address.options().user(Some(*name)).pass(None::<String>);
            *conn = Some(Conn::new(options).map_err(|e| format!("{name}: {e}"))?);
        }
        conn.as_ref().map(Conn::connection_id).ok_or_else(|| "no connection".to_owned())
    }

    /// What accounts, objects and variables are.
    fn fingerprint(&mut self) -> Result<Vec<String>, String> {
        let mut lines = Vec::new();
        for account in ACCOUNTS {
            for statement in [format!("SHOW CREATE USER {account}"), format!("SHOW GRANTS FOR {account}")] {
                match self.admin.query::<String, _>(&statement) {
                    Ok(rows) => lines.push(format!("{account}: {}", rows.join("; ").replace(" ATTRIBUTE '{}'", ""))),
                    Err(mysql::Error::MySqlError(error)) => lines.push(format!("{account}: {}", error.code)),
                    Err(error) => return Err(format!("{statement}: {error}")),
                }
            }
        }
        for objects in [
            "SELECT CONCAT_WS(' ', 'routine', ROUTINE_NAME, DEFINER, ROUTINE_COMMENT) AS x FROM information_schema.ROUTINES \
             WHERE ROUTINE_SCHEMA LIKE 'acct%' ORDER BY x",
            "SELECT CONCAT_WS(' ', 'view', TABLE_NAME, DEFINER, VIEW_DEFINITION) AS x FROM information_schema.VIEWS \
             WHERE TABLE_SCHEMA LIKE 'acct%' ORDER BY x",
            "SELECT CONCAT_WS(' ', 'event', EVENT_NAME, DEFINER, EVENT_COMMENT) AS x FROM information_schema.EVENTS \
             WHERE EVENT_SCHEMA LIKE 'acct%' ORDER BY x",
            "SELECT CONCAT_WS(' ', 'trigger', TRIGGER_NAME, DEFINER) AS x FROM information_schema.TRIGGERS \
             WHERE TRIGGER_SCHEMA LIKE 'acct%' ORDER BY x",
            "SELECT CONCAT_WS('.', TABLE_SCHEMA, TABLE_NAME) AS x FROM information_schema.TABLES \
             WHERE TABLE_SCHEMA LIKE 'acct%' ORDER BY x",
            "SELECT CONCAT_WS(' ', 'variables', @@GLOBAL.mandatory_roles, @@GLOBAL.init_connect, @@GLOBAL.wait_timeout) AS x",
        ] {
            let rows: Vec<String> = self.admin.query(objects).map_err(|e| format!("{objects}: {e}"))?;
            lines.push(rows.join("; "));
        }
        Ok(lines)
    }
}
