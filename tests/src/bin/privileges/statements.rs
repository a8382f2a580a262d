//! The statements of the matrix.

use crate::world::{DEFINERS, make_objects};

/// A statement, and the statements that undo it where it succeeded; `me: ` marks one that the account's own session runs.
pub struct Statement {
    pub text: String,
    pub undo: Vec<String>,
}

#[derive(Default)]
struct List(Vec<Statement>);

impl List {
    fn add(&mut self, text: &str, undo: &[&str]) {
        self.0.push(Statement { text: text.to_owned(), undo: undo.iter().map(|undo| (*undo).to_owned()).collect() });
    }

    /// For each of the accounts, whose name stands for `$1`.
    fn each(&mut self, accounts: &[&str], text: &str, undo: &[&str]) {
        for account in accounts {
            let undo: Vec<String> = undo.iter().map(|undo| undo.replace("$1", account)).collect();
            self.0.push(Statement { text: text.replace("$1", account), undo });
        }
    }
}

/// The accounts and roles, without the account that runs the statements.
const THERE: [&str; 5] = ["acct_plain", "acct_system", "acct_via", "acct_role", "acct_system_role"];
const ROLES: [&str; 5] = ["acct_plain", "acct_system", "acct_role", "acct_system_role", "acct_own_role"];
const ALL: [&str; 6] = ["acct_plain", "acct_system", "acct_via", "acct_role", "acct_system_role", "acct_new"];
const ANYBODY: [&str; 7] = ["acct_plain", "acct_system", "acct_via", "acct_role", "acct_system_role", "acct_new", "acct_me"];
/// What `acct_role`, `acct_system_role` and the others were made with.
const MADE_AGAIN: &[(&str, &[&str])] = &[
    ("acct_plain", &["CREATE USER acct_plain", "GRANT SELECT ON acct_matrix.* TO acct_plain", "GRANT acct_role TO acct_plain"]),
    (
        "acct_system",
        &["CREATE USER acct_system", "GRANT SYSTEM_USER ON *.* TO acct_system", "GRANT SELECT ON acct_matrix.* TO acct_system"],
    ),
    (
        "acct_via",
        &["CREATE USER acct_via", "GRANT acct_system_role TO acct_via", "SET DEFAULT ROLE acct_system_role TO acct_via"],
    ),
    ("acct_role", &["CREATE ROLE acct_role", "GRANT SELECT ON acct_matrix.* TO acct_role", "GRANT acct_role TO acct_plain"]),
    (
        "acct_system_role",
        &[
            "CREATE ROLE acct_system_role",
            "GRANT SYSTEM_USER ON *.* TO acct_system_role",
            "GRANT SELECT ON acct_matrix.* TO acct_system_role",
            "GRANT acct_system_role TO acct_via",
            "SET DEFAULT ROLE acct_system_role TO acct_via",
        ],
    ),
    ("acct_definer", &["CREATE USER acct_definer", "GRANT SELECT ON acct_matrix.* TO acct_definer"]),
    (
        "acct_system_definer",
        &[
            "CREATE USER acct_system_definer",
            "GRANT SYSTEM_USER ON *.* TO acct_system_definer",
            "GRANT SELECT ON acct_matrix.* TO acct_system_definer",
        ],
    ),
];

/// All statements.
pub fn all() -> Vec<Statement> {
    let mut list = List::default();
    accounts(&mut list);
    grants(&mut list);
    roles(&mut list);
    variables(&mut list);
    definers(&mut list);
    administration(&mut list);
    objects(&mut list);
    list.0
}

