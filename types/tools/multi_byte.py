#!/usr/bin/env python3
"""Makes charset/multi_byte.bin: the characters, cases and collations of MySQL's multi-byte character sets of East Asia, as a running MySQL answers.

Usage: multi_byte.py HOST:PORT USER PASSWORD OUTPUT_FOLDER         (needs PyMySQL; no table is made on the server)

All answers are MySQL's own (made with 9.7.4). For each code X of a set S (all of one byte, of two, and of three that begin with 8F) and each character C:
    SELECT HEX(CONVERT(X USING S)), HEX(CONVERT(CONVERT(X USING S) USING utf16))         is it one of the set, and which character
    SELECT HEX(CONVERT(CONVERT(C USING utf32) USING S))                                  the code of a character
    SELECT HEX(WEIGHT_STRING(x)), HEX(UPPER(x)), HEX(LOWER(x))                           of CONVERT(X USING S) in its default collation

A code of three bytes, 8F HI LO, is written HI LO with the high bit of LO cleared: no code of two bytes of these sets is like that.

Format, numbers little-endian u16, for each set of SETS in this order:
    head: first second byte of the rows, their length, 1 if there are weights, count of pages, of upper cases, of lower cases, of ranges, of pinyin runs
    the weights of ASCII (128)
    256 row numbers or 0xffff: by the first byte from 0x80, then by the second byte from 0x80 behind 8F
    rows: the character of each code; 0: none, 0xffff: no code of the set
    if there are weights: rows of weights
    256 page numbers or 0xffff, by the high byte of a character; pages of 256 codes, 0: none; a code below 0x100 has one byte
    upper cases: pairs of characters (u32 each, the lower word first), then lower cases
    ranges of gb18030: first character, last character (u32 each), place of the first among the codes of four bytes (u32)
    pinyin runs of gb18030_chinese_ci: first character (u32), count; then the weights of all runs, 0: none
"""
import struct
import sys

import pymysql

SETS = "big5 cp932 eucjpms euckr gb18030 gb2312 gbk sjis ujis".split()
NUMBERS = "WITH RECURSIVE n AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM n WHERE n < {last}) "


def ask(cursor, last, select):
    cursor.execute(NUMBERS.format(last=last) + select)
    return cursor.fetchall()


def place(code):
    a, b, c, d = code
    return ((a - 0x81) * 10 + b - 0x30) * 1260 + (c - 0x81) * 10 + d - 0x30


def folded(code):
    return (code[1] << 8 | code[2] & 0x7F) if len(code) == 3 else int.from_bytes(code, "big")


