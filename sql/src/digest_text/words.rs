//! The words of digest texts: which words are keywords, and which keyword replaces its synonyms.

use crate::keyword::Keyword as K;
use crate::lexer::Token;

/// Words of MySQL 8.4's grammar that are not reserved, sorted.
#[rustfmt::skip]
const UNRESERVED: &[&str] = &[
    "ACCOUNT", "ACTION", "ACTIVE", "ADMIN", "AFTER", "AGAINST", "AGGREGATE", "ALGORITHM", "ALWAYS", "ANY", "ARRAY", "ASCII",
    "ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS", "AT", "ATTRIBUTE", "AUTHENTICATION", "AUTO", "AUTOEXTEND_SIZE", "AUTO_INCREMENT",
    "AVG", "AVG_ROW_LENGTH", "BACKUP", "BEGIN", "BERNOULLI", "BINLOG", "BIT", "BLOCK", "BOOL", "BOOLEAN", "BTREE", "BUCKETS",
    "BULK", "BYTE", "CACHE", "CASCADED", "CATALOG_NAME", "CHAIN", "CHALLENGE_RESPONSE", "CHANGED", "CHANNEL", "CHARSET",
    "CHECKSUM", "CIPHER", "CLASS_ORIGIN", "CLIENT", "CLONE", "CLOSE", "COALESCE", "CODE", "COLLATION", "COLUMNS", "COLUMN_FORMAT",
    "COLUMN_NAME", "COMMENT", "COMMIT", "COMMITTED", "COMPACT", "COMPLETION", "COMPONENT", "COMPRESSED", "COMPRESSION",
    "CONCURRENT", "CONNECTION", "CONSISTENT", "CONSTRAINT_CATALOG", "CONSTRAINT_NAME", "CONSTRAINT_SCHEMA", "CONTAINS", "CONTEXT",
    "CPU", "CURRENT", "CURSOR_NAME", "DATA", "DATAFILE", "DATE", "DATETIME", "DAY", "DEALLOCATE", "DEFAULT_AUTH", "DEFINER",
    "DEFINITION", "DELAY_KEY_WRITE", "DESCRIPTION", "DIAGNOSTICS", "DIRECTORY", "DISABLE", "DISCARD", "DISK", "DO", "DUMPFILE",
    "DUPLICATE", "DYNAMIC", "ENABLE", "ENCRYPTION", "END", "ENDS", "ENFORCED", "ENGINE", "ENGINES", "ENGINE_ATTRIBUTE", "ENUM",
    "ERROR", "ERRORS", "ESCAPE", "EVENT", "EVENTS", "EVERY", "EXCHANGE", "EXCLUDE", "EXECUTE", "EXPANSION", "EXPIRE", "EXPORT",
    "EXTENDED", "EXTENT_SIZE", "FACTOR", "FAILED_LOGIN_ATTEMPTS", "FAST", "FAULTS", "FIELDS", "FILE", "FILES", "FILE_BLOCK_SIZE",
    "FILTER", "FINISH", "FIRST", "FIXED", "FLUSH", "FOLLOWING", "FOLLOWS", "FORMAT", "FOUND", "FULL", "GENERAL", "GENERATE",
    "GEOMCOLLECTION", "GEOMETRY", "GEOMETRYCOLLECTION", "GET_FORMAT", "GET_SOURCE_PUBLIC_KEY", "GLOBAL", "GRANTS",
    "GROUP_REPLICATION", "GTIDS", "GTID_ONLY", "HANDLER", "HASH", "HELP", "HISTOGRAM", "HISTORY", "HOST", "HOSTS", "HOUR",
    "IDENTIFIED", "IGNORE_SERVER_IDS", "IMPORT", "INACTIVE", "INDEXES", "INITIAL", "INITIAL_SIZE", "INITIATE", "INSERT_METHOD",
    "INSTALL", "INSTANCE", "INVISIBLE", "INVOKER", "IO", "IO_THREAD", "IPC", "ISOLATION", "ISSUER", "JSON", "JSON_VALUE",
    "KEYRING", "KEY_BLOCK_SIZE", "LANGUAGE", "LAST", "LEAVES", "LESS", "LEVEL", "LINESTRING", "LIST", "LOCAL", "LOCKED", "LOCKS",
    "LOG", "LOGFILE", "LOGS", "MASTER", "MAX_CONNECTIONS_PER_HOUR", "MAX_QUERIES_PER_HOUR", "MAX_ROWS", "MAX_SIZE",
    "MAX_UPDATES_PER_HOUR", "MAX_USER_CONNECTIONS", "MEDIUM", "MEMBER", "MEMORY", "MERGE", "MESSAGE_TEXT", "MICROSECOND",
    "MIGRATE", "MINUTE", "MIN_ROWS", "MODE", "MODIFY", "MONTH", "MULTILINESTRING", "MULTIPOINT", "MULTIPOLYGON", "MUTEX",
    "MYSQL_ERRNO", "NAME", "NAMES", "NATIONAL", "NCHAR", "NDB", "NDBCLUSTER", "NESTED", "NETWORK_NAMESPACE", "NEVER", "NEW",
    "NEXT", "NO", "NODEGROUP", "NONE", "NOWAIT", "NO_WAIT", "NULLS", "NUMBER", "NVARCHAR", "OFF", "OFFSET", "OJ", "OLD", "ONE",
    "ONLY", "OPEN", "OPTIONAL", "OPTIONS", "ORDINALITY", "ORGANIZATION", "OTHERS", "OWNER", "PACK_KEYS", "PAGE", "PARSER",
    "PARSE_TREE", "PARTIAL", "PARTITIONING", "PARTITIONS", "PASSWORD", "PASSWORD_LOCK_TIME", "PATH", "PERSIST", "PERSIST_ONLY",
    "PHASE", "PLUGIN", "PLUGINS", "PLUGIN_DIR", "POINT", "POLYGON", "PORT", "PRECEDES", "PRECEDING", "PREPARE", "PRESERVE",
    "PREV", "PRIVILEGES", "PRIVILEGE_CHECKS_USER", "PROCESS", "PROCESSLIST", "PROFILE", "PROFILES", "PROXY", "QUARTER", "QUERY",
    "QUICK", "RANDOM", "READ_ONLY", "REBUILD", "RECOVER", "REDO_BUFFER_SIZE", "REDUNDANT", "REFERENCE", "REGISTRATION", "RELAY",
    "RELAYLOG", "RELAY_LOG_FILE", "RELAY_LOG_POS", "RELAY_THREAD", "RELOAD", "REMOVE", "REORGANIZE", "REPAIR", "REPEATABLE",
    "REPLICA", "REPLICAS", "REPLICATE_DO_DB", "REPLICATE_DO_TABLE", "REPLICATE_IGNORE_DB", "REPLICATE_IGNORE_TABLE",
    "REPLICATE_REWRITE_DB", "REPLICATE_WILD_DO_TABLE", "REPLICATE_WILD_IGNORE_TABLE", "REPLICATION", "REQUIRE_ROW_FORMAT",
    "REQUIRE_TABLE_PRIMARY_KEY_CHECK", "RESET", "RESOURCE", "RESPECT", "RESTART", "RESTORE", "RESUME", "RETAIN",
    "RETURNED_SQLSTATE", "RETURNING", "RETURNS", "REUSE", "REVERSE", "ROLE", "ROLLBACK", "ROLLUP", "ROTATE", "ROUTINE",
    "ROW_COUNT", "ROW_FORMAT", "RTREE", "S3", "SAVEPOINT", "SCHEDULE", "SCHEMA_NAME", "SECOND", "SECONDARY", "SECONDARY_ENGINE",
    "SECONDARY_ENGINE_ATTRIBUTE", "SECONDARY_LOAD", "SECONDARY_UNLOAD", "SECURITY", "SERIAL", "SERIALIZABLE", "SERVER", "SESSION",
    "SHARE", "SHUTDOWN", "SIGNED", "SIMPLE", "SKIP", "SLAVE", "SLOW", "SNAPSHOT", "SOCKET", "SOME", "SONAME", "SOUNDS", "SOURCE",
    "SOURCE_AUTO_POSITION", "SOURCE_BIND", "SOURCE_COMPRESSION_ALGORITHMS", "SOURCE_CONNECTION_AUTO_FAILOVER",
    "SOURCE_CONNECT_RETRY", "SOURCE_DELAY", "SOURCE_HEARTBEAT_PERIOD", "SOURCE_HOST", "SOURCE_LOG_FILE", "SOURCE_LOG_POS",
    "SOURCE_PASSWORD", "SOURCE_PORT", "SOURCE_PUBLIC_KEY_PATH", "SOURCE_RETRY_COUNT", "SOURCE_SSL", "SOURCE_SSL_CA",
    "SOURCE_SSL_CAPATH", "SOURCE_SSL_CERT", "SOURCE_SSL_CIPHER", "SOURCE_SSL_CRL", "SOURCE_SSL_CRLPATH", "SOURCE_SSL_KEY",
    "SOURCE_SSL_VERIFY_SERVER_CERT", "SOURCE_TLS_CIPHERSUITES", "SOURCE_TLS_VERSION", "SOURCE_USER",
    "SOURCE_ZSTD_COMPRESSION_LEVEL", "SQL_AFTER_GTIDS", "SQL_AFTER_MTS_GAPS", "SQL_BEFORE_GTIDS", "SQL_BUFFER_RESULT",
    "SQL_NO_CACHE", "SQL_THREAD", "SQL_TSI_DAY", "SQL_TSI_HOUR", "SQL_TSI_MINUTE", "SQL_TSI_MONTH", "SQL_TSI_QUARTER",
    "SQL_TSI_SECOND", "SQL_TSI_WEEK", "SQL_TSI_YEAR", "SRID", "STACKED", "START", "STARTS", "STATS_AUTO_RECALC",
    "STATS_PERSISTENT", "STATS_SAMPLE_PAGES", "STATUS", "STOP", "STORAGE", "STREAM", "STRING", "SUBCLASS_ORIGIN", "SUBJECT",
    "SUBPARTITION", "SUBPARTITIONS", "SUPER", "SUSPEND", "SWAPS", "SWITCHES", "TABLES", "TABLESPACE", "TABLE_CHECKSUM",
    "TABLE_NAME", "TEMPORARY", "TEMPTABLE", "TEXT", "THAN", "THREAD_PRIORITY", "TIES", "TIME", "TIMESTAMP", "TIMESTAMPADD",
    "TIMESTAMPDIFF", "TLS", "TRANSACTION", "TRIGGERS", "TRUNCATE", "TYPE", "TYPES", "UNBOUNDED", "UNCOMMITTED", "UNDEFINED",
    "UNDOFILE", "UNDO_BUFFER_SIZE", "UNICODE", "UNINSTALL", "UNKNOWN", "UNREGISTER", "UNTIL", "UPGRADE", "URI", "URL", "USER",
    "USER_RESOURCES", "USE_FRM", "VALIDATION", "VALUE", "VARIABLES", "VCPU", "VIEW", "VISIBLE", "WAIT", "WARNINGS", "WEEK",
    "WEIGHT_STRING", "WITHOUT", "WORK", "WRAPPER", "X509", "XA", "XID", "XML", "YEAR", "ZONE",
];