fn accounts(list: &mut List) {
    list.add("CREATE USER acct_new", &["DROP USER acct_new"]);
    list.add("CREATE USER IF NOT EXISTS acct_plain", &[]);
    list.add("CREATE USER acct_absent", &["DROP USER acct_absent"]);
    list.each(&THERE, "CREATE USER $1", &[]);
    list.each(&ROLES, "CREATE USER acct_new DEFAULT ROLE $1", &["DROP USER acct_new"]);
    list.add("CREATE USER acct_new DEFAULT ROLE acct_role, acct_system_role", &["DROP USER acct_new"]);
    list.add("CREATE ROLE acct_new", &["DROP ROLE acct_new"]);
    list.add("CREATE ROLE acct_absent", &["DROP ROLE acct_absent"]);
    list.each(&["acct_plain", "acct_system"], "CREATE ROLE IF NOT EXISTS $1", &[]);
    for (account, again) in MADE_AGAIN {
        list.add(&format!("DROP USER {account}"), again);
        list.add(&format!("DROP ROLE {account}"), again);
    }
    list.add("DROP USER acct_new", &[]);
    list.add("DROP ROLE acct_new", &[]);
    list.add("DROP USER IF EXISTS acct_new", &[]);
    list.add("DROP ROLE IF EXISTS acct_new", &[]);
    list.add("DROP USER acct_new, acct_system", &[]);
    for account in ["acct_plain", "acct_system", "acct_via", "acct_definer"] {
        list.add(&format!("RENAME USER {account} TO acct_new"), &[&format!("RENAME USER acct_new TO {account}")]);
    }
    list.add("RENAME USER acct_plain TO acct_system", &[]);
    list.add("RENAME USER acct_plain TO acct_absent", &["RENAME USER acct_absent TO acct_plain"]);
    list.add("RENAME USER acct_new TO acct_other", &[]);
    list.each(
        &["acct_plain", "acct_system", "acct_via", "acct_new"],
        "ALTER USER $1 IDENTIFIED BY 'a'",
        &["ALTER USER $1 IDENTIFIED BY ''"],
    );
    list.add("ALTER USER acct_me IDENTIFIED BY ''", &[]);
    list.add("ALTER USER USER() IDENTIFIED BY ''", &[]);
    list.each(&["acct_plain", "acct_system", "acct_via"], "SET PASSWORD FOR $1 = 'a'", &["ALTER USER $1 IDENTIFIED BY ''"]);
    list.add("SET PASSWORD FOR acct_me = ''", &[]);
    list.add("SET PASSWORD = ''", &[]);
    list.add("SET PASSWORD FOR acct_new = ''", &[]);
    list.each(&ALL, "ALTER USER $1", &[]);
    list.each(&ANYBODY, "ALTER USER $1 COMMENT 'a'", &["ALTER USER $1 ATTRIBUTE '{\"comment\": null}'"]);
    list.each(
        &["acct_plain", "acct_system", "acct_via", "acct_me"],
        "ALTER USER $1 ACCOUNT LOCK",
        &["ALTER USER $1 ACCOUNT UNLOCK"],
    );
    list.each(&["acct_plain", "acct_system"], "ALTER USER $1 PASSWORD EXPIRE", &["ALTER USER $1 IDENTIFIED BY ''"]);
    list.each(&["acct_plain", "acct_system"], "ALTER USER $1 REQUIRE SSL", &["ALTER USER $1 REQUIRE NONE"]);
    list.each(&["acct_plain", "acct_system", "acct_me"], "ALTER USER $1 DISCARD OLD PASSWORD", &[]);
    list.each(&["acct_plain", "acct_system", "acct_me"], "ALTER USER $1 IDENTIFIED BY 'a' RETAIN CURRENT PASSWORD", &[]);
    list.add("ALTER USER IF EXISTS acct_new ACCOUNT LOCK", &[]);
    list.add("ALTER USER acct_plain, acct_system ACCOUNT LOCK", &["ALTER USER acct_plain, acct_system ACCOUNT UNLOCK"]);
    list.each(&ANYBODY, "SHOW CREATE USER $1", &[]);
    list.each(&ANYBODY, "SHOW GRANTS FOR $1", &[]);
    list.each(&ROLES, "SHOW GRANTS FOR acct_plain USING $1", &[]);
    list.each(&ROLES, "SHOW GRANTS FOR acct_me USING $1", &[]);
    list.add("SHOW GRANTS FOR acct_via USING acct_system_role", &[]);
    list.each(&["acct_plain", "acct_system", "acct_via"], "KILL $$1", &[]);
    list.each(&["acct_plain", "acct_system", "acct_via"], "KILL QUERY $$1", &[]);
}