def record(cursor, name):
    forms = [("CHAR(n)", "n < 256"), ("UNHEX(LPAD(HEX(n), 4, '0'))", "n >= 32768")]
    if name in ("ujis", "eucjpms"):
        forms.append(("UNHEX(CONCAT('8F', LPAD(HEX(n), 4, '0')))", "n >= 32768"))
    known, weights, cases = {}, {}, {}
    for form, where in forms:
        x = f"CONVERT({form} USING {name})"
        rows = ask(cursor, 65535, f"SELECT HEX({form}), HEX({x}), HEX(CONVERT({x} USING utf16)), HEX(WEIGHT_STRING({x})), HEX(UPPER({x})), HEX(LOWER({x})) "
                                  f"FROM n WHERE {where}")
        for sent, kept, char, weight, upper, lower in rows:
            # Two characters of one byte are no code.
            if sent != kept or not char or len(char) > 4:
                continue
            code = bytes.fromhex(sent)
            char = int(char, 16)
            known[code] = 0 if char in (0x3F, 0xFFFD) and code != b"?" else char
            weights[code], cases[code] = bytes.fromhex(weight), (bytes.fromhex(upper), bytes.fromhex(lower))
    last = 0x10FFFF if name == "gb18030" else 0xFFFF
    y = f"CONVERT(CONVERT(UNHEX(LPAD(HEX(n), 8, '0')) USING utf32) USING {name})"
    back, pinyin = {}, {}
    for char, code, weight, upper, lower in ask(cursor, last, f"SELECT n, HEX({y}), HEX(WEIGHT_STRING({y})), HEX(UPPER({y})), HEX(LOWER({y})) FROM n "
                                                              "WHERE n NOT BETWEEN 55296 AND 57343"):
        code = bytes.fromhex(code)
        if code == b"?" and char != 0x3F:
            continue
        back[char] = code
        cases[code] = (bytes.fromhex(upper), bytes.fromhex(lower))
        if name == "gb18030" and weight.startswith("FFA0"):
            pinyin[char] = int(weight[4:], 16)
    char_of = {code: char for char, code in back.items()}
    # A backslash is one whatever its code.
    back.update((char, bytes([char])) for char in range(128))

    double = [code for code in known if len(code) > 1]
    trails = sorted({code[-1] for code in double})
    first, length = trails[0], trails[-1] - trails[0] + 1
    has_weights = name in ("big5", "gbk")
    leads = sorted({code[:-1] for code in double})
    index = [0xFFFF] * 256
    characters, order = [], []
    for row, lead in enumerate(leads):
        index[lead[-1] - 0x80 + (128 if len(lead) > 1 else 0)] = row
        codes = [lead + bytes([first + i]) for i in range(length)]
        characters += [known.get(code, 0xFFFF) for code in codes]
        order += [int.from_bytes(weights[code], "big") if code in known else 0 for code in codes]
        for code in codes:
            if code in known and not has_weights and name != "gb18030":
                assert weights[code] == code, (name, code)
    page_index, pages = [], []
    for page in range(256):
        codes = [back.get(char, b"") if not 0xD800 <= char < 0xE000 else b"" for char in range(page * 256, page * 256 + 256)]
        words = [folded(code) if 0 < len(code) < 4 else 0 for code in codes]
        page_index.append(len(pages) // 256 if any(words) else 0xFFFF)
        pages += words if any(words) else []
    pairs = [sorted((char, char_of[cases[code][i]]) for char, code in back.items() if char >= 128 and cases[code][i] != code and cases[code][i] in char_of)
             for i in (0, 1)]
    ranges, runs = [], []
    for char in sorted(back):
        if len(back[char]) == 4:
            if ranges and ranges[-1][1] == char - 1 and ranges[-1][2] + char - ranges[-1][0] == place(back[char]):
                ranges[-1][1] = char
            else:
                ranges.append([char, char, place(back[char])])
    for char in sorted(pinyin):
        if not runs or char - runs[-1][-1] > 100 or char - runs[-1][0] > 60000:
            runs.append([char])
        runs[-1].append(char)
    head = [first, length, int(has_weights), len(pages) // 256, len(pairs[0]), len(pairs[1]), len(ranges), len(runs)]
    words = head + [weights[bytes([byte])][0] for byte in range(128)] + index + characters + (order if has_weights else []) + page_index + pages
    for number in (number for group in (*pairs, ranges) for item in group for number in item):
        words += [number & 0xFFFF, number >> 16]
    for run in runs:
        words += [run[0] & 0xFFFF, run[0] >> 16, run[-1] - run[0] + 1]
    for run in runs:
        words += [pinyin.get(char, 0) for char in range(run[0], run[-1] + 1)]
    return struct.pack(f"<{len(words)}H", *words)


def main():
    address, user, password, folder = sys.argv[1:]
    host, port = address.split(":")
    cursor = pymysql.connect(host=host, port=int(port), user=user, password=password, charset="utf8mb4").cursor()
    cursor.execute("SET cte_max_recursion_depth = 2000000, sql_mode = ''")
    with open(f"{folder}/multi_byte.bin", "wb") as file:
        # The list of `STARTS` in charset/multi_byte.rs.
        for name in SETS:
            print(f'("{name}", {file.tell()}),')
            file.write(record(cursor, name))


if __name__ == "__main__":
    main()
