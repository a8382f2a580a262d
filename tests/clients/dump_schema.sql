CREATE TABLE kinds (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, t TINYINT, tu TINYINT UNSIGNED, s SMALLINT, m MEDIUMINT, i INT NOT NULL DEFAULT 7, bo BOOLEAN,
  d DECIMAL(30,10), f FLOAT, g DOUBLE, c CHAR(10), v VARCHAR(200) COMMENT 'it''s a text', tt TINYTEXT, te TEXT, mt MEDIUMTEXT, lt LONGTEXT,
  bi BINARY(5), vb VARBINARY(50), tb TINYBLOB, bl BLOB, bt BIT(11), da DATE, ti TIME(3), dt DATETIME(6) DEFAULT CURRENT_TIMESTAMP(6),
  ts TIMESTAMP NULL DEFAULT NULL ON UPDATE CURRENT_TIMESTAMP, y YEAR, e ENUM('small','it''s','large'), st SET('a','b','c'), j JSON,
  l1 VARCHAR(50) CHARACTER SET latin1 COLLATE latin1_swedish_ci, bn VARCHAR(50) COLLATE utf8mb4_bin, x INT DEFAULT (1 + 2), hid INT INVISIBLE DEFAULT 5,
  gv BIGINT GENERATED ALWAYS AS (i + 1) VIRTUAL, gs VARCHAR(60) GENERATED ALWAYS AS (CONCAT(c, '-', i)) STORED,
  PRIMARY KEY (id), UNIQUE KEY v_i (v, i), KEY pre (te(20)), KEY down (i DESC, t), KEY inv (s) INVISIBLE, KEY gen (gs),
  CONSTRAINT positive CHECK (i > -1000000)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COMMENT='every kind';
INSERT INTO kinds (t, tu, s, m, i, bo, d, f, g, c, v, tt, te, mt, lt, bi, vb, tb, bl, bt, da, ti, dt, ts, y, e, st, j, l1, bn, hid) VALUES
 (-128, 255, -32768, 8388607, 2147483647, TRUE, '12345678901234567890.0123456789', 1.5, 1.7976931348623157e308, 'abc', '日本😀 ''q'' "d" \\ \n\t', 'tiny', 'text\0zero', 'medium', REPEAT('long ', 20000), X'0001FF', X'00270A0D5C1A', '', X'FF00', b'10101010101', '9999-12-31', '-838:59:59.000', '2024-02-29 23:59:59.999999', '2038-01-19 03:14:07', 2155, 'it''s', 'a,c', '{"a": [1, 2.5, "x", null, true], "b": {"c": "d"}}', 'Ärger €', 'BiN', 9),
 (NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
 (0, 0, 0, 0, -5, FALSE, '-0.0000000001', -1e-30, 5e-324, '', '', '', '', '', '', X'', X'', X'', X'', b'0', '1000-01-01', '00:00:00.001', '1000-01-01 00:00:00', '1970-01-01 00:00:01', 1901, 'small', '', '"text"', '', '', 0);
INSERT INTO kinds (i, c, v, d, j, bl) WITH RECURSIVE n AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM n WHERE x < 900) SELECT x, CHAR(65 + x % 26), CONCAT('row ', x), x / 7, JSON_OBJECT('x', x, 'y', JSON_ARRAY(x, x * 2)), UNHEX(SHA2(x, 256)) FROM n;
CREATE TABLE parents (a INT NOT NULL, b VARCHAR(10) NOT NULL, c INT UNIQUE, PRIMARY KEY (b, a)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
INSERT INTO parents VALUES (1, 'x', 10), (2, 'x', 20), (1, 'y', NULL);
CREATE TABLE children (
  id INT PRIMARY KEY, a INT, b VARCHAR(10), c INT, KEY c (c),
  CONSTRAINT whole FOREIGN KEY (b, a) REFERENCES parents (b, a) ON DELETE CASCADE ON UPDATE SET NULL,
  CONSTRAINT part FOREIGN KEY (c) REFERENCES parents (c)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
INSERT INTO children VALUES (1, 1, 'x', 10), (2, NULL, NULL, 20), (3, 1, 'y', NULL);
CREATE TABLE nokey (a INT, b VARCHAR(20)) ENGINE=InnoDB DEFAULT CHARSET=latin1;
INSERT INTO nokey VALUES (1, 'é'), (1, 'é'), (2, NULL);
CREATE TABLE nothing (a INT PRIMARY KEY) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE VIEW joined AS SELECT p.a AS a, c.id AS id FROM parents p JOIN children c ON p.b = c.b AND p.a = c.a;
CREATE VIEW over_view AS SELECT a, COUNT(*) AS n FROM joined GROUP BY a;
CREATE SQL SECURITY INVOKER VIEW checked AS SELECT a, b FROM parents WHERE a > 0 WITH CASCADED CHECK OPTION;
DELIMITER //
CREATE PROCEDURE add_up(IN x INT, OUT y INT) COMMENT 'sum' BEGIN DECLARE n INT DEFAULT 0; SELECT COUNT(*) INTO n FROM parents WHERE a >= x; SET y = n; END//
DELIMITER ;