fn grants(list: &mut List) {
    // What an administrator takes back where the account had it before is given again.
    list.each(&ALL, "GRANT SELECT ON *.* TO $1", &["REVOKE SELECT ON *.* FROM $1"]);
    list.each(&ALL, "GRANT INSERT ON acct_matrix.* TO $1", &["REVOKE INSERT ON acct_matrix.* FROM $1"]);
    list.each(
        &["acct_plain", "acct_system", "acct_via"],
        "GRANT INSERT ON acct_matrix.t TO $1",
        &["REVOKE INSERT ON acct_matrix.t FROM $1"],
    );
    list.each(&["acct_plain", "acct_system"], "GRANT SELECT ON acct_other.* TO $1", &["REVOKE SELECT ON acct_other.* FROM $1"]);
    list.each(
        &["acct_plain", "acct_system"],
        "GRANT SELECT (a) ON acct_matrix.t TO $1",
        &["REVOKE SELECT (a) ON acct_matrix.t FROM $1"],
    );
    list.each(
        &["acct_plain", "acct_system"],
        "GRANT EXECUTE ON PROCEDURE acct_matrix.acct_definer_procedure TO $1",
        &["REVOKE EXECUTE ON PROCEDURE acct_matrix.acct_definer_procedure FROM $1"],
    );
    list.each(&ALL, "GRANT USAGE ON *.* TO $1", &[]);
    list.each(
        &["acct_plain", "acct_system"],
        "GRANT USAGE ON *.* TO $1 WITH GRANT OPTION",
        &["REVOKE GRANT OPTION ON *.* FROM $1"],
    );
    list.each(&["acct_plain", "acct_role", "acct_new"], "GRANT SYSTEM_USER ON *.* TO $1", &["REVOKE SYSTEM_USER ON *.* FROM $1"]);
    list.each(&["acct_plain", "acct_system"], "GRANT ROLE_ADMIN ON *.* TO $1", &["REVOKE ROLE_ADMIN ON *.* FROM $1"]);
    list.each(
        &["acct_plain", "acct_system"],
        "GRANT ROLE_ADMIN ON *.* TO $1 WITH GRANT OPTION",
        &["REVOKE ROLE_ADMIN ON *.* FROM $1"],
    );
    list.add("GRANT ALL ON *.* TO acct_plain", &["REVOKE ALL ON *.* FROM acct_plain"]);
    list.each(&["acct_plain", "acct_system"], "GRANT SELECT ON *.* TO acct_new AS $1", &[]);
    list.each(&["acct_plain", "acct_system", "acct_via"], "GRANT USAGE ON *.* TO acct_plain AS $1", &[]);
    list.each(&ALL, "REVOKE SELECT ON acct_matrix.* FROM $1", &["GRANT SELECT ON acct_matrix.* TO $1"]);
    list.each(&ALL, "REVOKE INSERT ON *.* FROM $1", &[]);
    list.each(&ALL, "REVOKE IF EXISTS INSERT ON acct_matrix.* FROM $1 IGNORE UNKNOWN USER", &[]);
    list.each(
        &["acct_system", "acct_system_role", "acct_system_definer"],
        "REVOKE SYSTEM_USER ON *.* FROM $1",
        &["GRANT SYSTEM_USER ON *.* TO $1"],
    );
    list.each(
        &["acct_plain", "acct_role", "acct_definer"],
        "REVOKE ALL PRIVILEGES, GRANT OPTION FROM $1",
        &["GRANT SELECT ON acct_matrix.* TO $1", "GRANT acct_role TO acct_plain"],
    );
    list.each(
        &["acct_system", "acct_system_role"],
        "REVOKE ALL PRIVILEGES, GRANT OPTION FROM $1",
        &["GRANT SYSTEM_USER ON *.* TO $1", "GRANT SELECT ON acct_matrix.* TO $1"],
    );
    list.add(
        "REVOKE ALL PRIVILEGES, GRANT OPTION FROM acct_via",
        &["GRANT acct_system_role TO acct_via", "SET DEFAULT ROLE acct_system_role TO acct_via"],
    );
    list.add("REVOKE ALL PRIVILEGES, GRANT OPTION FROM acct_new", &[]);
    for proxied in ["acct_plain", "acct_system", "acct_me", "acct_new", "''@''"] {
        let undo = format!("REVOKE PROXY ON {proxied} FROM acct_role");
        list.add(&format!("GRANT PROXY ON {proxied} TO acct_role"), &[&undo]);
        let undo = format!("REVOKE PROXY ON {proxied} FROM acct_system_role");
        list.add(&format!("GRANT PROXY ON {proxied} TO acct_system_role"), &[&undo]);
    }
    list.each(&["acct_plain", "acct_system"], "GRANT PROXY ON $1 TO acct_me", &["REVOKE PROXY ON $1 FROM acct_me"]);
    list.each(&["acct_plain", "acct_system"], "REVOKE PROXY ON $1 FROM acct_role", &[]);
    list.add("REVOKE PROXY ON acct_me FROM acct_system", &[]);
}

