#!/usr/bin/env python3
"""Makes collation/fingerprints.txt: texts, and for each collation a fingerprint of the weight strings that MySQL answers for them.

Usage: fingerprints.py HOST:PORT USER PASSWORD COUNT FILE         (needs PyMySQL)

Lines of the file: `text <TAB> UTF-8 in hex`, then `collation <TAB> FNV-1a of the weight strings of all texts, a zero byte behind each`. Characters that a set does
not have are `?` in it. Made with MySQL 9.7.4.
"""
import random
import sys

import pymysql

from answers import text


def fingerprint(weights):
    value = 0xCBF29CE484222325
    for byte in b"".join(each + b"\0" for each in weights):
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def main():
    address, user, password, count, path = sys.argv[1:]
    host, port = address.split(":")
    cursor = pymysql.connect(host=host, port=int(port), user=user, password=password, charset="utf8mb4").cursor()
    cursor.execute("SET sql_mode = ''")
    rng = random.Random(11)
    texts = []
    while len(texts) < int(count):
        # A backslash is another character in sjis, marks of kana are odd at the beginning, U+0307 makes a weight of zero, others are private in a set.
        made = "".join(c for c in text(rng, 0x10FFFF) if c not in "\\\u0307\ufffd" and not 0x80 <= ord(c) < 0xA0 and not 0xE000 <= ord(c) < 0xF900)
        # MySQL's tis620 has characters of higher planes by their lower 16 bits.
        made = "".join(c for c in made if ord(c) < 0x10000 or ord(c) < 0xE0000 and not (ord(c) & 0xFFFF < 0x100 or 0xE00 <= ord(c) & 0xFFFF < 0xE60))
        texts.append(made.lstrip("ーゝゞヽヾｰ"))
    rows = " UNION ALL ".join(f"SELECT {i} AS i, UNHEX('{each.encode().hex()}') AS t" for i, each in enumerate(texts))
    cursor.execute("SELECT collation_name, character_set_name FROM information_schema.collations ORDER BY id")
    with open(path, "w", encoding="ascii") as file:
        file.writelines(f"text\t{each.encode().hex()}\n" for each in texts)
        for name, charset in cursor.fetchall():
            if charset == "binary":
                continue
            cursor.execute(f"SELECT HEX(WEIGHT_STRING(CONVERT(CONVERT(t USING utf8mb4) USING {charset}) COLLATE {name})) FROM ({rows}) AS t ORDER BY i")
            file.write(f"{name}\t{fingerprint([bytes.fromhex(row[0] or '') for row in cursor.fetchall()]):016x}\n")


if __name__ == "__main__":
    main()