/// Function names of the grammar: keywords if a parenthesis follows directly. Sorted.
#[rustfmt::skip]
const FUNCTIONS: &[&str] = &[
    "ADDDATE", "BIT_AND", "BIT_OR", "BIT_XOR", "CAST", "COUNT", "CURDATE", "CURTIME", "DATE_ADD", "DATE_SUB", "EXTRACT",
    "GROUP_CONCAT", "JSON_ARRAYAGG", "JSON_OBJECTAGG", "MAX", "MID", "MIN", "NOW", "POSITION", "SESSION_USER", "STD", "STDDEV",
    "STDDEV_POP", "STDDEV_SAMP", "ST_COLLECT", "SUBDATE", "SUBSTR", "SUBSTRING", "SUM", "SYSDATE", "SYSTEM_USER", "TRIM",
    "VARIANCE", "VAR_POP", "VAR_SAMP",
];

/// Words of optimizer hints, sorted.
#[rustfmt::skip]
const HINTS: &[&str] = &[
    "BKA", "BNL", "DERIVED_CONDITION_PUSHDOWN", "DUPSWEEDOUT", "FIRSTMATCH", "GROUP_INDEX", "HASH_JOIN", "INDEX_MERGE",
    "INTOEXISTS", "JOIN_FIXED_ORDER", "JOIN_INDEX", "JOIN_ORDER", "JOIN_PREFIX", "JOIN_SUFFIX", "LOOSESCAN", "MATERIALIZATION",
    "MAX_EXECUTION_TIME", "MERGE", "MRR", "NO_BKA", "NO_BNL", "NO_DERIVED_CONDITION_PUSHDOWN", "NO_GROUP_INDEX", "NO_HASH_JOIN",
    "NO_ICP", "NO_INDEX", "NO_INDEX_MERGE", "NO_JOIN_INDEX", "NO_MERGE", "NO_MRR", "NO_ORDER_INDEX", "NO_RANGE_OPTIMIZATION",
    "NO_SEMIJOIN", "NO_SKIP_SCAN", "ORDER_INDEX", "QB_NAME", "RESOURCE_GROUP", "SEMIJOIN", "SET_VAR", "SKIP_SCAN", "SUBQUERY",
];