fn roles(list: &mut List) {
    for role in ["acct_plain", "acct_system", "acct_via", "acct_role", "acct_system_role", "acct_own_role", "acct_new"] {
        for to in ["acct_definer", "acct_system_definer", "acct_me", "acct_new"] {
            if (role, to) == ("acct_own_role", "acct_me") {
                list.add("GRANT acct_own_role TO acct_me", &["GRANT acct_own_role TO acct_me WITH ADMIN OPTION"]);
                list.add("REVOKE acct_own_role FROM acct_me", &["GRANT acct_own_role TO acct_me WITH ADMIN OPTION"]);
                continue;
            }
            list.add(&format!("GRANT {role} TO {to}"), &[&format!("REVOKE {role} FROM {to}")]);
            list.add(&format!("REVOKE {role} FROM {to}"), &[]);
        }
    }
    list.add("GRANT acct_role, acct_system_role TO acct_definer", &["REVOKE acct_role, acct_system_role FROM acct_definer"]);
    list.add(
        "GRANT acct_role TO acct_definer, acct_system_definer",
        &["REVOKE acct_role FROM acct_definer, acct_system_definer"],
    );
    list.add("GRANT acct_system_role TO acct_me WITH ADMIN OPTION", &["REVOKE acct_system_role FROM acct_me"]);
    list.add("GRANT acct_own_role TO acct_definer WITH ADMIN OPTION", &["REVOKE acct_own_role FROM acct_definer"]);
    list.add("REVOKE acct_role FROM acct_plain", &["GRANT acct_role TO acct_plain"]);
    list.add(
        "REVOKE acct_system_role FROM acct_via",
        &["GRANT acct_system_role TO acct_via", "SET DEFAULT ROLE acct_system_role TO acct_via"],
    );
    list.add("REVOKE IF EXISTS acct_new FROM acct_system IGNORE UNKNOWN USER", &[]);
    list.each(&ANYBODY, "SET DEFAULT ROLE NONE TO $1", &["SET DEFAULT ROLE acct_system_role TO acct_via"]);
    list.each(&["acct_system", "acct_definer", "acct_role"], "SET DEFAULT ROLE ALL TO $1", &["SET DEFAULT ROLE NONE TO $1"]);
    list.add("SET DEFAULT ROLE ALL TO acct_via", &[]);
    list.add("SET DEFAULT ROLE acct_role TO acct_plain", &["SET DEFAULT ROLE NONE TO acct_plain"]);
    list.add("ALTER USER acct_plain DEFAULT ROLE acct_role", &["SET DEFAULT ROLE NONE TO acct_plain"]);
    let others = ["acct_plain", "acct_system", "acct_system_role", "acct_own_role"];
    list.each(&others, "SET DEFAULT ROLE $1 TO acct_plain", &["SET DEFAULT ROLE NONE TO acct_plain"]);
    list.each(&ROLES, "SET DEFAULT ROLE $1 TO acct_me", &["SET DEFAULT ROLE NONE TO acct_me"]);
    list.each(&ROLES, "ALTER USER acct_me DEFAULT ROLE $1", &["SET DEFAULT ROLE NONE TO acct_me"]);
    list.each(&ROLES, "ALTER USER acct_system DEFAULT ROLE $1", &[]);
    list.add("SET DEFAULT ROLE acct_system_role TO acct_via", &[]);
    list.each(&ROLES, "SET ROLE $1", &["me: SET ROLE NONE"]);
    list.add("SET ROLE ALL", &["me: SET ROLE NONE"]);
    list.add("SET ROLE ALL EXCEPT acct_own_role", &["me: SET ROLE NONE"]);
    list.add("SET ROLE DEFAULT", &["me: SET ROLE NONE"]);
}

