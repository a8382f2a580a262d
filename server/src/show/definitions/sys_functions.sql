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
