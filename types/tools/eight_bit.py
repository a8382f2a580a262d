#!/usr/bin/env python3
"""Makes charset/eight_bit.bin and charset/czech.bin: characters, cases and collations of MySQL's eight-bit character sets, as a running MySQL answers.

Usage: eight_bit.py HOST:PORT USER PASSWORD OUTPUT_FOLDER         (needs PyMySQL; no table is made on the server)

All answers are MySQL's own (made with 9.7.4). For each byte B of a set S, and each of its collations C:
    SELECT HEX(CONVERT(CONVERT(CHAR(B) USING S) USING utf16))          the character; `?` for a byte that has none
    SELECT HEX(UPPER(x)), HEX(LOWER(x)), HEX(WEIGHT_STRING(x))         of CONVERT(CHAR(B) USING S) COLLATE C
    SELECT x LIKE y                                                    of each pair of bytes, where equal weights do not say it

Format, numbers little-endian:
    SETS records of 1792 bytes, in the order of SETS below: u16 character of each byte (0: none; U+FFFD counts as none), upper case of each
        byte, lower case of each byte, then the characters in their order (256 u16, the last ones 0xffff) and the byte of each (256). Where
        several bytes are one character, its byte is the one that MySQL converts it to.
    for each collation of ORDERS below: 256 weights; the second byte of a weight, or 0 (256); the class of each byte in LIKE (256): its
        least equal byte.
czech.bin holds the weights of latin2_czech_cs on its four levels (0: ignorable; 256 each), those of `ch`, `Ch` and `CH` as one letter (4 each),
    and the same of cp1250_czech_cs on its two levels (256 each, 2 each).
"""
import struct
import sys

import pymysql

# Each with the collation whose cases it has; those of cp1250_czech_cs and latin2_czech_cs differ from their sets'.
SETS = [(s, None) for s in """armscii8 cp1250 cp1251 cp1256 cp1257 cp850 cp852 cp866 dec8 geostd8 greek hebrew hp8 keybcs2 koi8r koi8u
latin1 latin2 latin5 latin7 macce macroman swe7 tis620""".split()]
SETS += [("cp1250", "cp1250_czech_cs"), ("latin2", "latin2_czech_cs")]
# The weights of these are not one or two for a byte; only their classes in LIKE are kept.
SPECIAL = ("cp1250_czech_cs", "latin2_czech_cs", "tis620_thai_ci")


def bytes_of(cursor, select):
    cursor.execute(f"WITH RECURSIVE b AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM b WHERE n < 255) SELECT {select} FROM b ORDER BY n")
    return cursor.fetchall()


def record(cursor, name, collation):
    x = f"CONVERT(CHAR(n) USING {name})"
    rows = bytes_of(cursor, f"n, HEX(CONVERT({x} USING utf16))")
    chars = [0 if digits in ("003F", "FFFD") and n != 63 else int(digits, 16) for n, digits in rows]
    cased = f"{x} COLLATE {collation}" if collation else x
    cases = bytes_of(cursor, f"HEX(UPPER({cased})), HEX(LOWER({cased}))")
    upper, lower = (bytes(int(row[i], 16) for row in cases) for i in (0, 1))
    known = sorted({char for n, char in enumerate(chars) if char or n == 0})
    back = {}
    for char in known:
        cursor.execute(f"SELECT HEX(CONVERT(CONVERT(UNHEX('{char:04X}') USING utf16) USING {name}))")
        back[char] = int(cursor.fetchone()[0], 16)
    order = known + [0xFFFF] * (256 - len(known))
    return struct.pack("<256H", *chars) + upper + lower + struct.pack("<256H", *order) + bytes(back.get(char, 0) for char in order)


def order(cursor, name, collation):
    x = f"CONVERT(CHAR(n) USING {name}) COLLATE {collation}"
    weights = [bytes.fromhex(row[0]) for row in bytes_of(cursor, f"HEX(WEIGHT_STRING({x}))")]
    if collation in SPECIAL:
        cursor.execute(
            "WITH RECURSIVE b AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM b WHERE n < 255) SELECT x.n, MIN(y.n) FROM b x, b y "
            f"WHERE CONVERT(CHAR(x.n) USING {name}) COLLATE {collation} LIKE CONCAT('|', CONVERT(CHAR(y.n) USING {name})) ESCAPE '|' "
            "GROUP BY x.n ORDER BY x.n")
        return bytes(512) + bytes(least for _, least in cursor.fetchall())
    classes = bytes(weights.index(weight) for weight in weights)
    assert all(1 <= len(weight) <= 2 for weight in weights), collation
    return bytes(weight[0] for weight in weights) + bytes(weight[1] if len(weight) > 1 else 0 for weight in weights) + classes


LETTERS = ("6368", "4368", "4348")  # ch, Ch, CH


def czech(cursor):
    def weights(digits, name):
        cursor.execute(f"SELECT HEX(WEIGHT_STRING(CONVERT(UNHEX('{digits}') USING {name}) COLLATE {name}_czech_cs))")
        return bytes.fromhex(cursor.fetchone()[0])

    def levels(digits):
        parts = weights(digits, "latin2")[:-1].split(b"\x01")
        return [part[0] if part else 0 for part in parts] if len(parts) == 4 else [0] * 4

    latin2 = [levels(f"{byte:02X}") for byte in range(256)]
    cp1250 = [weights(f"{byte:02X}", "cp1250") for byte in range(256)]
    data = b"".join(bytes(row[level] for row in latin2) for level in range(4))
    data += b"".join(bytes(levels(letter)) for letter in LETTERS)
    data += b"".join(bytes(row[level] for row in cp1250) for level in range(2))
    return data + b"".join(weights(letter, "cp1250") for letter in LETTERS)


def main():
    address, user, password, folder = sys.argv[1:]
    host, port = address.split(":")
    cursor = pymysql.connect(host=host, port=int(port), user=user, password=password, charset="utf8mb4").cursor()
    data = b"".join(record(cursor, *each) for each in SETS)
    names = [name for name, collation in SETS if not collation]
    cursor.execute("SELECT collation_name, character_set_name, id FROM information_schema.collations ORDER BY id")
    orders = [row for row in cursor.fetchall() if row[1] in names and not row[0].endswith("_bin")]
    for collation, name, number in orders:
        data += order(cursor, name, collation)
    with open(f"{folder}/eight_bit.bin", "wb") as file:
        file.write(data)
    with open(f"{folder}/czech.bin", "wb") as file:
        file.write(czech(cursor))
    # The list of `ORDERS` in charset/eight_bit.rs.
    print(", ".join(f"({number}, {names.index(name)})" for _, name, number in orders))


if __name__ == "__main__":
    main()
