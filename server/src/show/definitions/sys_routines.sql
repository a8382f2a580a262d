CREATE FUNCTION extract_schema_from_file_name (path VARCHAR(512)) RETURNS VARCHAR(64)
    DETERMINISTIC NO SQL SQL SECURITY INVOKER COMMENT 'The directory of a file of a table, as the name of a schema'
    RETURN LEFT(SUBSTRING_INDEX(SUBSTRING_INDEX(REPLACE(path, '\\', '/'), '/', -2), '/', 1), 64);
CREATE FUNCTION extract_table_from_file_name (path VARCHAR(512)) RETURNS VARCHAR(64)
    DETERMINISTIC NO SQL SQL SECURITY INVOKER COMMENT 'The name of a file of a table without directory and ending'
    RETURN LEFT(SUBSTRING_INDEX(REPLACE(SUBSTRING_INDEX(REPLACE(path, '\\', '/'), '/', -1), '@0024', '$'), '.', 1), 64);
CREATE FUNCTION format_bytes (bytes TEXT) RETURNS TEXT
    DETERMINISTIC NO SQL SQL SECURITY INVOKER COMMENT 'A count of bytes with its unit'
    RETURN FORMAT_BYTES(bytes);
CREATE FUNCTION format_path (in_path VARCHAR(512)) RETURNS VARCHAR(512) CHARSET utf8mb4
    DETERMINISTIC NO SQL SQL SECURITY INVOKER COMMENT 'A path with the variable of its directory in the place of that'
BEGIN
    DECLARE data VARCHAR(512) DEFAULT TRIM(TRAILING '/' FROM @@datadir);
    DECLARE temporary VARCHAR(512) DEFAULT TRIM(TRAILING '/' FROM @@tmpdir);
    DECLARE loaded VARCHAR(512) DEFAULT TRIM(TRAILING '/' FROM @@replica_load_tmpdir);
    DECLARE base VARCHAR(512) DEFAULT TRIM(TRAILING '/' FROM @@basedir);
    RETURN CASE
        WHEN data <> '' AND in_path LIKE CONCAT(data, '/%') ESCAPE '|' THEN CONCAT('@@datadir', SUBSTRING(in_path, CHAR_LENGTH(data) + 1))
        WHEN temporary <> '' AND in_path LIKE CONCAT(temporary, '/%') ESCAPE '|' THEN CONCAT('@@tmpdir', SUBSTRING(in_path, CHAR_LENGTH(temporary) + 1))
        WHEN loaded <> '' AND in_path LIKE CONCAT(loaded, '/%') ESCAPE '|' THEN CONCAT('@@replica_load_tmpdir', SUBSTRING(in_path, CHAR_LENGTH(loaded) + 1))
        WHEN base <> '' AND in_path LIKE CONCAT(base, '/%') ESCAPE '|' THEN CONCAT('@@basedir', SUBSTRING(in_path, CHAR_LENGTH(base) + 1))
        ELSE in_path
    END;
END;
CREATE FUNCTION format_statement (statement LONGTEXT) RETURNS LONGTEXT
    DETERMINISTIC NO SQL SQL SECURITY INVOKER COMMENT 'A statement on one line, cut in the middle to @sys.statement_truncate_len characters'
BEGIN
    SET @sys.statement_truncate_len = IFNULL(@sys.statement_truncate_len, '64');
    RETURN REPLACE(IF(CHAR_LENGTH(statement) > @sys.statement_truncate_len,
        CONCAT(LEFT(statement, (@sys.statement_truncate_len / 2) - 2), ' ... ', RIGHT(statement, (@sys.statement_truncate_len / 2) - 2)),
        statement), '\n', ' ');
END;
CREATE FUNCTION format_time (picoseconds TEXT) RETURNS TEXT CHARSET utf8mb4
    DETERMINISTIC NO SQL SQL SECURITY INVOKER COMMENT 'Picoseconds as a time with its unit'
    RETURN CASE
        WHEN picoseconds IS NULL THEN NULL
        WHEN picoseconds >= 604800000000000000 THEN CONCAT(ROUND(picoseconds / 604800000000000000, 2), ' w')
        WHEN picoseconds >= 86400000000000000 THEN CONCAT(ROUND(picoseconds / 86400000000000000, 2), ' d')
        WHEN picoseconds >= 3600000000000000 THEN CONCAT(ROUND(picoseconds / 3600000000000000, 2), ' h')
        WHEN picoseconds >= 60000000000000 THEN CONCAT(ROUND(picoseconds / 60000000000000, 2), ' m')
        WHEN picoseconds >= 1000000000000 THEN CONCAT(ROUND(picoseconds / 1000000000000, 2), ' s')
        WHEN picoseconds >= 1000000000 THEN CONCAT(ROUND(picoseconds / 1000000000, 2), ' ms')
        WHEN picoseconds >= 1000000 THEN CONCAT(ROUND(picoseconds / 1000000, 2), ' us')
        WHEN picoseconds >= 1000 THEN CONCAT(ROUND(picoseconds / 1000, 2), ' ns')
        ELSE CONCAT(picoseconds, ' ps')
    END;
