# Character sets with units of two and four bytes: ucs2, utf16le, utf32.
CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(10) CHARACTER SET ucs2, b VARCHAR(10) CHARACTER SET utf16le, c VARCHAR(10) CHARACTER SET utf32, d TEXT CHARACTER SET utf32, KEY (a), KEY (c));
INSERT INTO t VALUES (1, 'aé', 'aé', 'aé', 'aé'), (2, 'B', 'B😀', 'B😀', '😀'), (3, '', '', '', '');
SELECT id, a, b, c, HEX(a), HEX(b), HEX(c), LENGTH(a), LENGTH(b), LENGTH(c), CHAR_LENGTH(c) FROM t ORDER BY id;
INSERT INTO t VALUES (4, '😀', '', '', '');
SELECT id FROM t ORDER BY a, id;
SELECT id FROM t WHERE c = 'AE' COLLATE utf32_unicode_ci ORDER BY id;
SELECT id FROM t WHERE c LIKE 'A_' ORDER BY id;
SELECT HEX(CONVERT(0x41 USING ucs2)), HEX(CONVERT(0x41 USING utf32)), HEX(_utf16le 0x4100), HEX(CHAR(0x41 USING utf32)), ORD(CONVERT('é' USING utf32)), ORD(CONVERT('é' USING utf16le));
SELECT HEX(CONVERT(0x110000 USING utf32));
SELECT CONCAT(a, c), CHARSET(CONCAT(a, c)), CHARSET(CONCAT(a, 'x')) FROM t WHERE id = 1;
SELECT CONCAT(a, b) FROM t WHERE id = 1;
SELECT a COLLATE ucs2_unicode_ci = 'AE', a COLLATE ucs2_bin < 'b', HEX(WEIGHT_STRING(a COLLATE ucs2_bin)), HEX(WEIGHT_STRING(c COLLATE utf32_czech_ci)) FROM t WHERE id = 1;
SELECT UPPER(c), LOWER(a), REVERSE(b), SUBSTRING(c, 2) FROM t ORDER BY id;
SET NAMES ucs2;
SET NAMES utf32;
SET character_set_client = utf16le;
SHOW CREATE TABLE t;
SELECT column_name, character_maximum_length, character_octet_length FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 't' ORDER BY ordinal_position;
