# What lists character sets and collations.
SHOW CHARACTER SET;
SHOW COLLATION;
SELECT * FROM information_schema.character_sets;
SELECT * FROM information_schema.collations;
SELECT * FROM information_schema.collation_character_set_applicability;
SHOW CHARACTER SET LIKE 'cp125%';
SHOW COLLATION WHERE Charset = 'latin2' AND `Default` = 'Yes';