CREATE FUNCTION list_add (in_list TEXT, in_add_value TEXT) RETURNS TEXT
    DETERMINISTIC CONTAINS SQL SQL SECURITY INVOKER COMMENT 'A list of words between commas with one more'
BEGIN
    IF in_add_value IS NULL THEN
        SIGNAL SQLSTATE '02200' SET MYSQL_ERRNO = 1138,
            MESSAGE_TEXT = 'Function sys.list_add: in_add_value input variable should not be NULL';
    END IF;
    IF in_list IS NULL OR CHAR_LENGTH(in_list) = 0 THEN
        RETURN in_add_value;
    END IF;
    RETURN CONCAT(TRIM(BOTH ',' FROM TRIM(in_list)), ',', in_add_value);
END;
CREATE FUNCTION list_drop (in_list TEXT, in_drop_value TEXT) RETURNS TEXT
    DETERMINISTIC CONTAINS SQL SQL SECURITY INVOKER COMMENT 'A list of words between commas without one'
BEGIN
    IF in_drop_value IS NULL THEN
        SIGNAL SQLSTATE '02200' SET MYSQL_ERRNO = 1138,
            MESSAGE_TEXT = 'Function sys.list_drop: in_drop_value input variable should not be NULL';
    END IF;
    IF in_list IS NULL OR CHAR_LENGTH(in_list) = 0 THEN
        RETURN in_list;
    END IF;
    RETURN TRIM(BOTH ',' FROM REPLACE(REPLACE(CONCAT(',', in_list), CONCAT(',', in_drop_value), ''), CONCAT(', ', in_drop_value), ''));
END;
CREATE FUNCTION ps_is_account_enabled (in_host VARCHAR(255), in_user VARCHAR(32)) RETURNS ENUM('YES','NO')
    DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER COMMENT 'Is anything measured for the account?'
    RETURN IF(EXISTS(SELECT 1 FROM performance_schema.setup_actors
        WHERE (`HOST` = '%' OR in_host LIKE `HOST`) AND (`USER` = '%' OR `USER` = in_user) AND ENABLED = 'YES'), 'YES', 'NO');
CREATE FUNCTION ps_is_consumer_enabled (in_consumer VARCHAR(64)) RETURNS ENUM('YES','NO')
    DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER COMMENT 'Is the consumer on, and all above it?'
BEGIN
    DECLARE known INT DEFAULT (SELECT COUNT(*) FROM performance_schema.setup_consumers WHERE NAME = in_consumer);
    DECLARE message VARCHAR(128) DEFAULT CONCAT('Invalid argument error: ', in_consumer, ' in function sys.ps_is_consumer_enabled.');
    IF known = 0 THEN
        SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 3047, MESSAGE_TEXT = message;
    END IF;
    RETURN (SELECT IF(COUNT(*) = 0, 'YES', 'NO') FROM performance_schema.setup_consumers
        WHERE ENABLED = 'NO' AND (NAME = in_consumer OR NAME = 'global_instrumentation'
            OR NAME = 'thread_instrumentation' AND in_consumer LIKE 'events%'
            OR NAME LIKE 'events%\_current' AND in_consumer LIKE CONCAT(SUBSTRING_INDEX(NAME, '_current', 1), '\_history%')));
END;
CREATE FUNCTION ps_thread_account (in_thread_id BIGINT UNSIGNED) RETURNS TEXT
    NOT DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER COMMENT 'The user and host of a thread'
    RETURN (SELECT IF(TYPE = 'FOREGROUND', CONCAT(PROCESSLIST_USER, '@', PROCESSLIST_HOST), TYPE)
        FROM performance_schema.threads WHERE THREAD_ID = in_thread_id);
CREATE FUNCTION ps_thread_id (in_connection_id BIGINT UNSIGNED) RETURNS BIGINT UNSIGNED
    NOT DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER COMMENT 'The thread of a connection; of the own one for NULL'
    RETURN IF(in_connection_id IS NULL, PS_CURRENT_THREAD_ID(), PS_THREAD_ID(in_connection_id));
CREATE FUNCTION quote_identifier (in_identifier TEXT) RETURNS TEXT
    DETERMINISTIC NO SQL SQL SECURITY INVOKER COMMENT 'A name between backticks'
    RETURN CONCAT('`', REPLACE(in_identifier, '`', '``'), '`');