/// After these words a sign belongs to the next number.
#[rustfmt::skip]
pub const BEGIN_VALUES: &[&str] = &[
    "=", "!=", "<", ">", "<=", ">=", "<=>", "||", "&&", "|", "&", "^", "<<", ">>", "%", "/", "*", "+", "-", "(", ",", "DIV", "MOD", "XOR",
    "AND", "OR", "NOT", "SELECT", "ALL", "BETWEEN", "LIKE", "RLIKE", "CASE", "WHEN", "THEN", "ELSE", "DEFAULT", "RETURN", "INTERVAL", "LIMIT",
    "IF", "ELSEIF",
];

/// After these words, too, NULL is a value.
pub const PRECEDE_VALUES: &[&str] =
    &["WHERE", "HAVING", "ON", "BY", "DISTINCTROW", "BINARY", ":=", "!", "~", "DO", "ESCAPE", "SEPARATOR", "KILL", "USING"];

/// Words of the grammar that are no reserved words, in alphabetical order.
pub fn unreserved_words() -> impl Iterator<Item = &'static str> {
    UNRESERVED.iter().copied()
}

/// The non-reserved keyword of this spelling.
pub fn find(word: &[u8], is_function: bool) -> Option<&'static str> {
    let function = || find_in(FUNCTIONS, word);
    find_in(UNRESERVED, word).or_else(|| if is_function { function() } else { None }).map(canonical)
}

