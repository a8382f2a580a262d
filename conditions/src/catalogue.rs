//! The rows: see the head of `lib.rs`. They are sorted by number. MySQL leaves the numbers from 50000 on to others: conditions that only
//! Heddle has are there.

rows! {
    CantCreateFile { path, errno, why } = 1, "EE_CANTCREATEFILE", "HY000",
        "Can't create/write to file '{path}' (OS errno {errno} - {why})";
    FileNotFound { path, errno, why } = 2, "EE_READ", "HY000", "Error reading file '{path}' (OS errno {errno} - {why})";
    StatError { path, errno, why } = 13, "EE_STAT", "HY000", "Can't get stat of '{path}' (OS errno {errno} - {why})";
    FileMissing { path, errno, why } = 29, "EE_FILENOTFOUND", "HY000", "File '{path}' not found (OS errno {errno} - {why})";
    ExplainNote { text } = 1003, "ER_YES", "HY000", "{text}";
    DbCreateExists { database } = 1007, "ER_DB_CREATE_EXISTS", "HY000", "Can't create database '{database}'; database exists";
    DbDropExists { database } = 1008, "ER_DB_DROP_EXISTS", "HY000", "Can't drop database '{database}'; database doesn't exist";
    DiskFullNow { place } = 1021, "ER_DISK_FULL", "HY000",
        "Disk full ({place}); waiting for someone to free some space... (errno: 28 - No space left on device)";
    ErrorOnWrite { path, why } = 1026, "ER_ERROR_ON_WRITE", "HY000", "Error writing file '{path}' ({why})";
    GetErrno { why } = 1030, "ER_GET_ERRNO", "HY000", "Got error 168 - '{why}' from storage engine";
    KeyNotFound { table } = 1032, "ER_KEY_NOT_FOUND", "HY000", "Can't find record in '{table}'";
    OutOfSortMemory { limit, setting } = 1038, "ER_OUT_OF_SORTMEMORY", "HY001",
        "Out of sort memory ({limit} bytes), consider increasing {setting}";
    ConCountError = 1040, "ER_CON_COUNT_ERROR", "08004", "Too many connections";
    HandshakeError = 1043, "ER_HANDSHAKE_ERROR", "08S01", "Bad handshake";
    DbAccessDeniedError { user, host, database } = 1044, "ER_DBACCESS_DENIED_ERROR", "42000",
        "Access denied for user '{user}'@'{host}' to database '{database}'";
    AccessDeniedError { user, host, using } = 1045, "ER_ACCESS_DENIED_ERROR", "28000",
        "Access denied for user '{user}'@'{host}' (using password: {using})";
    NoDbError = 1046, "ER_NO_DB_ERROR", "3D000", "No database selected";
    UnknownComError = 1047, "ER_UNKNOWN_COM_ERROR", "08S01", "Unknown command";
    BadNullError { column } = 1048, "ER_BAD_NULL_ERROR", "23000", "Column '{column}' cannot be null";
    BadDbError { name } = 1049, "ER_BAD_DB_ERROR", "42000", "Unknown database '{name}'";
    TableExistsError { table } = 1050, "ER_TABLE_EXISTS_ERROR", "42S01", "Table '{table}' already exists";
    BadTableError { table } = 1051, "ER_BAD_TABLE_ERROR", "42S02", "Unknown table '{table}'";
    NonUniqError { column, clause } = 1052, "ER_NON_UNIQ_ERROR", "23000", "Column '{column}' in {clause} is ambiguous";
    ServerShutdown = 1053, "ER_SERVER_SHUTDOWN", "08S01", "Server shutdown in progress";
    BadFieldError { column, clause } = 1054, "ER_BAD_FIELD_ERROR", "42S22", "Unknown column '{column}' in '{clause}'";
    WrongFieldWithGroup { expression, place, column } = 1055, "ER_WRONG_FIELD_WITH_GROUP", "42000",
        "Expression #{expression} of {place} is not in GROUP BY clause and contains nonaggregated column '{column}' which is \
         not functionally dependent on columns in GROUP BY clause; this is incompatible with sql_mode=only_full_group_by";
    WrongGroupField { name } = 1056, "ER_WRONG_GROUP_FIELD", "42000", "Can't group on '{name}'";
    TooLongIdent { name } = 1059, "ER_TOO_LONG_IDENT", "42000", "Identifier name '{name}' is too long";
    DupFieldName { name } = 1060, "ER_DUP_FIELDNAME", "42S21", "Duplicate column name '{name}'";
    DupKeyName { index } = 1061, "ER_DUP_KEYNAME", "42000", "Duplicate key name '{index}'";
    DupEntry { value, key } = 1062, "ER_DUP_ENTRY", "23000", "Duplicate entry '{value}' for key '{key}'";
    DupEntryAutoincrement { value, key } = 1062, "ER_DUP_ENTRY", "23000",
        "ALTER TABLE causes auto_increment resequencing, resulting in duplicate entry '{value}' for key '{key}'";
    WrongFieldSpec { name } = 1063, "ER_WRONG_FIELD_SPEC", "42000", "Incorrect column specifier for column '{name}'";
    ParseError { near, line } = 1064, "ER_PARSE_ERROR", "42000",
        "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right \
         syntax to use near '{near}' at line {line}";
    ParseErrorNonInteger { name, near, line } = 1064, "ER_PARSE_ERROR", "42000",
        "The variable \"{name}\" has a non-integer based type near '{near}' at line {line}";
    PartitionColumnLists = 1064, "ER_PARSE_ERROR", "42000", "Inconsistency in usage of column lists for partitioning";
    PartitionMaxvalueInList = 1064, "ER_PARSE_ERROR", "42000", "Cannot use MAXVALUE as value in VALUES IN";
    PartitionRequiresValues { kind, values } = 1064, "ER_PARSE_ERROR", "42000",
        "Syntax error: {kind} PARTITIONING requires definition of VALUES {values} for each partition";
    PartitionRowOfOneField = 1064, "ER_PARSE_ERROR", "42000",
        "Row expressions in VALUES IN only allowed for multi-field column partitioning";
    PartitionUnknownAlgorithm = 1064, "ER_PARSE_ERROR", "42000", "Unknown ALGORITHM of PARTITION BY KEY";
    PartitionWrongNumber = 1064, "ER_PARSE_ERROR", "42000",
        "Wrong number of partitions defined, mismatch with previous setting";
    SubpartitionWrongNumber = 1064, "ER_PARSE_ERROR", "42000",
        "Wrong number of subpartitions defined, mismatch with previous setting";
    FullTextSyntax { what } = 1064, "ER_PARSE_ERROR", "42000", "{what}";
    EmptyQuery = 1065, "ER_EMPTY_QUERY", "42000", "Query was empty";
    NonUniqTable { table } = 1066, "ER_NONUNIQ_TABLE", "42000", "Not unique table/alias: '{table}'";
    InvalidDefault { name } = 1067, "ER_INVALID_DEFAULT", "42000", "Invalid default value for '{name}'";
    MultiplePriKey = 1068, "ER_MULTIPLE_PRI_KEY", "42000", "Multiple primary key defined";
    TooManyKeys { max } = 1069, "ER_TOO_MANY_KEYS", "42000", "Too many keys specified; max {max} keys allowed";
    TooManyKeyParts { max } = 1070, "ER_TOO_MANY_KEY_PARTS", "42000", "Too many key parts specified; max {max} parts allowed";
    TooLongKey { max } = 1071, "ER_TOO_LONG_KEY", "42000", "Specified key was too long; max key length is {max} bytes";
    KeyColumnDoesNotExist { name } = 1072, "ER_KEY_COLUMN_DOES_NOT_EXITS", "42000",
        "Key column '{name}' doesn't exist in table";
    TooBigFieldLength { column, max } = 1074, "ER_TOO_BIG_FIELDLENGTH", "42000",
        "Column length too big for column '{column}' (max = {max}); use BLOB or TEXT instead";
    WrongAutoKey = 1075, "ER_WRONG_AUTO_KEY", "42000",
        "Incorrect table definition; there can be only one auto column and it must be defined as a key";
    WrongFieldTerminators = 1083, "ER_WRONG_FIELD_TERMINATORS", "42000",
        "Field separator argument is not what is expected; check the manual";
    BlobsAndNoTerminated = 1084, "ER_BLOBS_AND_NO_TERMINATED", "42000",
        "You can't use fixed rowlength with BLOBs; please use 'fields terminated by'";
    TextFileNotReadable { path } = 1085, "ER_TEXTFILE_NOT_READABLE", "HY000",
        "The file '{path}' must be in the database directory or be readable by all";
    FileExistsError { path } = 1086, "ER_FILE_EXISTS_ERROR", "HY000", "File '{path}' already exists";
    WrongSubKey = 1089, "ER_WRONG_SUB_KEY", "HY000",
        "Incorrect prefix key; the used key part isn't a string, the used length is longer than the key part, or the storage \
         engine doesn't support unique prefix keys";
    CantRemoveAllFields = 1090, "ER_CANT_REMOVE_ALL_FIELDS", "42000",
        "You can't delete all columns with ALTER TABLE; use DROP TABLE instead";
    CantDropFieldOrKey { name } = 1091, "ER_CANT_DROP_FIELD_OR_KEY", "42000",
        "Can't DROP '{name}'; check that column/key exists";
    UpdateTableUsed { name } = 1093, "ER_UPDATE_TABLE_USED", "HY000",
        "You can't specify target table '{name}' for update in FROM clause";
    NoSuchThread { id } = 1094, "ER_NO_SUCH_THREAD", "HY000", "Unknown thread id: {id}";
    KillDeniedError { id } = 1095, "ER_KILL_DENIED_ERROR", "HY000", "You are not owner of thread {id}";
    NoTablesUsed = 1096, "ER_NO_TABLES_USED", "HY000", "No tables used";
    TableNotLockedForWrite { table } = 1099, "ER_TABLE_NOT_LOCKED_FOR_WRITE", "HY000",
        "Table '{table}' was locked with a READ lock and can't be updated";
    TableNotLocked { table } = 1100, "ER_TABLE_NOT_LOCKED", "HY000", "Table '{table}' was not locked with LOCK TABLES";
    BlobCantHaveDefault { column } = 1101, "ER_BLOB_CANT_HAVE_DEFAULT", "42000",
        "BLOB, TEXT, GEOMETRY or JSON column '{column}' can't have a default value";
    WrongDbName { name } = 1102, "ER_WRONG_DB_NAME", "42000", "Incorrect database name '{name}'";
    WrongTableName { name } = 1103, "ER_WRONG_TABLE_NAME", "42000", "Incorrect table name '{name}'";
    TooBigSelect = 1104, "ER_TOO_BIG_SELECT", "42000",
        "The SELECT would examine more than MAX_JOIN_SIZE rows; check your WHERE and use SET SQL_BIG_SELECTS=1 or SET MAX_JOIN_SIZE=# if \
         the SELECT is okay";
    CastedNegativeInteger = 1105, "ER_UNKNOWN_ERROR", "HY000",
        "Cast to unsigned converted negative integer to its positive complement";
    UnknownError { message } = 1105, "ER_UNKNOWN_ERROR", "HY000", "{message}";
    UnknownTable { table, clause } = 1109, "ER_UNKNOWN_TABLE", "42S02", "Unknown table '{table}' in {clause}";
    FieldSpecifiedTwice { name } = 1110, "ER_FIELD_SPECIFIED_TWICE", "42000", "Column '{name}' specified twice";
    InvalidGroupFuncUse = 1111, "ER_INVALID_GROUP_FUNC_USE", "HY000", "Invalid use of group function";
    RecordFileFull { table } = 1114, "ER_RECORD_FILE_FULL", "HY000", "The table '{table}' is full";
    TemporarySpaceFull { limit } = 1114, "ER_RECORD_FILE_FULL", "HY000",
        "The table 'temporary files' is full: heddle_temporary_space_max is {limit}";
    TooManyStagedRows = 1114, "ER_RECORD_FILE_FULL", "HY000",
        "The table 'mysql' is full: too many rows wait for their accounts; run FLUSH PRIVILEGES";
    UnknownCharacterSet { name } = 1115, "ER_UNKNOWN_CHARACTER_SET", "42000", "Unknown character set: '{name}'";
    TooManyTables = 1116, "ER_TOO_MANY_TABLES", "HY000", "Too many tables; MySQL can only use 61 tables in a join";
    TooManyFields = 1117, "ER_TOO_MANY_FIELDS", "HY000", "Too many columns";
    TooBigRowSize { max } = 1118, "ER_TOO_BIG_ROWSIZE", "42000",
        "Row size too large. The maximum row size for the used table type, not counting BLOBs, is {max}. This includes \
         storage overhead, check the manual. You have to change some columns to TEXT or BLOBs";
    FunctionNotDefined { name } = 1128, "ER_FUNCTION_NOT_DEFINED", "HY000", "Function '{name}' is not defined";
    HostIsBlocked { host } = 1129, "ER_HOST_IS_BLOCKED", "HY000",
        "Host '{host}' is blocked because of many connection errors; unblock with 'mysqladmin flush-hosts'";
    PasswordNoMatch = 1133, "ER_PASSWORD_NO_MATCH", "42000", "Can't find any matching row in the user table";
    CantCreateThread { errno } = 1135, "ER_CANT_CREATE_THREAD", "HY000",
        "Can't create a new thread (errno {errno}); if you are not out of available memory, you can consult the manual for a \
         possible OS-dependent bug";
    WrongValueCountOnRow { row } = 1136, "ER_WRONG_VALUE_COUNT_ON_ROW", "21S01",
        "Column count doesn't match value count at row {row}";
    InvalidUseOfNull = 1138, "ER_INVALID_USE_OF_NULL", "22004", "Invalid use of NULL value";
    MixOfGroupFuncAndFields { expression, column } = 1140, "ER_MIX_OF_GROUP_FUNC_AND_FIELDS", "42000",
        "In aggregated query without GROUP BY, expression #{expression} of SELECT list contains nonaggregated column \
         '{column}'; this is incompatible with sql_mode=only_full_group_by";
    NonexistingGrant { user, host } = 1141, "ER_NONEXISTING_GRANT", "42000",
        "There is no such grant defined for user '{user}' on host '{host}'";
    TableAccessDeniedError { command, user, host, table } = 1142, "ER_TABLEACCESS_DENIED_ERROR", "42000",
        "{command} command denied to user '{user}'@'{host}' for table '{table}'";
    ColumnAccessDeniedError { command, user, host, column, table } = 1143, "ER_COLUMNACCESS_DENIED_ERROR", "42000",
        "{command} command denied to user '{user}'@'{host}' for column '{column}' in table '{table}'";
    IllegalGrantForTable = 1144, "ER_ILLEGAL_GRANT_FOR_TABLE", "42000",
        "Illegal GRANT/REVOKE command; please consult the manual to see which privileges can be used";
    NoSuchTable { database, table } = 1146, "ER_NO_SUCH_TABLE", "42S02", "Table '{database}.{table}' doesn't exist";
    NonexistingTableGrant { user, host, table } = 1147, "ER_NONEXISTING_TABLE_GRANT", "42000",
        "There is no such grant defined for user '{user}' on host '{host}' on table '{table}'";
    SyntaxError = 1149, "ER_SYNTAX_ERROR", "42000",
        "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right \
         syntax to use";
    NetPacketTooLarge = 1153, "ER_NET_PACKET_TOO_LARGE", "08S01", "Got a packet bigger than 'max_allowed_packet' bytes";
    NetPacketsOutOfOrder = 1156, "ER_NET_PACKETS_OUT_OF_ORDER", "08S01", "Got packets out of order";
    NetUncompressError = 1157, "ER_NET_UNCOMPRESS_ERROR", "08S01", "Couldn't uncompress communication packet";
    NetReadInterrupted = 1159, "ER_NET_READ_INTERRUPTED", "08S01", "Got timeout reading communication packets";
    WrongColumnName { name } = 1166, "ER_WRONG_COLUMN_NAME", "42000", "Incorrect column name '{name}'";
    BlobKeyWithoutLength { column } = 1170, "ER_BLOB_KEY_WITHOUT_LENGTH", "42000",
        "BLOB/TEXT column '{column}' used in key specification without a key length";
    PrimaryCantHaveNull = 1171, "ER_PRIMARY_CANT_HAVE_NULL", "42000",
        "All parts of a PRIMARY KEY must be NOT NULL; if you need NULL in a key, use UNIQUE instead";
    TooManyRows = 1172, "ER_TOO_MANY_ROWS", "42000", "Result consisted of more than one row";
    UpdateWithoutKeyInSafeMode = 1175, "ER_UPDATE_WITHOUT_KEY_IN_SAFE_MODE", "HY000",
        "You are using safe update mode and you tried to update a table without a WHERE that uses a KEY column. ";
    KeyDoesNotExist { key, table } = 1176, "ER_KEY_DOES_NOT_EXITS", "42000", "Key '{key}' doesn't exist in table '{table}'";
    CheckNoSuchTable = 1177, "ER_CHECK_NO_SUCH_TABLE", "42000", "Can't open table";
    CheckNotImplemented { what } = 1178, "ER_CHECK_NOT_IMPLEMENTED", "42000", "The storage engine for the table doesn't support {what}";
    ErrorDuringRollback { error } = 1181, "ER_ERROR_DURING_ROLLBACK", "HY000",
        "Got error '{error}' during ROLLBACK; the whole transaction is rolled back";
    NewAbortingConnection { id, database, user, host } = 1184, "ER_NEW_ABORTING_CONNECTION", "08S01",
        "Aborted connection {id} to db: '{database}' user: '{user}' host: '{host}' (init_connect command failed)";
    FtMatchingKeyNotFound = 1191, "ER_FT_MATCHING_KEY_NOT_FOUND", "HY000", "Can't find FULLTEXT index matching the column list";
    LockOrActiveTransaction = 1192, "ER_LOCK_OR_ACTIVE_TRANSACTION", "HY000",
        "Can't execute the given command because you have active locked tables or an active transaction";
    UnknownSystemVariable { name } = 1193, "ER_UNKNOWN_SYSTEM_VARIABLE", "HY000", "Unknown system variable '{name}'";
    BadReplica = 1200, "ER_BAD_REPLICA", "HY000",
        "The server is not configured as replica; fix in config file or with CHANGE REPLICATION SOURCE TO";
    TooManyUserConnections { user } = 1203, "ER_TOO_MANY_USER_CONNECTIONS", "42000",
        "User {user} already has more than 'max_user_connections' active connections";
    LockWaitTimeout = 1205, "ER_LOCK_WAIT_TIMEOUT", "HY000", "Lock wait timeout exceeded; try restarting transaction";
    WrongArguments { what } = 1210, "ER_WRONG_ARGUMENTS", "HY000", "Incorrect arguments to {what}";
    LockDeadlock = 1213, "ER_LOCK_DEADLOCK", "40001", "Deadlock found when trying to get lock; try restarting transaction";
    TableCannotHandleFulltext = 1214, "ER_TABLE_CANT_HANDLE_FT", "HY000", "The used table type doesn't support FULLTEXT indexes";
    CannotAddForeign = 1215, "ER_CANNOT_ADD_FOREIGN", "HY000", "Cannot add foreign key constraint";
    ErrorWhenExecutingCommand { command, why } = 1220, "ER_ERROR_WHEN_EXECUTING_COMMAND", "HY000", "Error when executing command {command}: {why}";
    WrongUsage { first, second } = 1221, "ER_WRONG_USAGE", "HY000", "Incorrect usage of {first} and {second}";
    WrongNumberOfColumnsInSelect = 1222, "ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT", "21000",
        "The used SELECT statements have a different number of columns";
    CantUpdateWithReadLock = 1223, "ER_CANT_UPDATE_WITH_READLOCK", "HY000",
        "Can't execute the query because you have a conflicting read lock";
    UserLimitReached { user, resource, limit } = 1226, "ER_USER_LIMIT_REACHED", "42000",
        "User '{user}' has exceeded the '{resource}' resource (current value: {limit})";
    SpecificAccessDeniedError { privileges } = 1227, "ER_SPECIFIC_ACCESS_DENIED_ERROR", "42000",
        "Access denied; you need (at least one of) the {privileges} privilege(s) for this operation";
    LocalVariable { name } = 1228, "ER_LOCAL_VARIABLE", "HY000",
        "Variable '{name}' is a SESSION variable and can't be used with SET GLOBAL";
    GlobalVariable { name } = 1229, "ER_GLOBAL_VARIABLE", "HY000",
        "Variable '{name}' is a GLOBAL variable and should be set with SET GLOBAL";
    WrongValueForVar { name, value } = 1231, "ER_WRONG_VALUE_FOR_VAR", "42000",
        "Variable '{name}' can't be set to the value of '{value}'";
    WrongTypeForVar { name } = 1232, "ER_WRONG_TYPE_FOR_VAR", "42000", "Incorrect argument type to variable '{name}'";
    CantUseOptionHere { option } = 1234, "ER_CANT_USE_OPTION_HERE", "42000", "Incorrect usage/placement of '{option}'";
    NotSupportedYet { what } = 1235, "ER_NOT_SUPPORTED_YET", "42000", "This version of Heddle doesn't yet support '{what}'";
    // What MySQL does not either.
    NotSupportedByMysql { what } = 1235, "ER_NOT_SUPPORTED_YET", "42000", "This version of MySQL doesn't yet support '{what}'";
    SysObjectKept { name } = 1235, "ER_NOT_SUPPORTED_YET", "42000",
        "The server defines what is in sys itself: the statement on {name} was left out";
    SystemTableKept { table } = 1235, "ER_NOT_SUPPORTED_YET", "42000",
        "The server makes the table {table} itself: it stays as it is";
    SystemTableRowsLeftOut { rows, table } = 1235, "ER_NOT_SUPPORTED_YET", "42000",
        "{rows} rows for {table} were left out: the server makes this table itself";
    SourceFatalErrorReadingBinlog { why } = 1236, "ER_SOURCE_FATAL_ERROR_READING_BINLOG", "HY000", "{why}";
    IncorrectGlobalLocalVar { name, kind } = 1238, "ER_INCORRECT_GLOBAL_LOCAL_VAR", "HY000",
        "Variable '{name}' is a {kind} variable";
    WrongFkDef { name } = 1239, "ER_WRONG_FK_DEF", "42000",
        "Incorrect foreign key definition for '{name}': Key reference and table reference don't match";
    OperandColumns { count } = 1241, "ER_OPERAND_COLUMNS", "21000", "Operand should contain {count} column(s)";
    SubqueryNo1Row = 1242, "ER_SUBQUERY_NO_1_ROW", "21000", "Subquery returns more than 1 row";
    UnknownStmtHandler { handler, given_to } = 1243, "ER_UNKNOWN_STMT_HANDLER", "HY000",
        "Unknown prepared statement handler ({handler}) given to {given_to}";
    AutoConvert { column, from, to } = 1246, "ER_AUTO_CONVERT", "HY000", "Converting column '{column}' from {from} to {to}";
    DerivedMustHaveAlias = 1248, "ER_DERIVED_MUST_HAVE_ALIAS", "42000", "Every derived table must have its own alias";
    TableNameNotAllowedHere { table } = 1250, "ER_TABLENAME_NOT_ALLOWED_HERE", "42000",
        "Table '{table}' from one of the SELECTs cannot be used in global ORDER clause";
    NotSupportedAuthMode = 1251, "ER_NOT_SUPPORTED_AUTH_MODE", "08004",
        "Client does not support authentication protocol requested by server; consider upgrading MySQL client";
    SpatialCantHaveNull = 1252, "ER_SPATIAL_CANT_HAVE_NULL", "42000", "All parts of a SPATIAL index must be NOT NULL";
    CollationCharsetMismatch { collation, charset } = 1253, "ER_COLLATION_CHARSET_MISMATCH", "42000",
        "COLLATION '{collation}' is not valid for CHARACTER SET '{charset}'";
    ZlibNotEnoughMemory { max } = 1256, "ER_TOO_BIG_FOR_UNCOMPRESS", "HY000",
        "Uncompressed data size too large; the maximum size is {max} (probably, length of uncompressed data was corrupted)";
    ZlibBufferTooSmall = 1258, "ER_ZLIB_Z_BUF_ERROR", "HY000",
        "ZLIB: Not enough room in the output buffer (probably, length of uncompressed data was corrupted)";
    ZlibDataError = 1259, "ER_ZLIB_Z_DATA_ERROR", "HY000", "ZLIB: Input data corrupted";
    CutValueGroupConcat { row } = 1260, "ER_CUT_VALUE_GROUP_CONCAT", "HY000", "Row {row} was cut by GROUP_CONCAT()";
    WarnTooFewRecords { row } = 1261, "ER_WARN_TOO_FEW_RECORDS", "01000", "Row {row} doesn't contain data for all columns";
    WarnTooManyRecords { row } = 1262, "ER_WARN_TOO_MANY_RECORDS", "01000",
        "Row {row} was truncated; it contained more data than there were input columns";
    WarnNullToNotNull { column, row } = 1263, "ER_WARN_NULL_TO_NOTNULL", "22004",
        "Column set to default value; NULL supplied to NOT NULL column '{column}' at row {row}";
    WarnDataOutOfRange { column, row } = 1264, "ER_WARN_DATA_OUT_OF_RANGE", "22003",
        "Out of range value for column '{column}' at row {row}";
    WarnDataTruncated { column, row } = 1265, "WARN_DATA_TRUNCATED", "01000",
        "Data truncated for column '{column}' at row {row}";
    CantAggregate2Collations { first, second, operation } = 1267, "ER_CANT_AGGREGATE_2COLLATIONS", "HY000",
        "Illegal mix of collations {first} and {second} for operation '{operation}'";
    RevokeGrants = 1269, "ER_REVOKE_GRANTS", "HY000", "Can't revoke all privileges for one or more of the requested users";
    CantAggregate3Collations { first, second, third, operation } = 1270, "ER_CANT_AGGREGATE_3COLLATIONS", "HY000",
        "Illegal mix of collations {first}, {second}, {third} for operation '{operation}'";
    CantAggregateCollations { operation } = 1271, "ER_CANT_AGGREGATE_NCOLLATIONS", "HY000",
        "Illegal mix of collations for operation '{operation}'";
    UnknownCollation { name } = 1273, "ER_UNKNOWN_COLLATION", "HY000", "Unknown collation: '{name}'";
    WrongNameForIndex { index } = 1280, "ER_WRONG_NAME_FOR_INDEX", "42000", "Incorrect index name '{index}'";
    BadFulltextColumn { column } = 1283, "ER_BAD_FT_COLUMN", "HY000", "Column '{column}' cannot be part of FULLTEXT index";
    UnknownStorageEngine { name } = 1286, "ER_UNKNOWN_STORAGE_ENGINE", "42000", "Unknown storage engine '{name}'";
    WarnDeprecatedSyntax { what, instead } = 1287, "ER_WARN_DEPRECATED_SYNTAX", "HY000",
        "'{what}' is deprecated and will be removed in a future release. Please use {instead} instead";
    WarnDeprecatedAssignment = 1287, "ER_WARN_DEPRECATED_SYNTAX", "HY000",
        "Setting user variables within expressions is deprecated and will be removed in a future release. Consider alternatives: \
         'SET variable=expression, ...', or 'SELECT expression(s) INTO variables(s)'.";
    WarnDeprecatedCalcFoundRows = 1287, "ER_WARN_DEPRECATED_SYNTAX", "HY000",
        "SQL_CALC_FOUND_ROWS is deprecated and will be removed in a future release. Consider using two separate queries instead.";
    WarnDeprecatedFoundRows = 1287, "ER_WARN_DEPRECATED_SYNTAX", "HY000",
        "FOUND_ROWS() is deprecated and will be removed in a future release. Consider using COUNT(*) instead.";
    NonUpdatableTable { table, statement } = 1288, "ER_NON_UPDATABLE_TABLE", "HY000",
        "The target table {table} of the {statement} is not updatable";
    OptionPreventsStatement { option } = 1290, "ER_OPTION_PREVENTS_STATEMENT", "HY000",
        "The MySQL server is running with the {option} option so it cannot execute this statement";
    DuplicatedValueInType { column, value, kind } = 1291, "ER_DUPLICATED_VALUE_IN_TYPE", "HY000",
        "Column '{column}' has duplicated value '{value}' in {kind}";
    TruncatedWrongTemporalForField { kind, value, column, row } = 1292, "ER_TRUNCATED_WRONG_VALUE", "22007",
        "Incorrect {kind} value: '{value}' for column '{column}' at row {row}";
    TruncatedWrongValue { kind, value } = 1292, "ER_TRUNCATED_WRONG_VALUE", "22007",
        "Truncated incorrect {kind} value: '{value}'";
    WrongParameterValue { kind, parameter } = 1292, "ER_TRUNCATED_WRONG_VALUE", "22007",
        "Incorrect {kind} value for parameter {parameter}";
    WrongTemporalValue { kind, value } = 1292, "ER_TRUNCATED_WRONG_VALUE", "22007", "Incorrect {kind} value: '{value}'";
    InvalidOnUpdate { column } = 1294, "ER_INVALID_ON_UPDATE", "HY000", "Invalid ON UPDATE clause for '{column}' column";
    UnsupportedPs = 1295, "ER_UNSUPPORTED_PS", "HY000", "This command is not supported in the prepared statement protocol yet";
    UnknownTimeZone { name } = 1298, "ER_UNKNOWN_TIME_ZONE", "HY000", "Unknown or incorrect time zone: '{name}'";
    WarnInvalidTimestamp { column, row } = 1299, "ER_WARN_INVALID_TIMESTAMP", "HY000",
        "Invalid TIMESTAMP value in column '{column}' at row {row}";
    InvalidCharacterString { charset, value } = 1300, "ER_INVALID_CHARACTER_STRING", "HY000",
        "Invalid {charset} character string: '{value}'";
    WarnAllowedPacketOverflowed { function, limit } = 1301, "ER_WARN_ALLOWED_PACKET_OVERFLOWED", "HY000",
        "Result of {function}() was larger than max_allowed_packet ({limit}) - truncated";
    SpNoRecursiveCreate { what } = 1303, "ER_SP_NO_RECURSIVE_CREATE", "2F003",
        "Can't create a {what} from within another stored routine";
    SpAlreadyExists { kind, name } = 1304, "ER_SP_ALREADY_EXISTS", "42000", "{kind} {name} already exists";
    SpDoesNotExist { kind, name } = 1305, "ER_SP_DOES_NOT_EXIST", "42000", "{kind} {name} does not exist";
    SpLabelNotFound { what, label } = 1308, "ER_SP_LILABEL_MISMATCH", "42000", "{what} with no matching label: {label}";
    SpLabelRedefine { label } = 1309, "ER_SP_LABEL_REDEFINE", "42000", "Redefining label {label}";
    SpLabelMismatch { label } = 1310, "ER_SP_LABEL_MISMATCH", "42000", "End-label {label} without match";
    SpBadSelect { name } = 1312, "ER_SP_BADSELECT", "0A000", "PROCEDURE {name} can't return a result set in the given context";
    SpBadReturn = 1313, "ER_SP_BADRETURN", "42000", "RETURN is only allowed in a FUNCTION";
    SpBadStatement { what } = 1314, "ER_SP_BADSTATEMENT", "0A000", "{what} is not allowed in stored procedures";
    QueryInterrupted = 1317, "ER_QUERY_INTERRUPTED", "70100", "Query execution was interrupted";
    SpWrongNoOfArgs { kind, name, expected, got } = 1318, "ER_SP_WRONG_NO_OF_ARGS", "42000",
        "Incorrect number of arguments for {kind} {name}; expected {expected}, got {got}";
    SpConditionMismatch { name } = 1319, "ER_SP_COND_MISMATCH", "42000", "Undefined CONDITION: {name}";
    SpNoReturn { name } = 1320, "ER_SP_NORETURN", "42000", "No RETURN found in FUNCTION {name}";
    SpNoReturnEnd { name } = 1321, "ER_SP_NORETURNEND", "2F005", "FUNCTION {name} ended without RETURN";
    SpBadCursorSelect = 1323, "ER_SP_BAD_CURSOR_SELECT", "42000", "Cursor SELECT must not have INTO";
    SpCursorMismatch { name } = 1324, "ER_SP_CURSOR_MISMATCH", "42000", "Undefined CURSOR: {name}";
    SpCursorAlreadyOpen = 1325, "ER_SP_CURSOR_ALREADY_OPEN", "24000", "Cursor is already open";
    SpCursorNotOpen = 1326, "ER_SP_CURSOR_NOT_OPEN", "24000", "Cursor is not open";
    SpUndeclaredVar { name } = 1327, "ER_SP_UNDECLARED_VAR", "42000", "Undeclared variable: {name}";
    SpWrongNoOfFetchArgs = 1328, "ER_SP_WRONG_NO_OF_FETCH_ARGS", "HY000", "Incorrect number of FETCH variables";
    SpFetchNoData = 1329, "ER_SP_FETCH_NO_DATA", "02000", "No data - zero rows fetched, selected, or processed";
    SpDupParam { name } = 1330, "ER_SP_DUP_PARAM", "42000", "Duplicate parameter: {name}";
    SpDupVar { name } = 1331, "ER_SP_DUP_VAR", "42000", "Duplicate variable: {name}";
    SpDupCondition { name } = 1332, "ER_SP_DUP_COND", "42000", "Duplicate condition: {name}";
    SpDupCursor { name } = 1333, "ER_SP_DUP_CURS", "42000", "Duplicate cursor: {name}";
    StmtNotAllowedInSfOrTrg { what } = 1336, "ER_STMT_NOT_ALLOWED_IN_SF_OR_TRG", "0A000",
        "{what} is not allowed in stored function or trigger";
    SpVariableAfterCursor = 1337, "ER_SP_VARCOND_AFTER_CURSHNDLR", "42000",
        "Variable or condition declaration after cursor or handler declaration";
    SpCursorAfterHandler = 1338, "ER_SP_CURSOR_AFTER_HANDLER", "42000", "Cursor declaration after handler declaration";
    SpCaseNotFound = 1339, "ER_SP_CASE_NOT_FOUND", "20000", "Case not found for CASE statement";
    ViewNoExplain = 1345, "ER_VIEW_NO_EXPLAIN", "HY000",
        "EXPLAIN/SHOW can not be issued; lacking privileges for underlying table";
    WrongObject { database, name, kind } = 1347, "ER_WRONG_OBJECT", "HY000", "'{database}.{name}' is not {kind}";
    NonUpdatableColumn { name } = 1348, "ER_NONUPDATEABLE_COLUMN", "HY000", "Column '{name}' is not updatable";
    ViewSelectClause = 1350, "ER_VIEW_SELECT_CLAUSE", "HY000", "View's SELECT contains a 'INTO' clause";
    ViewSelectVariable = 1351, "ER_VIEW_SELECT_VARIABLE", "HY000", "View's SELECT contains a variable or parameter";
    ViewSelectTmptable { table } = 1352, "ER_VIEW_SELECT_TMPTABLE", "HY000", "View's SELECT refers to a temporary table '{table}'";
    ViewWrongList = 1353, "ER_VIEW_WRONG_LIST", "HY000",
        "In definition of view, derived table or common table expression, SELECT list and column names list have different \
         column counts";
    WarnViewMerge = 1354, "ER_WARN_VIEW_MERGE", "HY000",
        "View merge algorithm can't be used here for now (assumed undefined algorithm)";
    ViewInvalid { view } = 1356, "ER_VIEW_INVALID", "HY000",
        "View '{view}' references invalid table(s) or column(s) or function(s) or definer/invoker of view lack rights to use \
         them";
    SpNoDropSp { what } = 1357, "ER_SP_NO_DROP_SP", "HY000", "Can't drop or alter a {what} from within another stored routine";
    TrgAlreadyExists = 1359, "ER_TRG_ALREADY_EXISTS", "HY000", "Trigger already exists";
    TrgDoesNotExist = 1360, "ER_TRG_DOES_NOT_EXIST", "HY000", "Trigger does not exist";
    TrgOnViewOrTempTable { table } = 1361, "ER_TRG_ON_VIEW_OR_TEMP_TABLE", "HY000",
        "Trigger's '{table}' is view or temporary table";
    TrgCantChangeRow { row, timing } = 1362, "ER_TRG_CANT_CHANGE_ROW", "HY000",
        "Updating of {row} row is not allowed in {timing}trigger";
    TrgNoSuchRowInTrg { row, event } = 1363, "ER_TRG_NO_SUCH_ROW_IN_TRG", "HY000",
        "There is no {row} row in on {event} trigger";
    NoDefaultForField { name } = 1364, "ER_NO_DEFAULT_FOR_FIELD", "HY000", "Field '{name}' doesn't have a default value";
    DivisionByZero = 1365, "ER_DIVISION_BY_ZERO", "22012", "Division by 0";
    SystemTableWrongString { table } = 1366, "ER_TRUNCATED_WRONG_VALUE_FOR_FIELD", "HY000",
        "Incorrect string value for a column of mysql.{table}";
    TruncatedWrongValueForField { kind, value, column, row } = 1366, "ER_TRUNCATED_WRONG_VALUE_FOR_FIELD", "HY000",
        "Incorrect {kind} value: '{value}' for column '{column}' at row {row}";
    IllegalValueForType { kind, value } = 1367, "ER_ILLEGAL_VALUE_FOR_TYPE", "22007",
        "Illegal {kind} '{value}' value found during parsing";
    ViewNonUpdatableCheck { view } = 1368, "ER_VIEW_NONUPD_CHECK", "HY000", "CHECK OPTION on non-updatable view '{view}'";
    ViewCheckFailed { view } = 1369, "ER_VIEW_CHECK_FAILED", "HY000", "CHECK OPTION failed '{view}'";
    ProcAccessDeniedError { command, user, host, routine } = 1370, "ER_PROCACCESS_DENIED_ERROR", "42000",
        "{command} command denied to user '{user}'@'{host}' for routine '{routine}'";
    UnknownTargetBinlog = 1373, "ER_UNKNOWN_TARGET_BINLOG", "HY000", "Target log not found in binlog index";
    NoBinaryLogging = 1381, "ER_NO_BINARY_LOGGING", "HY000", "You are not using binary logging";
    PsManyParam = 1390, "ER_PS_MANY_PARAM", "HY000", "Prepared statement contains too many placeholders";
    KeyPart0 { column } = 1391, "ER_KEY_PART_0", "HY000", "Key part '{column}' length cannot be 0";
    ViewMultiupdate { view } = 1393, "ER_VIEW_MULTIUPDATE", "HY000",
        "Can not modify more than one base table through a join view '{view}'";
    ViewNoInsertFieldList { view } = 1394, "ER_VIEW_NO_INSERT_FIELD_LIST", "HY000",
        "Can not insert into join view '{view}' without fields list";
    ViewDeleteMergeView { view } = 1395, "ER_VIEW_DELETE_MERGE_VIEW", "HY000", "Can not delete from join view '{view}'";
    CannotUser { operation, users } = 1396, "ER_CANNOT_USER", "HY000", "Operation {operation} failed for {users}";
    CannotUserMissing { operation, users } = 1396, "ER_CANNOT_USER", "HY000",
        "Operation {operation} failed for {users} (User account does not exist)";
    XaerNota = 1397, "ER_XAER_NOTA", "XAE04", "XAER_NOTA: Unknown XID";
    XaerInval = 1398, "ER_XAER_INVAL", "XAE05", "XAER_INVAL: Invalid arguments (or unsupported command)";
    XaerRmfail { state } = 1399, "ER_XAER_RMFAIL", "XAE07",
        "XAER_RMFAIL: The command cannot be executed when global transaction is in the  {state} state";
    XaerOutside = 1400, "ER_XAER_OUTSIDE", "XAE09", "XAER_OUTSIDE: Some work is done outside global transaction";
    XaerRmerr = 1401, "ER_XAER_RMERR", "XAE03",
        "XAER_RMERR: Fatal error occurred in the transaction branch - check your data for consistency";
    NonexistingProcGrant { user, host, routine } = 1403, "ER_NONEXISTING_PROC_GRANT", "42000",
        "There is no such grant defined for user '{user}' on host '{host}' on routine '{routine}'";
    DataTooLong { column, row } = 1406, "ER_DATA_TOO_LONG", "22001", "Data too long for column '{column}' at row {row}";
    SpBadSqlstate { state } = 1407, "ER_SP_BAD_SQLSTATE", "42000", "Bad SQLSTATE: '{state}'";
    LoadFromFixedSizeRowsToVar = 1409, "ER_LOAD_FROM_FIXED_SIZE_ROWS_TO_VAR", "HY000",
        "Can't load value from file with fixed size rows to variable";
    CantCreateUserWithGrant = 1410, "ER_CANT_CREATE_USER_WITH_GRANT", "42000",
        "You are not allowed to create a user with GRANT";
    WrongValueForType { what, value, function } = 1411, "ER_WRONG_VALUE_FOR_TYPE", "HY000",
        "Incorrect {what} value: '{value}' for function {function}";
    TableDefChanged = 1412, "ER_TABLE_DEF_CHANGED", "HY000", "Table definition has changed, please retry transaction";
    SpDupHandler = 1413, "ER_SP_DUP_HANDLER", "42000", "Duplicate handler declared in the same block";
    SpNotVarArg { number, routine } = 1414, "ER_SP_NOT_VAR_ARG", "42000",
        "OUT or INOUT argument {number} for routine {routine} is not a variable or NEW pseudo-variable in BEFORE trigger";
    SpNoResultSet { place } = 1415, "ER_SP_NO_RETSET", "0A000", "Not allowed to return a result set from a {place}";
    CantCreateGeometryObject = 1416, "ER_CANT_CREATE_GEOMETRY_OBJECT", "22003",
        "Cannot get geometry object from data you send to the GEOMETRY field";
    StmtHasNoOpenCursor { statement_id } = 1421, "ER_STMT_HAS_NO_OPEN_CURSOR", "HY000",
        "The statement ({statement_id}) has no open cursor.";
    CommitNotAllowedInSfOrTrg = 1422, "ER_COMMIT_NOT_ALLOWED_IN_SF_OR_TRG", "HY000",
        "Explicit or implicit commit is not allowed in stored function or trigger.";
    NoDefaultForViewField { view } = 1423, "ER_NO_DEFAULT_FOR_VIEW_FIELD", "HY000",
        "Field of view '{view}' underlying table doesn't have a default value";
    SpNoRecursion = 1424, "ER_SP_NO_RECURSION", "HY000", "Recursive stored functions and triggers are not allowed.";
    TooBigScale { scale, column, max } = 1425, "ER_TOO_BIG_SCALE", "42000",
        "Too big scale {scale} specified for column '{column}'. Maximum is {max}.";
    TooBigPrecision { precision, column, max } = 1426, "ER_TOO_BIG_PRECISION", "42000",
        "Too-big precision {precision} specified for '{column}'. Maximum is {max}.";
    MBiggerThanD { name } = 1427, "ER_M_BIGGER_THAN_D", "42000",
        "For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '{name}').";
    TrgInWrongSchema = 1435, "ER_TRG_IN_WRONG_SCHEMA", "HY000", "Trigger in wrong schema";
    StackOverrunNeedMore { why } = 1436, "ER_STACK_OVERRUN_NEED_MORE", "HY000", "Thread stack overrun: {why}";
    TooBigDisplayWidth { column, max } = 1439, "ER_TOO_BIG_DISPLAYWIDTH", "42000",
        "Display width out of range for column '{column}' (max = {max})";
    XaerDupid = 1440, "ER_XAER_DUPID", "XAE08", "XAER_DUPID: The XID already exists";
    DatetimeFunctionOverflow { what } = 1441, "ER_DATETIME_FUNCTION_OVERFLOW", "22008",
        "Datetime function: {what} field overflow";
    CantUpdateUsedTableInSfOrTrg { table } = 1442, "ER_CANT_UPDATE_USED_TABLE_IN_SF_OR_TRG", "HY000",
        "Can't update table '{table}' in stored function/trigger because it is already used by statement which invoked this \
         stored function/trigger.";
    ViewPreventUpdate { view, statement, table } = 1443, "ER_VIEW_PREVENT_UPDATE", "HY000",
        "The definition of table '{view}' prevents operation {statement} on table '{table}'.";
    PsNoRecursion = 1444, "ER_PS_NO_RECURSION", "HY000",
        "The prepared statement contains a stored routine call that refers to that same statement. It's not allowed to \
         execute a prepared statement in such a recursive manner";
    SpCantSetAutocommit = 1445, "ER_SP_CANT_SET_AUTOCOMMIT", "HY000",
        "Not allowed to set autocommit from a stored function or trigger";
    NoSuchUser { user, host } = 1449, "ER_NO_SUCH_USER", "HY000",
        "The user specified as a definer ('{user}'@'{host}') does not exist";
    ForbidSchemaChange { from, to } = 1450, "ER_FORBID_SCHEMA_CHANGE", "HY000",
        "Changing schema from '{from}' to '{to}' is not allowed.";
    RowIsReferenced2 { constraint } = 1451, "ER_ROW_IS_REFERENCED_2", "23000",
        "Cannot delete or update a parent row: a foreign key constraint fails ({constraint})";
    NoReferencedRow2 { constraint } = 1452, "ER_NO_REFERENCED_ROW_2", "23000",
        "Cannot add or update a child row: a foreign key constraint fails ({constraint})";
    SpBadVarShadow { name } = 1453, "ER_SP_BAD_VAR_SHADOW", "42000", "Variable '{name}' must be quoted with `...`, or renamed";
    SpRecursionLimit { limit, name } = 1456, "ER_SP_RECURSION_LIMIT", "HY000",
        "Recursive limit {limit} (as set by the max_sp_recursion_depth variable) was exceeded for routine {name}";
    SpWrongName { name } = 1458, "ER_SP_WRONG_NAME", "42000", "Incorrect routine name '{name}'";
    MaxPreparedStmtCountReached { limit } = 1461, "ER_MAX_PREPARED_STMT_COUNT_REACHED", "42000",
        "Can't create more than max_prepared_stmt_count statements (current value: {limit})";
    ViewRecursive { view } = 1462, "ER_VIEW_RECURSIVE", "HY000", "{view} contains view recursion";
    NoTriggersOnSystemSchema = 1465, "ER_NO_TRIGGERS_ON_SYSTEM_SCHEMA", "HY000", "Triggers can not be created on system tables";
    AutoIncrementReadFailed = 1467, "ER_AUTOINC_READ_FAILED", "HY000",
        "Failed to read auto-increment value from storage engine";
    WrongStringLength { name, what, most } = 1470, "ER_WRONG_STRING_LENGTH", "HY000",
        "String '{name}' is too long for {what} (should be no longer than {most})";
    NonInsertableTable { name } = 1471, "ER_NON_INSERTABLE_TABLE", "HY000",
        "The target table {name} of the INSERT is not insertable-into";
    TooHighLevelOfNestingForSelect { most } = 1473, "ER_TOO_HIGH_LEVEL_OF_NESTING_FOR_SELECT", "HY000",
        "Too high level of nesting for select (maximum {most})";
    PartitionWrongValuesError { kind, values } = 1480, "ER_PARTITION_WRONG_VALUES_ERROR", "HY000",
        "Only {kind} PARTITIONING can use VALUES {values} in partition definition";
    PartitionMaxvalueError = 1481, "ER_PARTITION_MAXVALUE_ERROR", "HY000",
        "MAXVALUE can only be used in last partition definition";
    WrongExprInPartitionFuncError = 1486, "ER_WRONG_EXPR_IN_PARTITION_FUNC_ERROR", "HY000",
        "Constant, random or timezone-dependent expressions in (sub)partitioning function are not allowed";
    FieldNotFoundPartError = 1488, "ER_FIELD_NOT_FOUND_PART_ERROR", "HY000",
        "Field in list of fields for partition function not found in table";
    PartitionFuncNotAllowedError = 1491, "ER_PARTITION_FUNC_NOT_ALLOWED_ERROR", "HY000",
        "The PARTITION function returns the wrong type";
    PartitionsMustBeDefinedError { kind } = 1492, "ER_PARTITIONS_MUST_BE_DEFINED_ERROR", "HY000",
        "For {kind} partitions each partition must be defined";
    RangeNotIncreasingError = 1493, "ER_RANGE_NOT_INCREASING_ERROR", "HY000",
        "VALUES LESS THAN value must be strictly increasing for each partition";
    MultipleConstantInListPartition = 1495, "ER_MULTIPLE_DEF_CONST_IN_LIST_PART_ERROR", "HY000",
        "Multiple definition of same constant in list partitioning";
    TooManyPartitionsError = 1499, "ER_TOO_MANY_PARTITIONS_ERROR", "HY000",
        "Too many partitions (including subpartitions) were defined";
    SubpartitionError = 1500, "ER_SUBPARTITION_ERROR", "HY000",
        "It is only possible to mix RANGE/LIST partitioning with HASH/KEY partitioning for subpartitioning";
    BlobFieldInPartFuncError = 1502, "ER_BLOB_FIELD_IN_PART_FUNC_ERROR", "HY000",
        "A BLOB field is not allowed in partition function";
    UniqueKeyNeedAllFieldsInPf { key } = 1503, "ER_UNIQUE_KEY_NEED_ALL_FIELDS_IN_PF", "HY000",
        "A {key} must include all columns in the table's partitioning function (prefixed columns are not considered).";
    NoPartsError { what } = 1504, "ER_NO_PARTS_ERROR", "HY000", "Number of {what} = 0 is not an allowed value";
    PartitionMgmtOnNonpartitioned = 1505, "ER_PARTITION_MGMT_ON_NONPARTITIONED", "HY000",
        "Partition management on a not partitioned table is not possible";
    ForeignKeyOnPartitioned = 1506, "ER_FOREIGN_KEY_ON_PARTITIONED", "HY000",
        "Foreign keys are not yet supported in conjunction with partitioning";
    DropPartitionNonExistent { action } = 1507, "ER_DROP_PARTITION_NON_EXISTENT", "HY000",
        "Error in list of partitions to {action}";
    DropLastPartition = 1508, "ER_DROP_LAST_PARTITION", "HY000", "Cannot remove all partitions, use DROP TABLE instead";
    CoalesceOnlyOnHashPartition = 1509, "ER_COALESCE_ONLY_ON_HASH_PARTITION", "HY000",
        "COALESCE PARTITION can only be used on HASH/KEY partitions";
    ReorgHashOnlyOnSameNo = 1510, "ER_REORG_HASH_ONLY_ON_SAME_NO", "HY000",
        "REORGANIZE PARTITION can only be used to reorganize partitions not to change their numbers";
    ReorgNoParamError = 1511, "ER_REORG_NO_PARAM_ERROR", "HY000",
        "REORGANIZE PARTITION without parameters can only be used on auto-partitioned tables using HASH PARTITIONs";
    OnlyOnRangeListPartition { action } = 1512, "ER_ONLY_ON_RANGE_LIST_PARTITION", "HY000",
        "{action} PARTITION can only be used on RANGE/LIST partitions";
    AddPartitionSubpartError = 1513, "ER_ADD_PARTITION_SUBPART_ERROR", "HY000",
        "Trying to Add partition(s) with wrong number of subpartitions";
    AddPartitionNoNewPartition = 1514, "ER_ADD_PARTITION_NO_NEW_PARTITION", "HY000", "At least one partition must be added";
    CoalescePartitionNoPartition = 1515, "ER_COALESCE_PARTITION_NO_PARTITION", "HY000",
        "At least one partition must be coalesced";
    ReorgPartitionNotExist = 1516, "ER_REORG_PARTITION_NOT_EXIST", "HY000",
        "More partitions to reorganize than there are partitions";
    SameNamePartition { name } = 1517, "ER_SAME_NAME_PARTITION", "HY000", "Duplicate partition name {name}";
    ConsecutiveReorgPartitions = 1519, "ER_CONSECUTIVE_REORG_PARTITIONS", "HY000",
        "When reorganizing a set of partitions they must be in consecutive order";
    ReorgOutsideRange = 1520, "ER_REORG_OUTSIDE_RANGE", "HY000",
        "Reorganize of range partitions cannot change total ranges except for last partition where it can extend the range";
    PluginIsNotLoaded { plugin } = 1524, "ER_PLUGIN_IS_NOT_LOADED", "HY000", "Plugin '{plugin}' is not loaded";
    PluginIsNotLoadedForAccount { plugin, account } = 1524, "ER_PLUGIN_IS_NOT_LOADED", "HY000",
        "Plugin '{plugin}' is not loaded: the account {account} was not made";
    WrongValue { kind, value } = 1525, "ER_WRONG_VALUE", "HY000", "Incorrect {kind} value: '{value}'";
    NoPartitionForGivenValue { value } = 1526, "ER_NO_PARTITION_FOR_GIVEN_VALUE", "HY000",
        "Table has no partition for value {value}";
    EventAlreadyExists { name } = 1537, "ER_EVENT_ALREADY_EXISTS", "HY000", "Event '{name}' already exists";
    EventDoesNotExist { name } = 1539, "ER_EVENT_DOES_NOT_EXIST", "HY000", "Unknown event '{name}'";
    EventIntervalNotPositiveOrTooBig = 1542, "ER_EVENT_INTERVAL_NOT_POSITIVE_OR_TOO_BIG", "HY000",
        "INTERVAL is either not positive or too big";
    EventEndsBeforeStarts = 1543, "ER_EVENT_ENDS_BEFORE_STARTS", "HY000", "ENDS is either invalid or before STARTS";
    EventExecTimeInThePast = 1544, "ER_EVENT_EXEC_TIME_IN_THE_PAST", "HY000",
        "Event execution time is in the past. Event has been disabled";
    EventSameName = 1551, "ER_EVENT_SAME_NAME", "HY000", "Same old and new event name";
    DropIndexFk { index } = 1553, "ER_DROP_INDEX_FK", "HY000",
        "Cannot drop index '{index}': needed in a foreign key constraint";
    PartitionNoTemporary = 1562, "ER_PARTITION_NO_TEMPORARY", "HY000", "Cannot create temporary table with partitions";
    PartitionConstDomainError = 1563, "ER_PARTITION_CONST_DOMAIN_ERROR", "HY000",
        "Partition constant is out of partition function domain";
    PartitionFunctionIsNotAllowed = 1564, "ER_PARTITION_FUNCTION_IS_NOT_ALLOWED", "HY000",
        "This partition function is not allowed";
    NullInValuesLessThan = 1566, "ER_NULL_IN_VALUES_LESS_THAN", "HY000", "Not allowed to use NULL value in VALUES LESS THAN";
    CantChangeTxCharacteristics = 1568, "ER_CANT_CHANGE_TX_CHARACTERISTICS", "25001",
        "Transaction characteristics can't be changed while a transaction is in progress";
    EventRecursionForbidden = 1576, "ER_EVENT_RECURSION_FORBIDDEN", "HY000",
        "Recursion of EVENT DDL statements is forbidden when body is present";
    WrongParamCountToNativeFct { function } = 1582, "ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT", "42000",
        "Incorrect parameter count in the call to native function '{function}'";
    WrongParametersToNativeFct { function } = 1583, "ER_WRONG_PARAMETERS_TO_NATIVE_FCT", "42000",
        "Incorrect parameters in the call to native function '{function}'";
    EventCannotCreateInThePast = 1588, "ER_EVENT_CANNOT_CREATE_IN_THE_PAST", "HY000",
        "Event execution time is in the past and ON COMPLETION NOT PRESERVE is set. The event was dropped immediately after \
         creation.";
    EventCannotAlterInThePast = 1589, "ER_EVENT_CANNOT_ALTER_IN_THE_PAST", "HY000",
        "Event execution time is in the past and ON COMPLETION NOT PRESERVE is set. The event was not changed. Specify a time \
         in the future.";
    XaRbdeadlock = 1614, "ER_XA_RBDEADLOCK", "XA102",
        "XA_RBDEADLOCK: Transaction branch was rolled back: deadlock was detected";
    OptionIgnored = 1618, "WARN_OPTION_IGNORED", "HY000", "<IV> option ignored";
    VariableIsReadonly { name } = 1621, "ER_VARIABLE_IS_READONLY", "HY000",
        "SESSION variable '{name}' is read-only. Use SET GLOBAL to assign the value";
    TooLongTableComment { name, max } = 1628, "ER_TOO_LONG_TABLE_COMMENT", "HY000",
        "Comment for table '{name}' is too long (max = {max})";
    TooLongFieldComment { name, max } = 1629, "ER_TOO_LONG_FIELD_COMMENT", "HY000",
        "The maximum supported character limit for the field, '{name}', has been exceeded (max = {max})";
    FuncInexistentNameCollision { name } = 1630, "ER_FUNC_INEXISTENT_NAME_COLLISION", "42000",
        "FUNCTION {name} does not exist. Check the 'Function Name Parsing and Resolution' section in the Reference Manual";
    WarnNonAsciiSeparator = 1638, "WARN_NON_ASCII_SEPARATOR_NOT_IMPLEMENTED", "HY000",
        "Non-ASCII separator arguments are not fully supported";
    DupSignalSet { item } = 1641, "ER_DUP_SIGNAL_SET", "42000", "Duplicate condition information item '{item}'";
    SignalWarn = 1642, "ER_SIGNAL_WARN", "01000", "Unhandled user-defined warning condition";
    SignalNotFound = 1643, "ER_SIGNAL_NOT_FOUND", "02000", "Unhandled user-defined not found condition";
    SignalException = 1644, "ER_SIGNAL_EXCEPTION", "HY000", "Unhandled user-defined exception condition";
    ResignalWithoutActiveHandler = 1645, "ER_RESIGNAL_WITHOUT_ACTIVE_HANDLER", "0K000", "RESIGNAL when handler not active";
    SignalBadConditionType = 1646, "ER_SIGNAL_BAD_CONDITION_TYPE", "HY000",
        "SIGNAL/RESIGNAL can only use a CONDITION defined with SQLSTATE";
    WarnCondItemTruncated { item } = 1647, "WARN_COND_ITEM_TRUNCATED", "HY000", "Data truncated for condition item '{item}'";
    CondItemTooLong { item } = 1648, "ER_COND_ITEM_TOO_LONG", "HY000", "Data too long for condition item '{item}'";
    UnknownLocale { name } = 1649, "ER_UNKNOWN_LOCALE", "HY000", "Unknown locale: '{name}'";
    SameNamePartitionField { name } = 1652, "ER_SAME_NAME_PARTITION_FIELD", "HY000", "Duplicate partition field name '{name}'";
    PartitionColumnListError = 1653, "ER_PARTITION_COLUMN_LIST_ERROR", "HY000",
        "Inconsistency in usage of column lists for partitioning";
    WrongTypeColumnValueError = 1654, "ER_WRONG_TYPE_COLUMN_VALUE_ERROR", "HY000", "Partition column values of incorrect type";
    TooManyPartitionFuncFieldsError { list } = 1655, "ER_TOO_MANY_PARTITION_FUNC_FIELDS_ERROR", "HY000",
        "Too many fields in '{list}'";
    TooManyValuesError { kind } = 1657, "ER_TOO_MANY_VALUES_ERROR", "HY000",
        "Cannot have more than one value for this type of {kind} partitioning";
    FieldTypeNotAllowedAsPartitionField { name } = 1659, "ER_FIELD_TYPE_NOT_ALLOWED_AS_PARTITION_FIELD", "HY000",
        "Field '{name}' is of a not allowed type for this type of partitioning";
    WarnDeprecatedSyntaxNoReplacement { what } = 1681, "ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT", "HY000",
        "'{what}' is deprecated and will be removed in a future release.";
    WarnDeprecatedIntegerDisplayWidth = 1681, "ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT", "HY000",
        "Integer display width is deprecated and will be removed in a future release.";
    WarnDeprecatedZerofill = 1681, "ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT", "HY000",
        "The ZEROFILL attribute is deprecated and will be removed in a future release. Use the LPAD function to zero-pad numbers, or \
         store the formatted numbers in a CHAR column.";
    WarnDeprecatedFloatDigits = 1681, "ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT", "HY000",
        "Specifying number of digits for floating point data types is deprecated and will be removed in a future release.";
    WarnDeprecatedFloatUnsigned = 1681, "ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT", "HY000",
        "UNSIGNED for decimal and floating point data types is deprecated and support for it will be removed in a future release.";
    WrongPerformanceSchemaUsage = 1683, "ER_WRONG_PERFSCHEMA_USAGE", "HY000", "Invalid performance_schema usage.";
    SpatialMustHaveGeomCol = 1687, "ER_SPATIAL_MUST_HAVE_GEOM_COL", "42000",
        "A SPATIAL index may only contain a geometrical type column";
    TooLongIndexComment { name, max } = 1688, "ER_TOO_LONG_INDEX_COMMENT", "HY000",
        "Comment for index '{name}' is too long (max = {max})";
    DataOutOfRange { kind, expression } = 1690, "ER_DATA_OUT_OF_RANGE", "22003",
        "{kind} value is out of range in '{expression}'";
    ValuesIsNotIntTypeError { partition } = 1697, "ER_VALUES_IS_NOT_INT_TYPE_ERROR", "HY000",
        "VALUES value for partition '{partition}' must have type INT";
    AccessDeniedNoPasswordError { user, host } = 1698, "ER_ACCESS_DENIED_NO_PASSWORD_ERROR", "28000",
        "Access denied for user '{user}'@'{host}'";
    TruncateIllegalFk { database, child, name } = 1701, "ER_TRUNCATE_ILLEGAL_FK", "42000",
        "Cannot truncate a table referenced in a foreign key constraint ({database}.{child}, CONSTRAINT {name})";
    MultiUpdateKeyConflict { first, second } = 1706, "ER_MULTI_UPDATE_KEY_CONFLICT", "HY000",
        "Primary key/partition key update is not allowed since the table is updated both as '{first}' and '{second}'.";
    PartitionExchangePartTable { table } = 1732, "ER_PARTITION_EXCHANGE_PART_TABLE", "HY000",
        "Table to exchange with partition is partitioned: '{table}'";
    PartitionExchangeTempTable { table } = 1733, "ER_PARTITION_EXCHANGE_TEMP_TABLE", "HY000",
        "Table to exchange with partition is temporary: '{table}'";
    PartitionInsteadOfSubpartition = 1734, "ER_PARTITION_INSTEAD_OF_SUBPARTITION", "HY000",
        "Subpartitioned table, use subpartition instead of partition";
    UnknownPartition { partition, table } = 1735, "ER_UNKNOWN_PARTITION", "HY000",
        "Unknown partition '{partition}' in table '{table}'";
    TablesDifferentMetadata = 1736, "ER_TABLES_DIFFERENT_METADATA", "HY000", "Tables have different definitions";
    RowDoesNotMatchPartition = 1737, "ER_ROW_DOES_NOT_MATCH_PARTITION", "HY000",
        "Found a row that does not match the partition";
    PartitionExchangeForeignKey { table } = 1740, "ER_PARTITION_EXCHANGE_FOREIGN_KEY", "HY000",
        "Table to exchange with partition has foreign key references: '{table}'";
    PartitionClauseOnNonpartitioned = 1747, "ER_PARTITION_CLAUSE_ON_NONPARTITIONED", "HY000",
        "PARTITION () clause on non partitioned table";
    RowDoesNotMatchGivenPartitionSet = 1748, "ER_ROW_DOES_NOT_MATCH_GIVEN_PARTITION_SET", "HY000",
        "Found a row not matching the given partition set";
    DaInvalidConditionNumber = 1758, "ER_DA_INVALID_CONDITION_NUMBER", "35000", "Invalid condition number";
    ForeignDuplicateKeyWithChildInfo { table, record, child, key } = 1761, "ER_FOREIGN_DUPLICATE_KEY_WITH_CHILD_INFO", "23000",
        "Foreign key constraint for table '{table}', record '{record}' would lead to a duplicate entry in table '{child}', \
         key '{key}'";
    MalformedGtidSetSpecification { value } = 1772, "ER_MALFORMED_GTID_SET_SPECIFICATION", "HY000",
        "Malformed GTID set specification '{value}'.";
    BadReplicaAutoPosition = 1776, "ER_BAD_REPLICA_AUTO_POSITION", "HY000",
        "Parameters SOURCE_LOG_FILE, SOURCE_LOG_POS, RELAY_LOG_FILE and RELAY_LOG_POS cannot be set when SOURCE_AUTO_POSITION is \
         active.";
    CantExecuteInReadOnlyTransaction = 1792, "ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION", "25006",
        "Cannot execute statement in a READ ONLY transaction.";
    TooLongTablePartitionComment { name, max } = 1793, "ER_TOO_LONG_TABLE_PARTITION_COMMENT", "HY000",
        "Comment for table partition '{name}' is too long (max = {max})";
    InnodbOnlineLogTooBig { index } = 1799, "ER_INNODB_ONLINE_LOG_TOO_BIG", "HY000",
        "Creating index '{index}' required more than 'innodb_online_alter_log_max_size' bytes of modification log. Please try \
         again.";
    UnknownAlterAlgorithm { name } = 1800, "ER_UNKNOWN_ALTER_ALGORITHM", "HY000", "Unknown ALGORITHM '{name}'";
    UnknownAlterLock { name } = 1801, "ER_UNKNOWN_ALTER_LOCK", "HY000", "Unknown LOCK type '{name}'";
    InvalidYearColumnLength = 1818, "ER_INVALID_YEAR_COLUMN_LENGTH", "HY000", "Invalid display width. Use YEAR instead.";
    MustChangePassword = 1820, "ER_MUST_CHANGE_PASSWORD", "HY000",
        "You must reset your password using ALTER USER statement before executing this statement.";
    FkCannotOpenParent { table } = 1824, "ER_FK_CANNOT_OPEN_PARENT", "HY000", "Failed to open the referenced table '{table}'";
    FkDupName { name } = 1826, "ER_FK_DUP_NAME", "HY000", "Duplicate foreign key constraint name '{name}'";
    PasswordFormat = 1827, "ER_PASSWORD_FORMAT", "HY000", "The password hash doesn't have the expected format.";
    FkColumnCannotDrop { column, name } = 1828, "ER_FK_COLUMN_CANNOT_DROP", "HY000",
        "Cannot drop column '{column}': needed in a foreign key constraint '{name}'";
    FkColumnCannotDropChild { column, name, child } = 1829, "ER_FK_COLUMN_CANNOT_DROP_CHILD", "HY000",
        "Cannot drop column '{column}': needed in a foreign key constraint '{name}' of table '{child}'";
    FkColumnNotNull { column, name } = 1830, "ER_FK_COLUMN_NOT_NULL", "HY000",
        "Column '{column}' cannot be NOT NULL: needed in a foreign key constraint '{name}' SET NULL";
    DupIndex { name, database, table } = 1831, "ER_DUP_INDEX", "HY000",
        "Duplicate index '{name}' defined on the table '{database}.{table}'. This is deprecated and will be disallowed in a \
         future release.";
    MalformedPacket = 1835, "ER_MALFORMED_PACKET", "HY000", "Malformed communication packet.";
    GtidNextTypeUndefinedGtid { gtid } = 1837, "ER_GTID_NEXT_TYPE_UNDEFINED_GTID", "HY000",
        "When @@SESSION.GTID_NEXT is set to a GTID, you must explicitly set it to a different value after a COMMIT or ROLLBACK. \
         Please check GTID_NEXT variable manual page for detailed explanation. Current @@SESSION.GTID_NEXT is '{gtid}'.";
    AlterOperationNotSupported { operation, alternative } = 1845, "ER_ALTER_OPERATION_NOT_SUPPORTED", "0A000",
        "{operation} is not supported for this operation. Try {alternative}.";
    AlterOperationNotSupportedReason { operation, why, alternative } = 1846, "ER_ALTER_OPERATION_NOT_SUPPORTED_REASON", "0A000",
        "{operation} is not supported. Reason: {why}. Try {alternative}.";
    MustChangePasswordLogin = 1862, "ER_MUST_CHANGE_PASSWORD_LOGIN", "HY000",
        "Your password has expired. To log in you must change it using a client that supports expired passwords.";
    AesInvalidIv { function, bytes } = 1882, "ER_AES_INVALID_IV", "HY000",
        "The initialization vector supplied to {function} is too short. Must be at least {bytes} bytes long";
    ConnHostError { host, why } = 2003, "CR_CONN_HOST_ERROR", "HY000", "Can't connect to MySQL server on '{host}' ({why})";
    ServerLost { why } = 2013, "CR_SERVER_LOST", "HY000", "Lost connection to MySQL server during query ({why})";
    GetStackedDaWithoutActiveHandler = 3004, "ER_GET_STACKED_DA_WITHOUT_ACTIVE_HANDLER", "0Z002",
        "GET STACKED DIAGNOSTICS when handler not active";
    FkDepthExceeded { levels } = 3008, "ER_FK_DEPTH_EXCEEDED", "HY000",
        "Foreign key cascade delete/update exceeds max depth of {levels}.";
    ReferencedTrgDoesNotExist { name } = 3011, "ER_REFERENCED_TRG_DOES_NOT_EXIST", "HY000",
        "Referenced trigger '{name}' for the given action time and event type does not exist.";
    InvalidFieldSize { name } = 3013, "ER_INVALID_FIELD_SIZE", "HY000", "Invalid size for column '{name}'.";
    InvalidArgumentForLogarithm = 3020, "ER_INVALID_ARGUMENT_FOR_LOGARITHM", "2201E", "Invalid argument for logarithm";
    QueryTimeout = 3024, "ER_QUERY_TIMEOUT", "HY000",
        "Query execution was interrupted, maximum statement execution time exceeded";
    AggregateOrderNonAggQuery { number } = 3029, "ER_AGGREGATE_ORDER_NON_AGG_QUERY", "HY000",
        "Expression #{number} of ORDER BY contains aggregate function and applies to the result of a non-aggregated query";
    ServerOfflineMode = 3032, "ER_SERVER_OFFLINE_MODE", "HY000", "The server is currently in offline mode";
    GisDifferentSrids { function, first, second } = 3033, "ER_GIS_DIFFERENT_SRIDS", "HY000",
        "Binary geometry function {function} given two geometries of different srids: {first} and {second}, which should have \
         been identical.";
    GisUnsupportedArgument { function } = 3034, "ER_GIS_UNSUPPORTED_ARGUMENT", "HY000",
        "Calling geometry function {function} with unsupported types of arguments.";
    GisInvalidData { function } = 3037, "ER_GIS_INVALID_DATA", "22023", "Invalid GIS data provided to function {function}.";
    UserLockWrongName { name } = 3057, "ER_USER_LOCK_WRONG_NAME", "42000", "Incorrect user-level lock name '{name}'.";
    UserLockDeadlock = 3058, "ER_USER_LOCK_DEADLOCK", "HY000",
        "Deadlock found when trying to get user-level lock; try rolling back transaction/releasing locks and restarting lock \
         acquisition.";
    CantUseWhenGtidModeOff { what } = 3062, "ER_GTID_MODE_OFF", "HY000", "Cannot use {what} when GTID_MODE = OFF.";
    IncorrectType { argument, function } = 3064, "ER_INCORRECT_TYPE", "HY000",
        "Incorrect type for argument {argument} in function {function}.";
    FieldInOrderNotSelect { expression, column } = 3065, "ER_FIELD_IN_ORDER_NOT_SELECT", "HY000",
        "Expression #{expression} of ORDER BY clause is not in SELECT list, references column '{column}' which is not in \
         SELECT list; this is incompatible with DISTINCT";
    AggregateInOrderNotSelect { expression } = 3066, "ER_AGGREGATE_IN_ORDER_NOT_SELECT", "HY000",
        "Expression #{expression} of ORDER BY clause is not in SELECT list, contains aggregate function; this is incompatible \
         with DISTINCT";
    InvalidGeojsonMissingMember { function, member } = 3070, "ER_INVALID_GEOJSON_MISSING_MEMBER", "HY000",
        "Invalid GeoJSON data provided to function {function}: Missing required member '{member}'";
    InvalidGeojsonWrongType { function, member, wanted } = 3071, "ER_INVALID_GEOJSON_WRONG_TYPE", "HY000",
        "Invalid GeoJSON data provided to function {function}: Member '{member}' must be of type '{wanted}'";
    InvalidGeojsonUnspecified { function } = 3072, "ER_INVALID_GEOJSON_UNSPECIFIED", "HY000",
        "Invalid GeoJSON data provided to function {function}";
    DimensionUnsupported { function, found } = 3073, "ER_DIMENSION_UNSUPPORTED", "HY000",
        "Unsupported number of coordinate dimensions in function {function}: Found {found}, expected 2";
    ReplicaChannelDoesNotExist { channel } = 3074, "ER_REPLICA_CHANNEL_DOES_NOT_EXIST", "HY000",
        "Replica channel '{channel}' does not exist.";
    ReplicaChannelMustStop = 3081, "ER_REPLICA_CHANNEL_MUST_STOP", "HY000",
        "This operation cannot be performed with running replication threads; run STOP REPLICA FOR CHANNEL '' first";
    ReplicaChannelWasRunning = 3083, "ER_REPLICA_CHANNEL_WAS_RUNNING", "HY000",
        "Replication thread(s) for channel '' are already running.";
    ReplicaChannelWasNotRunning = 3084, "ER_REPLICA_CHANNEL_WAS_NOT_RUNNING", "HY000",
        "Replication thread(s) for channel '' are already stopped.";
    GeneratedColumnFunctionIsNotAllowed { name } = 3102, "ER_GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED", "HY000",
        "Expression of generated column '{name}' contains a disallowed function.";
    WrongFkOptionForGeneratedColumn { clause } = 3104, "ER_WRONG_FK_OPTION_FOR_GENERATED_COLUMN", "HY000",
        "Cannot define foreign key with {clause} clause on a generated column.";
    NonDefaultValueForGeneratedColumn { column, table } = 3105, "ER_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN", "HY000",
        "The value specified for generated column '{column}' in table '{table}' is not allowed.";
    UnsupportedActionOnGeneratedColumn { what } = 3106, "ER_UNSUPPORTED_ACTION_ON_GENERATED_COLUMN", "HY000",
        "'{what}' is not supported for generated columns.";
    GeneratedColumnNonPrior = 3107, "ER_GENERATED_COLUMN_NON_PRIOR", "HY000",
        "Generated column can refer only to generated columns defined prior to it.";
    DependentByGeneratedColumn { column } = 3108, "ER_DEPENDENT_BY_GENERATED_COLUMN", "HY000",
        "Column '{column}' has a generated column dependency.";
    GeneratedColumnRefAutoInc { name } = 3109, "ER_GENERATED_COLUMN_REF_AUTO_INC", "HY000",
        "Generated column '{name}' cannot refer to auto-increment column.";
    AccountHasBeenLocked { user, host } = 3118, "ER_ACCOUNT_HAS_BEEN_LOCKED", "HY000",
        "Access denied for user '{user}'@'{host}'. Account is locked.";
    GisMaxPointsOverflowed { max, function } = 3134, "ER_GIS_MAX_POINTS_IN_GEOMETRY_OVERFLOWED", "HY000",
        "Parameter points_per_circle exceeds the maximum number of points in a geometry ({max}) in function {function}.";
    InvalidJsonText { why, position, column } = 3140, "ER_INVALID_JSON_TEXT", "22032",
        "Invalid JSON text: \"{why}\" at position {position} in value for column '{column}'.";
    SystemTableInvalidJson { column, row } = 3140, "ER_INVALID_JSON_TEXT", "22032",
        "Invalid JSON text in the value for column '{column}' at row {row}";
    InvalidJsonTextInParam { argument, function, why, position } = 3141, "ER_INVALID_JSON_TEXT_IN_PARAM", "22032",
        "Invalid JSON text in argument {argument} to function {function}: \"{why}\" at position {position}.";
    InvalidJsonPath { position } = 3143, "ER_INVALID_JSON_PATH", "42000",
        "Invalid JSON path expression. The error is around character position {position}.";
    InvalidJsonCharset = 3144, "ER_INVALID_JSON_CHARSET", "22032",
        "Cannot create a JSON value from a string with CHARACTER SET 'binary'.";
    InvalidTypeForJson { argument, function } = 3146, "ER_INVALID_TYPE_FOR_JSON", "22032",
        "Invalid data type for JSON data in argument {argument} to function {function}; a JSON string or JSON type is \
         required.";
    InvalidJsonPathWildcard = 3149, "ER_INVALID_JSON_PATH_WILDCARD", "42000",
        "In this situation, path expressions may not contain the * and ** tokens or an array range.";
    JsonUsedAsKey { column } = 3152, "ER_JSON_USED_AS_KEY", "42000",
        "JSON column '{column}' supports indexing only via generated columns on a specified JSON path.";
    JsonVacuousPath = 3153, "ER_JSON_VACUOUS_PATH", "42000", "The path expression '$' is not allowed in this context.";
    JsonBadOneOrAllArg { function } = 3154, "ER_JSON_BAD_ONE_OR_ALL_ARG", "42000",
        "The oneOrAll argument to {function} may take these values: 'one' or 'all'.";
    InvalidJsonValueForCast { kind, column, row } = 3156, "ER_INVALID_JSON_VALUE_FOR_CAST", "22018",
        "Invalid JSON value for CAST to {kind} from column {column} at row {row}";
    JsonDocumentTooDeep = 3157, "ER_JSON_DOCUMENT_TOO_DEEP", "22032", "The JSON document exceeds the maximum depth.";
    JsonDocumentNullKey = 3158, "ER_JSON_DOCUMENT_NULL_KEY", "22032", "JSON documents may not contain NULL member names.";
    SecureTransportRequired = 3159, "ER_SECURE_TRANSPORT_REQUIRED", "HY000",
        "Connections using insecure transport are prohibited while --require_secure_transport=ON.";
    UserDoesNotExist { account } = 3162, "ER_USER_DOES_NOT_EXIST", "HY000", "Authorization ID {account} does not exist.";
    UserAlreadyExists { account } = 3163, "ER_USER_ALREADY_EXISTS", "HY000", "Authorization ID {account} already exists.";
    InvalidJsonPathArrayCell = 3165, "ER_INVALID_JSON_PATH_ARRAY_CELL", "42000",
        "A path expression is not a path to a cell in an array.";
    BufpoolResizeInprogress = 3166, "ER_BUFPOOL_RESIZE_INPROGRESS", "HY000", "Another buffer pool resize is already in progress.";
    SessionWasKilled = 3169, "ER_SESSION_WAS_KILLED", "HY000", "Session was killed";
    CapacityExceeded { bytes, what, why } = 3170, "ER_CAPACITY_EXCEEDED", "HY000",
        "Memory capacity of {bytes} bytes for '{what}' exceeded. {why}";
    CantWaitForExecutedGtidSetWhileOwningAGtid { gtid } = 3173, "ER_CANT_WAIT_FOR_EXECUTED_GTID_SET_WHILE_OWNING_A_GTID", "HY000",
        "The client holds ownership of the GTID {gtid}. Therefore, WAIT_FOR_EXECUTED_GTID_SET cannot wait for this GTID.";
    InvalidEncryptionOption = 3184, "ER_INVALID_ENCRYPTION_OPTION", "HY000", "Invalid encryption option.";
    CannotFindKeyInKeyring = 3185, "ER_CANNOT_FIND_KEY_IN_KEYRING", "HY000",
        "Can't find master key from keyring, please check in the server log if a keyring is loaded and initialized \
         successfully.";
    AesInvalidKdfName = 3235, "ER_AES_INVALID_KDF_NAME", "HY000",
        "KDF method name is not valid. Please use hkdf or pbkdf2_hmac method name";
    AesInvalidKdfIterations { min, max } = 3236, "ER_AES_INVALID_KDF_ITERATIONS", "HY000",
        "For KDF method pbkdf2_hmac iterations value less than {min} or more than {max} is not allowed due to security \
         reasons. Please provide iterations >= {min} and iterations < {max}";
    NoSuchDb { name } = 3503, "ER_NO_SUCH_DB", "42Y07", "Database '{name}' doesn't exist";
    InvalidBitwiseOperandsSize = 3513, "ER_INVALID_BITWISE_OPERANDS_SIZE", "HY000",
        "Binary operands of bitwise operators must be of equal length";
    InvalidBitwiseAggregateOperandsSize = 3514, "ER_INVALID_BITWISE_AGGREGATE_OPERANDS_SIZE", "HY000",
        "Aggregate bitwise functions cannot accept arguments longer than 511 bytes; consider using the SUBSTRING() function";
    UnexpectedGeometryType { what, kind, function } = 3516, "ER_UNEXPECTED_GEOMETRY_TYPE", "22S01",
        "{what} value is a geometry of unexpected type {kind} in {function}.";
    PkIndexCantBeInvisible = 3522, "ER_PK_INDEX_CANT_BE_INVISIBLE", "HY000", "A primary key index cannot be invisible";
    UnknownAuthId { account } = 3523, "ER_UNKNOWN_AUTHID", "HY000", "Unknown authorization ID {account}";
    RoleNotGranted { role, account } = 3530, "ER_ROLE_NOT_GRANTED", "HY000", "{role} is not granted to {account}";
    RenameRole = 3532, "ER_RENAME_ROLE", "HY000", "Renaming of a role identifier is forbidden";
    CantSetGtidPurged { why } = 3546, "ER_CANT_SET_GTID_PURGED_DUE_SETS_CONSTRAINTS", "HY000", "@@GLOBAL.GTID_PURGED cannot be changed: {why}";
    SrsNotFound { srid } = 3548, "ER_SRS_NOT_FOUND", "SR001", "There's no spatial reference system with SRID {srid}.";
    InvalidOptionKey { key, function } = 3558, "ER_INVALID_OPTION_KEY", "22023",
        "Invalid option key '{key}' in function {function}.";
    InvalidOptionValue { value, key, function } = 3559, "ER_INVALID_OPTION_VALUE", "22023",
        "Invalid value '{value}' for option '{key}' in function '{function}'.";
    InvalidOptionKeyValuePair { pair, function } = 3560, "ER_INVALID_OPTION_KEY_VALUE_PAIR", "22023",
        "The string '{pair}' is not a valid key = value pair in function {function}.";
    DuplicateOptionKey { key, function } = 3564, "ER_DUPLICATE_OPTION_KEY", "22023",
        "Duplicate option key '{key}' in funtion '{function}'.";
    UnresolvedTableLock { name } = 3568, "ER_UNRESOLVED_TABLE_LOCK", "HY000", "Unresolved table name {name} in locking clause.";
    DuplicateTableLock { table } = 3569, "ER_DUPLICATE_TABLE_LOCK", "HY000",
        "Table `{table}` appears in multiple locking clauses.";
    LockNowait = 3572, "ER_LOCK_NOWAIT", "HY000",
        "Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.";
    CteRecursiveRequiresUnion { table } = 3573, "ER_CTE_RECURSIVE_REQUIRES_UNION", "HY000",
        "Recursive Common Table Expression '{table}' should contain a UNION";
    CteRecursiveRequiresNonrecursiveFirst { table } = 3574, "ER_CTE_RECURSIVE_REQUIRES_NONRECURSIVE_FIRST", "HY000",
        "Recursive Common Table Expression '{table}' should have one or more non-recursive query blocks followed by one or \
         more recursive ones";
    CteRecursiveForbidsAggregation { table } = 3575, "ER_CTE_RECURSIVE_FORBIDS_AGGREGATION", "HY000",
        "Recursive Common Table Expression '{table}' can contain neither aggregation nor window functions in recursive query \
         block";
    CteRecursiveForbiddenJoinOrder { table } = 3576, "ER_CTE_RECURSIVE_FORBIDDEN_JOIN_ORDER", "HY000",
        "In recursive query block of Recursive Common Table Expression '{table}', the recursive table must neither be in the \
         right argument of a LEFT JOIN, nor be forced to be non-first with join order hints";
    CteRecursiveRequiresSingleReference { table } = 3577, "ER_CTE_RECURSIVE_REQUIRES_SINGLE_REFERENCE", "HY000",
        "In recursive query block of Recursive Common Table Expression '{table}', the recursive table must be referenced only \
         once, and not in any subquery";
    WindowNoSuchWindow { name } = 3579, "ER_WINDOW_NO_SUCH_WINDOW", "HY000", "Window name '{name}' is not defined.";
    WindowCircularityInWindowGraph = 3580, "ER_WINDOW_CIRCULARITY_IN_WINDOW_GRAPH", "HY000",
        "There is a circularity in the window dependency graph.";
    WindowNoChildPartitioning = 3581, "ER_WINDOW_NO_CHILD_PARTITIONING", "HY000",
        "A window which depends on another cannot define partitioning.";
    WindowNoInheritFrame { name } = 3582, "ER_WINDOW_NO_INHERIT_FRAME", "HY000",
        "Window '{name}' has a frame definition, so cannot be referenced by another window.";
    WindowNoRedefineOrderBy { window, base } = 3583, "ER_WINDOW_NO_REDEFINE_ORDER_BY", "HY000",
        "Window '{window}' cannot inherit '{base}' since both contain an ORDER BY clause.";
    WindowFrameStartIllegal { name } = 3584, "ER_WINDOW_FRAME_START_ILLEGAL", "HY000",
        "Window '{name}': frame start cannot be UNBOUNDED FOLLOWING.";
    WindowFrameEndIllegal { name } = 3585, "ER_WINDOW_FRAME_END_ILLEGAL", "HY000",
        "Window '{name}': frame end cannot be UNBOUNDED PRECEDING.";
    WindowFrameIllegal { name } = 3586, "ER_WINDOW_FRAME_ILLEGAL", "HY000",
        "Window '{name}': frame start or end is negative, NULL or of non-integral type";
    WindowRangeFrameOrderType { name } = 3587, "ER_WINDOW_RANGE_FRAME_ORDER_TYPE", "HY000",
        "Window '{name}' with RANGE N PRECEDING/FOLLOWING frame requires exactly one ORDER BY expression, of numeric or \
         temporal type";
    WindowRangeFrameTemporalType { name } = 3588, "ER_WINDOW_RANGE_FRAME_TEMPORAL_TYPE", "HY000",
        "Window '{name}' with RANGE frame has ORDER BY expression of datetime type. Only INTERVAL bound value allowed.";
    WindowRangeFrameNumericType { name } = 3589, "ER_WINDOW_RANGE_FRAME_NUMERIC_TYPE", "HY000",
        "Window '{name}' with RANGE frame has ORDER BY expression of numeric type, INTERVAL bound value not allowed.";
    WindowRangeBoundNotConstant { name } = 3590, "ER_WINDOW_RANGE_BOUND_NOT_CONSTANT", "HY000",
        "Window '{name}' has a non-constant frame bound.";
    WindowDuplicateName { name } = 3591, "ER_WINDOW_DUPLICATE_NAME", "HY000", "Window '{name}' is defined twice.";
    WindowIllegalOrderBy { name } = 3592, "ER_WINDOW_ILLEGAL_ORDER_BY", "HY000",
        "Window '{name}': ORDER BY or PARTITION BY uses legacy position indication which is not supported, use expression.";
    WindowInvalidWindowFuncUse { name } = 3593, "ER_WINDOW_INVALID_WINDOW_FUNC_USE", "HY000",
        "You cannot use the window function '{name}' in this context.'";
    WindowInvalidWindowFuncAliasUse { name } = 3594, "ER_WINDOW_INVALID_WINDOW_FUNC_ALIAS_USE", "HY000",
        "You cannot use the alias '{name}' of an expression containing a window function in this context.'";
    WindowRowsIntervalUse { name } = 3596, "ER_WINDOW_ROWS_INTERVAL_USE", "HY000",
        "Window '{name}': INTERVAL can only be used with RANGE frames.";
    InvalidNoOfArgs { count } = 3601, "ER_INVALID_NO_OF_ARGS", "HY000",
        "Too many arguments for function GROUPING: {count}; maximum allowed is 64.";
    FieldInGroupingNotGroupBy { number } = 3602, "ER_FIELD_IN_GROUPING_NOT_GROUP_BY", "HY000",
        "Argument #{number} of GROUPING function is not in GROUP BY";
    VarDoesNotExist { name } = 3615, "ER_VAR_DOES_NOT_EXIST", "HY000",
        "Variable {name} does not exist in persisted config file";
    LongitudeOutOfRange { value, function } = 3616, "ER_LONGITUDE_OUT_OF_RANGE", "22S02",
        "Longitude {value} is out of range in function {function}. It must be within (-180.000000, 180.000000].";
    LatitudeOutOfRange { value, function } = 3617, "ER_LATITUDE_OUT_OF_RANGE", "22S03",
        "Latitude {value} is out of range in function {function}. It must be within [-90.000000, 90.000000].";
    NotImplementedForGeographicSrs { call } = 3618, "ER_NOT_IMPLEMENTED_FOR_GEOGRAPHIC_SRS", "22S00",
        "{call} has not been implemented for geographic spatial reference systems.";
    IllegalPrivilegeLevel { name } = 3619, "ER_ILLEGAL_PRIVILEGE_LEVEL", "HY000",
        "Illegal privilege level specified for {name}";
    MandatoryRole { role } = 3628, "ER_MANDATORY_ROLE", "HY000",
        "The role {role} is a mandatory role and can't be revoked or dropped. The restriction can be lifted by excluding the \
         role identifier from the global variable mandatory_roles.";
    PersistOnlyAccessDenied = 3630, "ER_PERSIST_ONLY_ACCESS_DENIED_ERROR", "42000",
        "Access denied; you need SYSTEM_VARIABLES_ADMIN and PERSIST_RO_VARIABLES_ADMIN privileges for this operation";
    CteMaxRecursionDepth { rounds } = 3636, "ER_CTE_MAX_RECURSION_DEPTH", "HY000",
        "Recursive query aborted after {rounds} iterations. Try increasing @@cte_max_recursion_depth to a larger value.";
    CredentialsContradictToHistory { user, host } = 3638, "ER_CREDENTIALS_CONTRADICT_TO_HISTORY", "HY000",
        "Cannot use these credentials for '{user}@{host}' because they contradict the password history policy";
    WrongSridForColumn { column, found, wanted } = 3643, "ER_WRONG_SRID_FOR_COLUMN", "HY000",
        "The SRID of the geometry does not match the SRID of the column '{column}'. The SRID of the geometry is {found}, but \
         the SRID of the column is {wanted}. Consider changing the SRID of the geometry or the SRID property of the column.";
    CannotAlterSridDueToIndex { column } = 3644, "ER_CANNOT_ALTER_SRID_DUE_TO_INDEX", "HY000",
        "The SRID specification on the column '{column}' cannot be changed because there is a spatial index on the column. \
         Please remove the spatial index before altering the SRID specification.";
    MissingJsonTableValue { column } = 3665, "ER_MISSING_JSON_TABLE_VALUE", "22035",
        "Missing value for JSON_TABLE column '{column}'";
    WrongJsonTableValue { column } = 3666, "ER_WRONG_JSON_TABLE_VALUE", "2203F",
        "Can't store an array or an object in the scalar JSON_TABLE column '{column}'";
    TfMustHaveAlias = 3667, "ER_TF_MUST_HAVE_ALIAS", "42000", "Every table function must have an alias";
    JtValueOutOfRange { column } = 3669, "ER_JT_VALUE_OUT_OF_RANGE", "22003",
        "Value is out of range for JSON_TABLE's column '{column}'";
    BadNullErrorNotIgnored { column } = 3673, "ER_BAD_NULL_ERROR_NOT_IGNORED", "23000", "Column '{column}' cannot be null";
    UselessSpatialIndex { column } = 3674, "WARN_USELESS_SPATIAL_INDEX", "HY000",
        "The spatial index on column '{column}' will not be used by the query optimizer since the column does not have an SRID \
         attribute. Consider adding an SRID attribute to the column.";
    ParseErrorInDigestFn { why } = 3676, "ER_PARSE_ERROR_IN_DIGEST_FN", "HY000",
        "Could not parse argument to digest function: \"{why}\".";
    RegexpIllegalArgument = 3685, "ER_REGEXP_ILLEGAL_ARGUMENT", "HY000", "Illegal argument to a regular expression.";
    RegexpIndexOutOfBounds = 3686, "ER_REGEXP_INDEX_OUTOFBOUNDS_ERROR", "HY000",
        "Index out of bounds in regular expression search.";
    RegexpRuleSyntax { place } = 3688, "ER_REGEXP_RULE_SYNTAX", "HY000",
        "Syntax error in regular expression on line 1, character {place}.";
    RegexpBadEscapeSequence = 3689, "ER_REGEXP_BAD_ESCAPE_SEQUENCE", "HY000",
        "Unrecognized escape sequence in regular expression.";
    RegexpUnimplemented = 3690, "ER_REGEXP_UNIMPLEMENTED", "HY000",
        "The regular expression contains a feature that is not implemented in this library version.";
    RegexpMismatchedParen = 3691, "ER_REGEXP_MISMATCHED_PAREN", "HY000", "Mismatched parenthesis in regular expression.";
    RegexpBadInterval = 3692, "ER_REGEXP_BAD_INTERVAL", "HY000", "Incorrect description of a {{min,max}} interval.";
    RegexpMaxLtMin = 3693, "ER_REGEXP_MAX_LT_MIN", "HY000", "The maximum is less than the minumum in a {{min,max}} interval.";
    RegexpMissingCloseBracket = 3696, "ER_REGEXP_MISSING_CLOSE_BRACKET", "HY000",
        "The regular expression contains an unclosed bracket expression.";
    RegexpInvalidRange = 3697, "ER_REGEXP_INVALID_RANGE", "HY000",
        "The regular expression contains an [x-y] character range where x comes after y.";
    RegexpTimeOut = 3699, "ER_REGEXP_TIME_OUT", "HY000", "Timeout exceeded in regular expression match.";
    NotImplementedForCartesianSrs { call } = 3704, "ER_NOT_IMPLEMENTED_FOR_CARTESIAN_SRS", "22S00",
        "{call} has not been implemented for Cartesian spatial reference systems.";
    NotImplementedForProjectedSrs { call } = 3705, "ER_NOT_IMPLEMENTED_FOR_PROJECTED_SRS", "22S00",
        "{call} has not been implemented for projected spatial reference systems.";
    NonpositiveRadius { function } = 3706, "ER_NONPOSITIVE_RADIUS", "22003",
        "Invalid radius provided to function {function}: Radius must be greater than zero.";
    DeprecatedUtf8Alias = 3719, "ER_DEPRECATED_UTF8_ALIAS", "HY000",
        "'utf8' is currently an alias for the character set UTF8MB3, but will be an alias for UTF8MB4 in a future release. Please \
         consider using UTF8MB4 in order to be unambiguous.";
    DeprecatedNational = 3720, "ER_DEPRECATED_NATIONAL", "HY000",
        "NATIONAL/NCHAR/NVARCHAR implies the character set UTF8MB3, which will be replaced by UTF8MB4 in a future release. Please \
         consider using CHAR(x) CHARACTER SET UTF8MB4 in order to be unambiguous.";
    SrsNotGeographic { function, srid } = 3726, "ER_SRS_NOT_GEOGRAPHIC", "22S00",
        "Function {function} is only defined for geographic spatial reference systems, but one of its arguments is in SRID \
         {srid}, which is not geographic.";
    SpatialUniqueIndex = 3728, "ER_SPATIAL_UNIQUE_INDEX", "HY000", "Spatial indexes can't be primary or unique indexes.";
    IndexTypeNotSupportedForSpatialIndex { kind } = 3729, "ER_INDEX_TYPE_NOT_SUPPORTED_FOR_SPATIAL_INDEX", "HY000",
        "The index type {kind} is not supported for spatial indexes.";
    FkCannotDropParent { table, name, child } = 3730, "ER_FK_CANNOT_DROP_PARENT", "HY000",
        "Cannot drop table '{table}' referenced by a foreign key constraint '{name}' on table '{child}'.";
    GeometryParamLongitudeOutOfRange { function, value } = 3731, "ER_GEOMETRY_PARAM_LONGITUDE_OUT_OF_RANGE", "22S02",
        "A parameter of function {function} contains a geometry with longitude {value}, which is out of range. It must be \
         within (-180.000000, 180.000000].";
    GeometryParamLatitudeOutOfRange { function, value } = 3732, "ER_GEOMETRY_PARAM_LATITUDE_OUT_OF_RANGE", "22S03",
        "A parameter of function {function} contains a geometry with latitude {value}, which is out of range. It must be \
         within [-90.000000, 90.000000].";
    FkCannotUseVirtualColumn { name, column } = 3733, "ER_FK_CANNOT_USE_VIRTUAL_COLUMN", "HY000",
        "Foreign key '{name}' uses virtual column '{column}' which is not supported.";
    FkNoColumnParent { column, name, parent } = 3734, "ER_FK_NO_COLUMN_PARENT", "HY000",
        "Failed to add the foreign key constraint. Missing column '{column}' for constraint '{name}' in the referenced table \
         '{parent}'";
    TransformSourceSrsNotSupported { srid } = 3741, "ER_TRANSFORM_SOURCE_SRS_NOT_SUPPORTED", "22S00",
        "Transformation from SRID {srid} is not supported.";
    TransformTargetSrsNotSupported { srid } = 3742, "ER_TRANSFORM_TARGET_SRS_NOT_SUPPORTED", "22S00",
        "Transformation to SRID {srid} is not supported.";
    WarnDataTruncatedFunctionalIndex { index, row } = 3751, "ER_WARN_DATA_TRUNCATED_FUNCTIONAL_INDEX", "01000",
        "Data truncated for functional index '{index}' at row {row}";
    WarnDataOutOfRangeFunctionalIndex { index, row } = 3752, "ER_WARN_DATA_OUT_OF_RANGE_FUNCTIONAL_INDEX", "22003",
        "Value is out of range for functional index '{index}' at row {row}";
    FunctionalIndexOnJsonOrGeometryFunction = 3753, "ER_FUNCTIONAL_INDEX_ON_JSON_OR_GEOMETRY_FUNCTION", "42000",
        "Cannot create a functional index on a function that returns a JSON or GEOMETRY value.";
    FunctionalIndexRefAutoIncrement { name } = 3754, "ER_FUNCTIONAL_INDEX_REF_AUTO_INCREMENT", "HY000",
        "Functional index '{name}' cannot refer to an auto-increment column.";
    FunctionalIndexPrimaryKey = 3756, "ER_FUNCTIONAL_INDEX_PRIMARY_KEY", "HY000",
        "The primary key cannot be a functional index";
    FunctionalIndexOnLob = 3757, "ER_FUNCTIONAL_INDEX_ON_LOB", "HY000",
        "Cannot create a functional index on an expression that returns a BLOB or TEXT. Please consider using CAST.";
    FunctionalIndexFunctionIsNotAllowed { name } = 3758, "ER_FUNCTIONAL_INDEX_FUNCTION_IS_NOT_ALLOWED", "HY000",
        "Expression of functional index '{name}' contains a disallowed function.";
    FulltextFunctionalIndex = 3759, "ER_FULLTEXT_FUNCTIONAL_INDEX", "HY000", "Fulltext functional index is not supported.";
    SpatialFunctionalIndex = 3760, "ER_SPATIAL_FUNCTIONAL_INDEX", "HY000", "Spatial functional index is not supported.";
    WrongKeyColumnFunctionalIndex = 3761, "ER_WRONG_KEY_COLUMN_FUNCTIONAL_INDEX", "HY000",
        "The used storage engine cannot index the expression 'NULL'.";
    FunctionalIndexOnField = 3762, "ER_FUNCTIONAL_INDEX_ON_FIELD", "HY000",
        "Functional index on a column is not supported. Consider using a regular index instead.";
    GeneratedColumnNamedFunctionIsNotAllowed { name, function } = 3763, "ER_GENERATED_COLUMN_NAMED_FUNCTION_IS_NOT_ALLOWED", "HY000",
        "Expression of generated column '{name}' contains a disallowed function: {function}.";
    GeneratedColumnRowValue { name } = 3764, "ER_GENERATED_COLUMN_ROW_VALUE", "HY000",
        "Expression of generated column '{name}' cannot refer to a row value.";
    DependentByDefaultGeneratedValue { column, table } = 3766, "ER_DEPENDENT_BY_DEFAULT_GENERATED_VALUE", "HY000",
        "Column '{column}' of table '{table}' has a default value expression dependency and cannot be dropped or renamed.";
    DefaultValGeneratedNonPrior { name } = 3767, "ER_DEFAULT_VAL_GENERATED_NON_PRIOR", "HY000",
        "Default value expression of column '{name}' cannot refer to a column defined after it if that column is a generated \
         column or has an expression as default value.";
    DefaultValGeneratedRefAutoInc { name } = 3768, "ER_DEFAULT_VAL_GENERATED_REF_AUTO_INC", "HY000",
        "Default value expression of column '{name}' cannot refer to an auto-increment column.";
    DefaultValGeneratedFunctionIsNotAllowed { name } = 3769, "ER_DEFAULT_VAL_GENERATED_FUNCTION_IS_NOT_ALLOWED", "HY000",
        "Default value expression of column '{name}' contains a disallowed function.";
    DefaultValGeneratedNamedFunctionIsNotAllowed { name, function } = 3770, "ER_DEFAULT_VAL_GENERATED_NAMED_FUNCTION_IS_NOT_ALLOWED", "HY000",
        "Default value expression of column '{name}' contains a disallowed function: {function}.";
    DefaultValGeneratedRowValue { name } = 3771, "ER_DEFAULT_VAL_GENERATED_ROW_VALUE", "HY000",
        "Default value expression of column '{name}' cannot refer to a row value.";
    DefaultValGeneratedVariables { name } = 3772, "ER_DEFAULT_VAL_GENERATED_VARIABLES", "HY000",
        "Default value expression of column '{name}' cannot refer user or system variables.";
    DefaultAsValGenerated = 3773, "ER_DEFAULT_AS_VAL_GENERATED", "HY000",
        "DEFAULT function cannot be used with default value expressions";
    DeprecatedUtf8mb3Collation { collation } = 3778, "ER_DEPRECATED_UTF8MB3_COLLATION", "HY000",
        "'{collation}' is a collation of the deprecated character set UTF8MB3. Please consider using UTF8MB4 with an appropriate \
         collation instead.";
    FkIncompatibleColumns { column, parent_column, name } = 3780, "ER_FK_INCOMPATIBLE_COLUMNS", "HY000",
        "Referencing column '{column}' and referenced column '{parent_column}' in foreign key constraint '{name}' are \
         incompatible.";
    RplEncryptionMasterKeyRecoveryFailed = 3794, "ER_RPL_ENCRYPTION_MASTER_KEY_RECOVERY_FAILED", "HY000",
        "Unable to recover binlog encryption master key, please check if keyring is loaded.";
    FunctionalIndexRowValueIsNotAllowed { name } = 3800, "ER_FUNCTIONAL_INDEX_ROW_VALUE_IS_NOT_ALLOWED", "HY000",
        "Expression of functional index '{name}' cannot refer to a row value.";
    NonBooleanExprForCheckConstraint { name } = 3812, "ER_NON_BOOLEAN_EXPR_FOR_CHECK_CONSTRAINT", "HY000",
        "An expression of non-boolean type specified to a check constraint '{name}'.";
    ColumnCheckConstraintReferencesOtherColumn { name } = 3813, "ER_COLUMN_CHECK_CONSTRAINT_REFERENCES_OTHER_COLUMN", "HY000",
        "Column check constraint '{name}' references other column.";
    CheckConstraintNamedFunctionIsNotAllowed { name, function } = 3814, "ER_CHECK_CONSTRAINT_NAMED_FUNCTION_IS_NOT_ALLOWED", "HY000",
        "An expression of a check constraint '{name}' contains disallowed function: {function}.";
    CheckConstraintFunctionIsNotAllowed { name } = 3815, "ER_CHECK_CONSTRAINT_FUNCTION_IS_NOT_ALLOWED", "HY000",
        "An expression of a check constraint '{name}' contains disallowed function.";
    CheckConstraintVariables { name } = 3816, "ER_CHECK_CONSTRAINT_VARIABLES", "HY000",
        "An expression of a check constraint '{name}' cannot refer to a user or system variable.";
    CheckConstraintRowValue { name } = 3817, "ER_CHECK_CONSTRAINT_ROW_VALUE", "HY000",
        "Check constraint '{name}' cannot refer to a row value.";
    CheckConstraintRefersAutoIncrementColumn { name } = 3818, "ER_CHECK_CONSTRAINT_REFERS_AUTO_INCREMENT_COLUMN", "HY000",
        "Check constraint '{name}' cannot refer to an auto-increment column.";
    CheckConstraintViolated { name } = 3819, "ER_CHECK_CONSTRAINT_VIOLATED", "HY000", "Check constraint '{name}' is violated.";
    CheckConstraintRefersUnknownColumn { name, column } = 3820, "ER_CHECK_CONSTRAINT_REFERS_UNKNOWN_COLUMN", "HY000",
        "Check constraint '{name}' refers to non-existing column '{column}'.";
    CheckConstraintNotFound { name } = 3821, "ER_CHECK_CONSTRAINT_NOT_FOUND", "HY000",
        "Check constraint '{name}' is not found in the table.";
    CheckConstraintDupName { name } = 3822, "ER_CHECK_CONSTRAINT_DUP_NAME", "HY000",
        "Duplicate check constraint name '{name}'.";
    CheckConstraintClauseUsingFkReferActionColumn { column, check, key } = 3823, "ER_CHECK_CONSTRAINT_CLAUSE_USING_FK_REFER_ACTION_COLUMN", "HY000",
        "Column '{column}' cannot be used in a check constraint '{check}': needed in a foreign key constraint '{key}' \
         referential action.";
    CannotUseEncryptionClause = 3833, "ER_CANNOT_USE_ENCRYPTION_CLAUSE", "HY000",
        "ENCRYPTION clause is not valid for temporary tablespace.";
    UnsupportedUseOfGrantAs = 3835, "ER_UNSUPPORTED_USE_OF_GRANT_AS", "HY000",
        "GRANT ... AS is currently supported only for global privileges.";
    UnknownAuthIdForGrantAs = 3836, "ER_UKNOWN_AUTH_ID_OR_ACCESS_DENIED_FOR_GRANT_AS", "HY000",
        "Either some of the authorization IDs in the AS clause are invalid or the current user lacks privileges to execute \
         the statement.";
    DependentByFunctionalIndex { column } = 3837, "ER_DEPENDENT_BY_FUNCTIONAL_INDEX", "HY000",
        "Column '{column}' has a functional index dependency and cannot be dropped or renamed.";
    InvalidJsonType { name } = 3853, "ER_INVALID_JSON_TYPE", "22032",
        "Invalid JSON type in argument 1 to function {name}; an object is required.";
    CannotConvertString { value, from, to } = 3854, "ER_CANNOT_CONVERT_STRING", "HY000",
        "Cannot convert string '{value}' from {from} to {to}";
    DependentByPartitionFunc { column } = 3855, "ER_DEPENDENT_BY_PARTITION_FUNC", "HY000",
        "Column '{column}' has a partitioning function dependency and cannot be dropped or renamed.";
    SecondPasswordCannotBeEmpty { whose } = 3878, "ER_SECOND_PASSWORD_CANNOT_BE_EMPTY", "HY000",
        "Empty password can not be retained as second password for user {whose}.";
    DaAuthIdWithSystemUserPrivInMandatoryRoles { account } = 3880, "ER_DA_AUTH_ID_WITH_SYSTEM_USER_PRIV_IN_MANDATORY_ROLES", "HY000",
        "Cannot set mandatory_roles: AuthId {account} has 'SYSTEM_USER' privilege.";
    GeometryInUnknownLengthUnit { function, srid, unit } = 3882, "ER_GEOMETRY_IN_UNKNOWN_LENGTH_UNIT", "SU001",
        "The geometry passed to function {function} is in SRID {srid}, which doesn't specify a length unit. Can't convert to \
         '{unit}'.";
    RegexpInvalidCaptureGroupName = 3887, "ER_REGEXP_INVALID_CAPTURE_GROUP_NAME", "HY000",
        "A capture group has an invalid name.";
    IncorrectCurrentPassword = 3891, "ER_INCORRECT_CURRENT_PASSWORD", "HY000",
        "Incorrect current password. Specify the correct password which has to be replaced.";
    MissingCurrentPassword = 3892, "ER_MISSING_CURRENT_PASSWORD", "HY000",
        "Current password needs to be specified in the REPLACE clause in order to change it.";
    CurrentPasswordNotRequired = 3893, "ER_CURRENT_PASSWORD_NOT_REQUIRED", "HY000",
        "Do not specify the current password while changing it for other users.";
    PasswordCannotBeRetainedOnPluginChange { user } = 3894, "ER_PASSWORD_CANNOT_BE_RETAINED_ON_PLUGIN_CHANGE", "HY000",
        "Current password can not be retained for user {user} because authentication plugin is being changed.";
    CurrentPasswordCannotBeRetained { user } = 3895, "ER_CURRENT_PASSWORD_CANNOT_BE_RETAINED", "HY000",
        "Current password can not be retained for user {user} because new password is empty.";
    CannotGrantSystemPrivToMandatoryRole { account } = 3897, "ER_CANNOT_GRANT_SYSTEM_PRIV_TO_MANDATORY_ROLE", "HY000",
        "AuthId {account} is set as mandatory_roles. Cannot grant the 'SYSTEM_USER' privilege.";
    UnitNotFound { unit } = 3902, "ER_UNIT_NOT_FOUND", "SU001", "There's no unit of measure named '{unit}'.";
    InvalidJsonValueForFuncIndex { index } = 3903, "ER_INVALID_JSON_VALUE_FOR_FUNC_INDEX", "22018",
        "Invalid JSON value for CAST for functional index '{index}'.";
    JsonValueOutOfRangeForFuncIndex { index } = 3904, "ER_JSON_VALUE_OUT_OF_RANGE_FOR_FUNC_INDEX", "22003",
        "Out of range JSON value for CAST for functional index '{index}'.";
    ExceededMvKeysNum { index, count } = 3905, "ER_EXCEEDED_MV_KEYS_NUM", "HY000",
        "Exceeded max number of values per record for multi-valued index '{index}' by {count} value(s).";
    ExceededMvKeysSpace { index, bytes } = 3906, "ER_EXCEEDED_MV_KEYS_SPACE", "HY000",
        "Exceeded max total length of values per record for multi-valued index '{index}' by {bytes} bytes.";
    FunctionalIndexDataIsTooLong { index } = 3907, "ER_FUNCTIONAL_INDEX_DATA_IS_TOO_LONG", "22001",
        "Data too long for functional index '{index}'.";
    WrongMviValue { index } = 3908, "ER_WRONG_MVI_VALUE", "HY000",
        "Cannot store an array or an object in a scalar key part of the index '{index}'.";
    WarnDaPrivilegeNotRegistered { privilege } = 3929, "ER_WARN_DA_PRIVILEGE_NOT_REGISTERED", "HY000",
        "Dynamic privilege '{privilege}' is not registered with the server.";
    MultipleConstraintsWithSameName { name, clause } = 3939, "ER_MULTIPLE_CONSTRAINTS_WITH_SAME_NAME", "HY000",
        "Table has multiple constraints with the name '{name}'. Please use constraint specific '{clause}' clause.";
    ConstraintNotFound { name } = 3940, "ER_CONSTRAINT_NOT_FOUND", "HY000", "Constraint '{name}' does not exist.";
    AlterConstraintEnforcementNotSupported { name } = 3941, "ER_ALTER_CONSTRAINT_ENFORCEMENT_NOT_SUPPORTED", "HY000",
        "Altering constraint enforcement is not supported for the constraint '{name}'. Enforcement state alter is not \
         supported for the PRIMARY, UNIQUE and FOREIGN KEY type constraints.";
    ClientLocalFilesDisabled = 3948, "ER_CLIENT_LOCAL_FILES_DISABLED", "42000",
        "Loading local data is disabled; this must be enabled on both the client and server sides";
    MultipleIntoClauses = 3953, "ER_MULTIPLE_INTO_CLAUSES", "HY000", "Multiple INTO clauses in one query block.";
    MisplacedInto = 3954, "ER_MISPLACED_INTO", "HY000",
        "Misplaced INTO clause, INTO is not allowed inside subqueries, and must be placed at end of UNION clauses.";
    UserAccessDeniedForUserAccountBlockedByPasswordLock { user, host, days, left, failures } = 3955, "ER_USER_ACCESS_DENIED_FOR_USER_ACCOUNT_BLOCKED_BY_PASSWORD_LOCK", "HY000",
        "Access denied for user '{user}'@'{host}'. Account is blocked for {days} day(s) ({left} day(s) remaining) due to \
         {failures} consecutive failed logins.";
    DependentByCheckConstraint { name, column } = 3959, "ER_DEPENDENT_BY_CHECK_CONSTRAINT", "HY000",
        "Check constraint '{name}' uses column '{column}', hence column cannot be dropped or renamed.";
    MissingJsonValue = 3966, "ER_MISSING_JSON_VALUE", "22035", "No value was found by 'json_value' on the specified path.";
    MultipleJsonValues = 3967, "ER_MULTIPLE_JSON_VALUES", "22034",
        "More than one value was found by 'json_value' on the specified path.";
    InvalidUserAttributeJson = 3982, "ER_INVALID_USER_ATTRIBUTE_JSON", "HY000",
        "The user attribute must be a valid JSON object";
    CharacterSetMismatch { left, right, function } = 3995, "ER_CHARACTER_SET_MISMATCH", "HY000",
        "Character set '{left}' cannot be used in conjunction with '{right}' in call to {function}.";
    InvalidCast = 3998, "ER_INVALID_CAST", "HY000", "Cannot cast value to TIMESTAMP WITH TIME ZONE.";
    WarnUserReferencedAsDefiner { user, what } = 4005, "ER_USER_REFERENCED_AS_DEFINER", "HY000",
        "User {user} is referenced as a definer account in {what}.";
    CannotUserReferencedAsDefiner { operation, whose, what } = 4006, "ER_CANNOT_USER_REFERENCED_AS_DEFINER", "HY000",
        "Operation {operation} failed for {whose} as it is referenced as a definer account in {what}.";
    RoleGrantedToItself { account, role } = 4027, "ER_ROLE_GRANTED_TO_ITSELF", "HY000",
        "User account {account} is directly or indirectly granted to the role {role}. The GRANT would create a loop";
    TableMustHaveAVisibleColumn = 4028, "ER_TABLE_MUST_HAVE_A_VISIBLE_COLUMN", "HY000",
        "A table must have at least one visible column.";
    ClientInteractionTimeout = 4031, "ER_CLIENT_INTERACTION_TIMEOUT", "HY000",
        "The client was disconnected by the server because of inactivity. See wait_timeout and interactive_timeout for \
         configuring this behavior.";
    InvalidCastToGeometry { from, to } = 4032, "ER_INVALID_CAST_TO_GEOMETRY", "22S01", "Invalid cast from {from} to {to}.";
    InvalidCastPolygonRingDirection { from, to } = 4033, "ER_INVALID_CAST_POLYGON_RING_DIRECTION", "22S04",
        "Invalid cast from {from} to {to}. A polygon ring is in the wrong direction.";
    GisDifferentSridsAggregation { function, first, second } = 4034, "ER_GIS_DIFFERENT_SRIDS_AGGREGATION", "22S05",
        "Arguments to function {function} contains geometries with different SRIDs: {first} and {second}. All geometries must \
         have the same SRID.";
    CommentContainsInvalidString { what, name, charset, bytes } = 4088, "ER_COMMENT_CONTAINS_INVALID_STRING", "HY000",
        "Comment for {what} '{name}' contains an invalid {charset} character string: '{bytes}'.";
    DefinitionContainsInvalidString { what, name, charset, bytes } = 4089, "ER_DEFINITION_CONTAINS_INVALID_STRING", "HY000",
        "Definition of {what} '{name}' contains an invalid {charset} character string: '{bytes}'.";
    XaTempTable = 4091, "ER_XA_TEMP_TABLE", "HY000",
        "XA: Temporary tables cannot be accessed inside XA transactions when xa_detach_on_prepare=ON";
    InnodbMaxRowVersion { table } = 4092, "ER_INNODB_MAX_ROW_VERSION", "HY000",
        "Maximum row versions reached for table {table}. No more columns can be added or dropped instantly. Please use \
         COPY/INPLACE.";
    IfNotExistsTriggerExists { name, database, table } = 4099, "ER_WARN_TRG_ALREADY_EXISTS", "HY000",
        "Trigger '{name}' already exists on the table '{database}'.'{table}'.";
    CteRecursiveNotUnion = 4114, "ER_CTE_RECURSIVE_NOT_UNION", "HY000",
        "Recursive table reference in EXCEPT or INTERSECT operand is not allowed.";
    ExplainIntoImplicitFormatNotSupported = 6006, "ER_EXPLAIN_INTO_IMPLICIT_FORMAT_NOT_SUPPORTED", "0A000",
        "EXPLAIN INTO does not support implicit FORMAT.";
    ExplainIntoFormatNotSupported { format } = 6007, "ER_EXPLAIN_INTO_FORMAT_NOT_SUPPORTED", "0A000",
        "EXPLAIN INTO does not support FORMAT={format}.";
    ExplainIntoForConnectionNotSupported = 6009, "ER_EXPLAIN_INTO_FOR_CONNECTION_NOT_SUPPORTED", "0A000",
        "EXPLAIN FOR CONNECTION does not support the INTO clause.";
    FkNoUniqueIndexParent { name, parent } = 6125, "ER_FK_NO_UNIQUE_INDEX_PARENT", "HY000",
        "Failed to add the foreign key constraint. Missing unique key for constraint '{name}' in the referenced table \
         '{parent}'";
    NonScalarUsedAsKey { column } = 6134, "ER_NON_SCALAR_USED_AS_KEY", "HY000",
        "Non-scalar (e.g., vector) column '{column}' cannot be used as key.";
    IncompatibleTypeAgg { first, second } = 6135, "ER_INCOMPATIBLE_TYPE_AGG", "HY000",
        "Columns aggregated with incompatible types: '{first}', '{second}'.";
    DataIncompatibleWithVector { kind, bytes } = 6136, "ER_DATA_INCOMPATIBLE_WITH_VECTOR", "HY000",
        "Value of type '{kind}, size: {bytes}' cannot be converted to 'vector' type.";
    ExceedsVectorMaxDimensions { bytes, dimensions, column } = 6137, "ER_EXCEEDS_VECTOR_MAX_DIMENSIONS", "HY000",
        "Data size ({bytes} Bytes, {dimensions} dimensions) exceeds VECTOR max (65532 Bytes, 16383 dimensions) for column: '{column}'";
    ToVectorConversion { text } = 6138, "ER_TO_VECTOR_CONVERSION", "HY000",
        "Data cannot be converted to a valid vector: '{text}'";
    WindowOuterReference { name } = 6432, "ER_INVALID_OUTER_REFERENCE", "HY000",
        "Outer reference {name} in window's ORDER BY or PARTITION BY clause not allowed.";
    ServerSourceFatalErrorReadingBinlog { number, why } = 13114, "ER_SERVER_SOURCE_FATAL_ERROR_READING_BINLOG", "HY000",
        "Got fatal error {number} from source when reading data from binary log: '{why}'";
    ReplicaFatalError { why } = 13117, "ER_REPLICA_FATAL_ERROR", "HY000", "Fatal error: {why}";
    ServerReplicaConversionFailed { column, database, table, from, to } = 13146, "ER_SERVER_REPLICA_CONVERSION_FAILED", "HY000",
        "Column {column} (counting the first column as number 1) of table '{database}.{table}' cannot be converted from type \
         '{from}' to type '{to}'";
    PastIsOff = 50000, "ER_HEDDLE_PAST_IS_OFF", "HY000",
        "Nothing of the past is kept: AS OF TIMESTAMP needs undo_retention";
    PastIsGone { first } = 50001, "ER_HEDDLE_PAST_IS_GONE", "HY000",
        "The moment of AS OF TIMESTAMP is not kept any more; the first one is {first}";
    PastIsFuture = 50002, "ER_HEDDLE_PAST_IS_FUTURE", "HY000", "The moment of AS OF TIMESTAMP has not come yet";
}
