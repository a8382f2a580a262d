#!/usr/bin/env python3
"""Asks MySQL for the weight strings of random texts, to compare with the crate's.

Usage: answers.py HOST:PORT USER PASSWORD COUNT FILE [COLLATION ...]         (needs PyMySQL)

FILE gets a line `collation number, text as UTF-8, weight string` for each text, in hex, with tabs between them; COUNT texts for each collation (all
without COLLATION). Then: CHARSET_ANSWERS=FILE cargo test -p types -- --ignored answers_are_mysqls
Bytes that have no character in their set, or not the only bytes of their character, are left out: stored text cannot tell them apart.
"""
import random
import sys

import pymysql

RANGES = [(0x20, 0x7F), (0x41, 0x5B), (0x61, 0x7B), (0xA0, 0x250), (0x300, 0x370), (0x370, 0x530), (0x5D0, 0x600), (0x620, 0x700), (0x900, 0xE00),
    (0xE00, 0xE60), (0x1100, 0x1200), (0x1E00, 0x2000), (0x2000, 0x2600), (0x3000, 0x3100), (0x3400, 0x3500), (0x4E00, 0xA000), (0xAC00, 0xD7B0),
    (0xE000, 0xE100), (0xF900, 0xFB00), (0xFF00, 0xFFF0), (1, 0xD800), (0x10000, 0x30000), (0xE000, 0x110000)]
WORDS = ["ch", "Ch", "CH", "cH", "ll", "LL", "aa", "AA", "Aa", "dz", "dž", "DŽ", "Dž", "lj", "Lj", "nj", "NJ", "cs", "ccs", "ddzs", "DZS", "gy", "ny", "sz",
    "ssz", "ty", "zs", "ß", "ss", "æ", "ae", "ä", "ø", "å", "ñ", "  ", " ", "ー", "あ", "ア", "ｱ", "ゝ", "ヽ", "が", "一", "丁", "国", "i̇", "ı", "İ", "й",
    "е́", "ö", "ü", "ő", "ű", "ơ", "ự", "ที", "เก", "ก่", "\t", "-"]


def text(rng, last):
    parts = []
    for _ in range(rng.randrange(0, 7)):
        if rng.random() < 0.4:
            parts.append(rng.choice(WORDS))
        else:
            parts.append(chr(rng.randrange(*rng.choice(RANGES))))
    # Combining marks behind these make one of MySQL's mistakes (a weight of zero), which is not repeated.
    return "".join(c for c in "".join(parts) if not 0xD800 <= ord(c) < 0xE000 and ord(c) <= last)


def main():
    address, user, password, count, path, *wanted = sys.argv[1:]
    host, port = address.split(":")
    cursor = pymysql.connect(host=host, port=int(port), user=user, password=password, charset="utf8mb4").cursor()
    cursor.execute("SET sql_mode = ''")
    cursor.execute("SELECT collation_name, character_set_name, id, maxlen FROM information_schema.collations "
                   "JOIN information_schema.character_sets USING (character_set_name) ORDER BY id")
    rng = random.Random(7)
    with open(path, "w", encoding="ascii") as file:
        for name, charset, number, _ in cursor.fetchall():
            if wanted and name not in wanted or charset == "binary":
                continue
            repertoire = None
            if not charset.startswith(("utf", "ucs")):
                cursor.execute("WITH RECURSIVE n AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM n WHERE n < 65535) SELECT /*+ SET_VAR(cte_max_recursion_depth = 70000) */ n FROM n "
                    "WHERE n NOT BETWEEN 55296 AND 57343 AND n NOT IN (65533, 63) "
                    f"AND HEX(CONVERT(CONVERT(CONVERT(UNHEX(LPAD(HEX(n), 4, '0')) USING ucs2) USING {charset}) USING ucs2)) = LPAD(HEX(n), 4, '0')")
                repertoire = [row[0] for row in cursor.fetchall()]
            last = 0x10FFFF if charset in ("utf8mb4", "utf16", "utf16le", "utf32", "gb18030") else 0xFFFF
            known = set(repertoire or ())
            texts = {text(rng, last) for _ in range(int(count))}
            if repertoire:
                texts = {"".join(c for c in each if ord(c) in known) for each in texts}
                while len(texts) < int(count):
                    texts.add("".join(chr(rng.choice(repertoire)) if rng.random() < 0.8 else rng.choice("aAbBzZ -\t0cChH") for _ in range(rng.randrange(1, 9))))
            texts = sorted(texts)
            for start in range(0, len(texts), 500):
                part = texts[start : start + 500]
                rows = " UNION ALL ".join(f"SELECT {i} AS i, UNHEX('{each.encode().hex()}') AS t" for i, each in enumerate(part))
                cursor.execute(f"SELECT i, HEX(WEIGHT_STRING(CONVERT(CONVERT(t USING utf8mb4) USING {charset}) COLLATE {name})) FROM ({rows}) AS t")
                for i, weights in cursor.fetchall():
                    file.write(f"{number}\t{part[i].encode().hex()}\t{weights or ''}\n")


if __name__ == "__main__":
    main()