/// The word of an optimizer hint.
pub fn hint(word: &[u8]) -> Option<&'static str> {
    find_in(HINTS, word)
}

fn find_in(words: &'static [&'static str], word: &[u8]) -> Option<&'static str> {
    let upper = || word.iter().map(u8::to_ascii_uppercase);
    words.binary_search_by(|known| known.bytes().cmp(upper())).ok().map(|at| words[at])
}

/// The word that replaces its synonyms.
#[rustfmt::skip]
pub fn canonical(word: &'static str) -> &'static str {
    match word {
        "CHAR" => "CHARACTER",
        "CURRENT_DATE" => "CURDATE",
        "CURRENT_TIME" => "CURTIME",
        "DEC" => "DECIMAL",
        "DISTINCT" => "DISTINCTROW",
        "DESCRIBE" => "EXPLAIN",
        "COLUMNS" => "FIELDS",
        "FLOAT" => "FLOAT4",
        "DOUBLE" => "FLOAT8",
        "GEOMCOLLECTION" => "GEOMETRYCOLLECTION",
        "BIGINT" => "INT8",
        "INT" | "INT4" => "INTEGER",
        "INT3" | "MEDIUMINT" => "MIDDLEINT",
        "NDB" => "NDBCLUSTER",
        "CURRENT_TIMESTAMP" | "LOCALTIME" | "LOCALTIMESTAMP" => "NOW",
        "IO_THREAD" => "RELAY_THREAD",
        "REGEXP" => "RLIKE",
        "DATABASE" => "SCHEMA",
        "DATABASES" => "SCHEMAS",
        "INT2" => "SMALLINT",
        "ANY" => "SOME",
        "DAY" => "SQL_TSI_DAY",
        "HOUR" => "SQL_TSI_HOUR",
        "MINUTE" => "SQL_TSI_MINUTE",
        "MONTH" => "SQL_TSI_MONTH",
        "QUARTER" => "SQL_TSI_QUARTER",
        "SECOND" => "SQL_TSI_SECOND",
        "STD" | "STDDEV" => "STDDEV_POP",
        "MID" | "SUBSTR" => "SUBSTRING",
        "SESSION_USER" | "USER" => "SYSTEM_USER",
        "INT1" => "TINYINT",
        "VARCHAR" => "VARCHARACTER",
        "VARIANCE" => "VAR_POP",
        "SQL_TSI_WEEK" => "WEEK",
        "SQL_TSI_YEAR" => "YEAR",
        word => word,
    }
}

/// Does this token end an element of ORDER BY?
pub fn ends_element(next: Token<'_>) -> bool {
    match next {
        Token::End | Token::Semicolon | Token::Comma | Token::RightParen => true,
        Token::Keyword(keyword) => matches!(
            keyword,
            K::Asc
                | K::Desc
                | K::Limit
                | K::Having
                | K::With
                | K::Into
                | K::For
                | K::Lock
                | K::Union
                | K::Except
                | K::Intersect
                | K::Order
                | K::Rows
                | K::Range
                | K::Groups
                | K::Separator
                | K::Window
        ),
        _ => false,
    }
}

/// How a token that is no word, name or value is written.
pub fn operator(token: Token<'_>) -> &'static str {
    match token {
        Token::AtAt => "@@",
        Token::Comma => ",",
        Token::Dot => ".",
        Token::Semicolon => ";",
        Token::Colon => ":",
        Token::LeftBrace => "{",
        Token::RightBrace => "}",
        Token::Equal => "=",
        Token::NotEqual => "!=",
        Token::Less => "<",
        Token::LessOrEqual => "<=",
        Token::Greater => ">",
        Token::GreaterOrEqual => ">=",
        Token::NullSafeEqual => "<=>",
        Token::Assign => ":=",
        Token::Plus => "+",
        Token::Minus => "-",
        Token::Star => "*",
        Token::Slash => "/",
        Token::Percent => "%",
        Token::Caret => "^",
        Token::Tilde => "~",
        Token::Bang => "!",
        Token::Ampersand => "&",
        Token::DoubleAmpersand => "&&",
        Token::Pipe => "|",
        Token::DoublePipe => "||",
        Token::ShiftLeft => "<<",
        Token::ShiftRight => ">>",
        Token::Arrow => "->",
        Token::LongArrow => "->>",
        _ => unreachable!("the caller has the others"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted() {
        for list in [UNRESERVED, FUNCTIONS, HINTS] {
            assert!(list.is_sorted());
        }
    }
}