fn variables(list: &mut List) {
    for role in ["acct_plain", "acct_system", "acct_via", "acct_role", "acct_system_role", "acct_new"] {
        list.add(&format!("SET GLOBAL mandatory_roles = '{role}'"), &["SET GLOBAL mandatory_roles = DEFAULT"]);
        let undo = ["RESET PERSIST mandatory_roles", "SET GLOBAL mandatory_roles = DEFAULT"];
        list.add(&format!("SET PERSIST mandatory_roles = '{role}'"), &undo);
        list.add(&format!("SET PERSIST_ONLY mandatory_roles = '{role}'"), &["RESET PERSIST mandatory_roles"]);
    }
    list.add("SET GLOBAL mandatory_roles = '`acct_role`@`%`, acct_system_role'", &["SET GLOBAL mandatory_roles = DEFAULT"]);
    list.add("SET GLOBAL mandatory_roles = ''", &[]);
    list.add("SET GLOBAL mandatory_roles = DEFAULT", &[]);
    list.add("SET GLOBAL mandatory_roles = @@mandatory_roles", &[]);
    list.add("SET GLOBAL activate_all_roles_on_login = @@activate_all_roles_on_login", &[]);
    for variable in
        ["wait_timeout", "max_connections", "read_only", "super_read_only", "offline_mode", "init_connect", "sql_mode"]
    {
        list.add(&format!("SET GLOBAL {variable} = @@GLOBAL.{variable}"), &[]);
        list.add(&format!("SET PERSIST {variable} = @@GLOBAL.{variable}"), &[&format!("RESET PERSIST {variable}")]);
    }
    list.add("RESET PERSIST IF EXISTS wait_timeout", &[]);
    list.add("RESET PERSIST", &[]);
    for variable in ["wait_timeout", "sql_mode", "sql_log_off", "pseudo_thread_id", "sql_log_bin", "bulk_insert_buffer_size"] {
        list.add(&format!("SET SESSION {variable} = @@SESSION.{variable}"), &[]);
    }
    list.add("SET GLOBAL TRANSACTION ISOLATION LEVEL REPEATABLE READ", &[]);
}

fn definers(list: &mut List) {
    let named = ["acct_me", "acct_plain", "acct_system", "acct_via", "acct_role", "acct_new"];
    list.each(&named, "CREATE DEFINER = $1 PROCEDURE acct_matrix.p () SELECT 1", &["DROP PROCEDURE acct_matrix.p"]);
    list.each(
        &named,
        "CREATE DEFINER = $1 FUNCTION acct_matrix.f () RETURNS INT DETERMINISTIC RETURN 1",
        &["DROP FUNCTION acct_matrix.f"],
    );
    list.each(&named, "CREATE DEFINER = $1 VIEW acct_matrix.v AS SELECT 1 AS a", &["DROP VIEW acct_matrix.v"]);
    list.each(
        &named,
        "CREATE DEFINER = $1 TRIGGER acct_matrix.r BEFORE INSERT ON acct_matrix.t FOR EACH ROW SET @a = 1",
        &["DROP TRIGGER acct_matrix.r"],
    );
    list.each(
        &named,
        "CREATE DEFINER = $1 EVENT acct_matrix.e ON SCHEDULE AT '2037-01-01' DISABLE DO SELECT 1",
        &["DROP EVENT acct_matrix.e"],
    );
    for definer in DEFINERS {
        let [procedure, view, event, trigger] = make_objects(definer);
        let of = |kind: &str| format!("acct_matrix.{definer}_{kind}");
        let (of_procedure, of_view, of_event, of_trigger) = (of("procedure"), of("view"), of("event"), of("trigger"));
        list.add(&format!("DROP PROCEDURE {of_procedure}"), &[&procedure]);
        list.add(&format!("DROP VIEW {of_view}"), &[&view]);
        list.add(&format!("DROP EVENT {of_event}"), &[&event]);
        list.add(&format!("DROP TRIGGER {of_trigger}"), &[&trigger]);
        list.add(
            &format!("ALTER PROCEDURE {of_procedure} COMMENT 'a'"),
            &[&format!("DROP PROCEDURE {of_procedure}"), &procedure],
        );
        let view_again: &[&str] = &[&format!("DROP VIEW {of_view}"), &view];
        list.add(&format!("ALTER VIEW {of_view} AS SELECT 2 AS a"), view_again);
        list.add(&format!("CREATE OR REPLACE VIEW {of_view} AS SELECT 2 AS a"), view_again);
        list.each(
            &["acct_me", "acct_plain", "acct_system"],
            &format!("ALTER DEFINER = $1 VIEW {of_view} AS SELECT 2 AS a"),
            view_again,
        );
        let event_again: &[&str] = &[&format!("DROP EVENT {of_event}"), &event];
        list.add(&format!("ALTER EVENT {of_event} COMMENT 'a'"), event_again);
        list.each(
            &["acct_me", "acct_plain", "acct_system"],
            &format!("ALTER DEFINER = $1 EVENT {of_event} COMMENT 'a'"),
            event_again,
        );
        list.add(&format!("ALTER EVENT {of_event} RENAME TO acct_matrix.e"), &["DROP EVENT acct_matrix.e", &event]);
        list.add(&format!("RENAME TABLE {of_view} TO acct_matrix.v"), &["DROP VIEW acct_matrix.v", &view]);
        list.add(&format!("CALL {of_procedure}()"), &[]);
        list.add(&format!("SELECT * FROM {of_view}"), &[]);
        list.add(&format!("SHOW CREATE PROCEDURE {of_procedure}"), &[]);
        list.add(&format!("SHOW CREATE VIEW {of_view}"), &[]);
        list.add(&format!("SHOW CREATE EVENT {of_event}"), &[]);
        list.add(&format!("SHOW CREATE TRIGGER {of_trigger}"), &[]);
    }
}