CREATE FUNCTION sys_get_config (in_variable_name VARCHAR(128), in_default_value VARCHAR(128)) RETURNS VARCHAR(128)
    DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER COMMENT 'A setting of sys.sys_config'
    RETURN IFNULL((SELECT value FROM sys.sys_config WHERE variable = in_variable_name), in_default_value);
CREATE FUNCTION version_major () RETURNS TINYINT UNSIGNED
    NOT DETERMINISTIC NO SQL SQL SECURITY INVOKER COMMENT 'The first number of the version'
    RETURN SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', 1);
CREATE FUNCTION version_minor () RETURNS TINYINT UNSIGNED
    NOT DETERMINISTIC NO SQL SQL SECURITY INVOKER COMMENT 'The second number of the version'
    RETURN SUBSTRING_INDEX(SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', 2), '.', -1);
CREATE FUNCTION version_patch () RETURNS TINYINT UNSIGNED
    NOT DETERMINISTIC NO SQL SQL SECURITY INVOKER COMMENT 'The third number of the version'
    RETURN SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1);
CREATE FUNCTION ps_is_thread_instrumented (in_connection_id BIGINT UNSIGNED) RETURNS ENUM('YES','NO','UNKNOWN')
    NOT DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER COMMENT 'Is anything measured for a connection?'
    RETURN IF(in_connection_id IS NULL, NULL,
        IFNULL((SELECT INSTRUMENTED FROM performance_schema.threads WHERE PROCESSLIST_ID = in_connection_id), 'UNKNOWN'));
CREATE PROCEDURE dismiss_advice (IN in_id CHAR(16))
    CONTAINS SQL SQL SECURITY INVOKER COMMENT 'Takes a finding out of SHOW ADVICE, also after a restart'
BEGIN
    IF in_id IS NULL OR in_id NOT REGEXP '^[0-9a-f]{16}$' THEN
        SIGNAL SQLSTATE '22023' SET MESSAGE_TEXT = 'The id of a finding has 16 hexadecimal digits; sys.advice has it';
    END IF;
    IF NOT FIND_IN_SET(in_id, @@GLOBAL.heddle_advice_dismissed) THEN
        SET PERSIST heddle_advice_dismissed = sys.list_add(@@GLOBAL.heddle_advice_dismissed, in_id);
    END IF;
END;
CREATE PROCEDURE restore_advice (IN in_id CHAR(16))
    CONTAINS SQL SQL SECURITY INVOKER COMMENT 'Shows a finding again that was dismissed'
BEGIN
    SET PERSIST heddle_advice_dismissed = sys.list_drop(@@GLOBAL.heddle_advice_dismissed, in_id);
END;
CREATE PROCEDURE table_exists (IN in_db VARCHAR(64), IN in_table VARCHAR(64), OUT out_exists ENUM('','BASE TABLE','VIEW','TEMPORARY'))
    NOT DETERMINISTIC CONTAINS SQL SQL SECURITY INVOKER COMMENT 'What table of a name there is; a temporary one hides the others'
BEGIN
    DECLARE is_taken BOOLEAN DEFAULT FALSE;
    DECLARE name TEXT DEFAULT CONCAT(sys.quote_identifier(in_db), '.', sys.quote_identifier(in_table));
    DECLARE kind VARCHAR(64) DEFAULT (SELECT TABLE_TYPE FROM information_schema.TABLES
        WHERE TABLE_SCHEMA = in_db AND TABLE_NAME = in_table);
    -- No table tells of temporary ones, but another of the same name cannot be made.
    DECLARE CONTINUE HANDLER FOR 1050 SET is_taken = TRUE;
    SET @sys.table_exists.sql = CONCAT('CREATE TEMPORARY TABLE ', name, ' (id INT)');
    PREPARE sys_table_exists FROM @sys.table_exists.sql;
    EXECUTE sys_table_exists;
    IF is_taken THEN
        SET kind = 'TEMPORARY';
    ELSE
        SET @sys.table_exists.sql = CONCAT('DROP TEMPORARY TABLE ', name);
        PREPARE sys_table_exists FROM @sys.table_exists.sql;
        EXECUTE sys_table_exists;
    END IF;
    DEALLOCATE PREPARE sys_table_exists;
    SET @sys.table_exists.sql = NULL;
    SET out_exists = IFNULL(kind, '');
END;
CREATE PROCEDURE execute_prepared_stmt (IN in_query LONGTEXT)
    NOT DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER COMMENT 'Prepares a statement, runs it, and forgets it'