fn administration(list: &mut List) {
    for what in ["PRIVILEGES", "TABLES", "STATUS", "USER_RESOURCES", "OPTIMIZER_COSTS", "LOGS", "ERROR LOGS"] {
        list.add(&format!("FLUSH {what}"), &[]);
    }
    list.add("FLUSH TABLES acct_other.t", &[]);
    list.add("FLUSH TABLES WITH READ LOCK", &["me: UNLOCK TABLES"]);
    list.add("LOCK INSTANCE FOR BACKUP", &["me: UNLOCK INSTANCE"]);
    list.add("SHOW ENGINE INNODB STATUS", &[]);
    list.add("SHOW REPLICAS", &[]);
    list.add("SHOW REPLICA STATUS", &[]);
    list.add("SHOW PROCESSLIST", &[]);
    list.add("SHOW DATABASES", &[]);
    list.add("KILL 4000000000", &[]);
    list.add("SELECT * FROM mysql.user", &[]);
    list.add("SELECT * FROM information_schema.INNODB_TABLES LIMIT 1", &[]);
    list.add("SELECT * FROM performance_schema.threads LIMIT 1", &[]);
}

fn objects(list: &mut List) {
    list.add("CREATE DATABASE acct_new", &["DROP DATABASE acct_new"]);
    list.add("ALTER DATABASE acct_other CHARACTER SET utf8mb4", &[]);
    list.add("DROP DATABASE acct_other", &["CREATE DATABASE acct_other", "CREATE TABLE acct_other.t (a INT)"]);
    list.add("USE acct_other", &["me: USE acct_matrix"]);
    list.add("SELECT * FROM acct_other.t", &[]);
    list.add("INSERT INTO acct_other.t VALUES (1)", &["DELETE FROM acct_other.t"]);
    list.add("UPDATE acct_other.t SET a = 1", &[]);
    list.add("DELETE FROM acct_other.t", &[]);
    list.add("TRUNCATE TABLE acct_other.t", &[]);
    list.add("CREATE TABLE acct_other.u (a INT)", &["DROP TABLE acct_other.u"]);
    list.add("CREATE TEMPORARY TABLE acct_other.u (a INT)", &["me: DROP TEMPORARY TABLE acct_other.u"]);
    list.add("DROP TABLE acct_other.t", &["CREATE TABLE acct_other.t (a INT)"]);
    list.add("ALTER TABLE acct_other.t COMMENT = ''", &[]);
    list.add("CREATE INDEX i ON acct_other.t (a)", &["DROP INDEX i ON acct_other.t"]);
    list.add("RENAME TABLE acct_other.t TO acct_other.u", &["RENAME TABLE acct_other.u TO acct_other.t"]);
    list.add("CREATE VIEW acct_other.v AS SELECT 1", &["DROP VIEW acct_other.v"]);
    list.add("CREATE PROCEDURE acct_other.p () SELECT 1", &["DROP PROCEDURE acct_other.p"]);
    list.add("CREATE EVENT acct_other.e ON SCHEDULE AT '2037-01-01' DISABLE DO SELECT 1", &["DROP EVENT acct_other.e"]);
    list.add("CREATE TRIGGER acct_other.r BEFORE INSERT ON acct_other.t FOR EACH ROW SET @a = 1", &["DROP TRIGGER acct_other.r"]);
    list.add("LOCK TABLES acct_other.t READ", &["me: UNLOCK TABLES"]);
    list.add("SHOW TABLES FROM acct_other", &[]);
    list.add("SHOW COLUMNS FROM acct_other.t", &[]);
    list.add("SHOW CREATE TABLE acct_other.t", &[]);
    list.add("CHECK TABLE acct_other.t", &[]);
    list.add("ANALYZE TABLE acct_other.t", &[]);
}