BEGIN
    IF in_query IS NULL OR in_query = '' THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'The @sys.execute_prepared_stmt.sql must contain a query';
    END IF;
    SET @sys.execute_prepared_stmt.sql = in_query;
    IF sys.sys_get_config('debug', 'OFF') = 'ON' OR @sys.debug = 'ON' THEN
        SELECT in_query AS 'Debug';
    END IF;
    PREPARE sys_execute_prepared_stmt FROM @sys.execute_prepared_stmt.sql;
    EXECUTE sys_execute_prepared_stmt;
    DEALLOCATE PREPARE sys_execute_prepared_stmt;
    SET @sys.execute_prepared_stmt.sql = NULL;
END;
CREATE PROCEDURE create_synonym_db (IN in_db_name VARCHAR(64), IN in_synonym VARCHAR(64))
    NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER COMMENT 'Makes a database of views of all tables of another one'
BEGIN
    DECLARE is_over BOOLEAN DEFAULT FALSE;
    DECLARE made INT DEFAULT 0;
    DECLARE name VARCHAR(64);
    DECLARE message TEXT;
    DECLARE names CURSOR FOR SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = in_db_name ORDER BY TABLE_NAME;
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET is_over = TRUE;
    IF NOT EXISTS (SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = in_db_name) THEN
        SET message = CONCAT('Unknown database ', IFNULL(in_db_name, 'NULL'));
        SIGNAL SQLSTATE 'HY000' SET MESSAGE_TEXT = message;
    END IF;
    IF EXISTS (SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = in_synonym) THEN
        SET message = CONCAT('Can\'t create database ', in_synonym, '; database exists');
        SIGNAL SQLSTATE 'HY000' SET MESSAGE_TEXT = message;
    END IF;
    CALL sys.execute_prepared_stmt(CONCAT('CREATE DATABASE ', sys.quote_identifier(in_synonym)));
    SET is_over = FALSE;
    OPEN names;
    each_table: LOOP
        FETCH names INTO name;
        IF is_over THEN
            LEAVE each_table;
        END IF;
        CALL sys.execute_prepared_stmt(CONCAT('CREATE SQL SECURITY INVOKER VIEW ',
            sys.quote_identifier(in_synonym), '.', sys.quote_identifier(name), ' AS SELECT * FROM ',
            sys.quote_identifier(in_db_name), '.', sys.quote_identifier(name)));
        SET made = made + 1;
        SET is_over = FALSE;
    END LOOP;
    CLOSE names;
    SELECT CONCAT('Created ', made, IF(made = 1, ' view', ' views'), ' in the ', sys.quote_identifier(in_synonym), ' database') AS summary;
END;
CREATE PROCEDURE revoke_schema_privileges_from_all_accounts_except (IN in_schema_name CHAR(255), IN in_privileges JSON, IN in_exclude_users JSON)
    NOT DETERMINISTIC CONTAINS SQL SQL SECURITY INVOKER COMMENT 'Takes privileges on a database from all accounts but some'
BEGIN
    DECLARE is_over BOOLEAN DEFAULT FALSE;
    DECLARE grantee VARCHAR(292);
    DECLARE privilege VARCHAR(64);
    DECLARE grants CURSOR FOR SELECT p.GRANTEE, p.PRIVILEGE_TYPE FROM information_schema.SCHEMA_PRIVILEGES p
        WHERE p.TABLE_SCHEMA = in_schema_name AND JSON_CONTAINS(in_privileges, JSON_QUOTE(p.PRIVILEGE_TYPE))
            AND NOT JSON_CONTAINS(in_exclude_users, JSON_QUOTE(p.GRANTEE))
        ORDER BY p.GRANTEE, p.PRIVILEGE_TYPE;
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET is_over = TRUE;
    IF NOT EXISTS (SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = in_schema_name) THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'The schema does not exist';
    END IF;
    SET is_over = FALSE;
    OPEN grants;
    each_grant: LOOP
        FETCH grants INTO grantee, privilege;
        IF is_over THEN
            LEAVE each_grant;
        END IF;
        -- The names stand between quotes there as they are: what is in them is quoted here.
        SET @sys.revoke_host = SUBSTRING_INDEX(grantee, '\'@\'', -1);
        SET @sys.revoke_user = SUBSTRING(grantee, 2, CHAR_LENGTH(grantee) - CHAR_LENGTH(@sys.revoke_host) - 4);
        CALL sys.execute_prepared_stmt(CONCAT('REVOKE ', privilege, ' ON ', sys.quote_identifier(in_schema_name), '.* FROM ',
            QUOTE(@sys.revoke_user), '@', QUOTE(TRIM(TRAILING '\'' FROM @sys.revoke_host))));
        SET is_over = FALSE;
    END LOOP;
    CLOSE grants;
    SET @sys.revoke_host = NULL, @sys.revoke_user = NULL;
END;
