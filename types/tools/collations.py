#!/usr/bin/env python3
"""Makes the weight tables of the collations: collation/uca900_{1,2,3}.bin and collation/general.bin.

Usage: collations.py ALLKEYS_9_0_0 OUTPUT_FOLDER
       collations.py uca400|uca520 WEIGHTS OUTPUT_FOLDER

The second form makes uca400.bin, the table of utf8mb4_unicode_ci, or uca520.bin, that of utf8mb4_unicode_520_ci, from what MySQL's
WEIGHT_STRING answers: WEIGHTS has a line `code point <TAB> weights in hex` for each character of the first plane, or of all planes.

ALLKEYS_9_0_0 is the Default Unicode Collation Element Table of UCA 9.0.0 (allkeys-9.0.0.txt, Unicode, Inc.); the PyPI package
`pyuca` carries a copy. Simple case mappings and decompositions come from Python's unicodedata.

uca900_N.bin holds the weights of level N (1 primary, 2 secondary, 3 tertiary), all numbers little-endian u16:
    page count, expansion words,
    4352 page numbers (one per 256 code points; 0xffff: implicit weights only),
    pages of 256 entries:
        0            ignorable
        1..0x7fff    the one weight
        0x8000 + i   expansion: word i of the expansion array is a count, that many weights follow
        0xffff       implicit weights, computed
    the expansion array.
uca400.bin is such a level with 256 page numbers; uca520.bin has all 4352.
general.bin: 256 page numbers (0xffff: every character is its own weight), pages of 256 weights.
"""
import re
import struct
import sys
import unicodedata

IMPLICIT = 0xFFFF


def read_allkeys(path, level):
    """Code point -> list of weights of the level, zero ones left out. Contractions are skipped: MySQL's root collation has none."""
    table = {}
    for line in open(path, encoding="utf-8"):
        line = line.split("#")[0].strip()
        if not line or line.startswith("@"):
            continue
        chars, elements = line.split(";")
        chars = chars.split()
        if len(chars) != 1:
            continue
        elements = re.findall(r"\[[.*]([0-9A-F]{4})\.([0-9A-F]{4})\.([0-9A-F]{4})\]", elements)
        # MySQL keeps eight elements; only U+FDFA has more.
        weights = [int(element[level - 1], 16) for element in elements[:8]]
        table[int(chars[0], 16)] = [w for w in weights if w]
    return table


def uca900(path, level):
    table = read_allkeys(path, level)
    pages, index, expansions, known = [], [], [], {}
    for page in range(0x1100):
        entries = []
        for code in range(page * 256, page * 256 + 256):
            weights = table.get(code)
            if weights is None:
                entries.append(IMPLICIT)
            elif not weights:
                entries.append(0)
            elif len(weights) == 1 and weights[0] < 0x8000:
                entries.append(weights[0])
            else:
                key = tuple(weights)
                if key not in known:
                    known[key] = len(expansions)
                    expansions += [len(weights), *weights]
                assert known[key] < 0x7FFF
                entries.append(0x8000 + known[key])
        if all(e == IMPLICIT for e in entries):
            index.append(0xFFFF)
            continue
        if entries not in pages:
            pages.append(entries)
        index.append(pages.index(entries))
    words = [len(pages), len(expansions), *index, *(e for p in pages for e in p), *expansions]
    return struct.pack(f"<{len(words)}H", *words)


OLD = unicodedata.ucd_3_2_0
# Capitals that Unicode 3.2 added; utf8_general_ci was made from 3.0.
NEW_CAPITALS = {0x220, 0x3D8, 0x3F4, 0x48A, 0x4C5, 0x4C9, 0x4CD, *range(0x500, 0x510, 2)}


def simple_upper(char):
    upper = char.upper()
    known = len(upper) == 1 and OLD.category(upper) != "Cn" and ord(upper) not in NEW_CAPITALS
    return upper if known else char


def general_weight(code):
    """Upper case of the base letter of Latin, Greek and Cyrillic; the Cyrillic short I is a letter of its own."""
    if 0xD800 <= code <= 0xDFFF or OLD.category(chr(code)) == "Cn":
        return code
    if code == 0xDF:
        return ord("S")
    if code == 0x3F2:
        return 0x3A3
    if code == 0x3F5:
        return code
    char = simple_upper(chr(code))
    while (ord(char) < 0x590 or 0x1E00 <= ord(char) < 0x2000) and ord(char) != 0x419:
        parts = OLD.decomposition(char)
        if not parts or parts.startswith("<"):
            break
        if " " not in parts:
            break  # a mere alias, such as Greek letters with oxia
        base = chr(int(parts.split()[0], 16))
        if not OLD.category(base).startswith("L") or OLD.category(base) == "Lm":
            break
        char = simple_upper(base)
    return ord(char) if ord(char) < 0x10000 else 0xFFFD


def general():
    pages, index = [], []
    for page in range(256):
        codes = range(page * 256, page * 256 + 256)
        entries = [general_weight(c) for c in codes]
        if entries == list(codes):
            index.append(0xFFFF)
        else:
            index.append(len(pages))
            pages.append(entries)
    words = [*index, *(e for p in pages for e in p)]
    return struct.pack(f"<{len(words)}H", *words)


COMPATIBILITY_IDEOGRAPHS = {0xFA0E, 0xFA0F, 0xFA11, 0xFA13, 0xFA14, 0xFA1F, 0xFA21, 0xFA23, 0xFA24, 0xFA27, 0xFA28, 0xFA29}


def implicit400(code):
    unified = 0x4E00 <= code <= 0x9FA5 or code in COMPATIBILITY_IDEOGRAPHS
    base = 0xFB40 if unified else 0xFB80 if 0x3400 <= code <= 0x4DB5 else 0xFBC0
    return [base + (code >> 15), code & 0x7FFF | 0x8000]


def old_uca(path, page_count):
    table = {}
    for line in open(path, encoding="ascii"):
        code, digits = line.rstrip("\n").split("\t")
        table[int(code)] = [int(digits[i : i + 4], 16) for i in range(0, len(digits), 4)]
    pages, index, expansions, known = [], [], [], {}
    for page in range(page_count):
        entries = []
        for code in range(page * 256, page * 256 + 256):
            weights = table.get(code)
            if weights is None or weights == implicit400(code):
                entries.append(IMPLICIT)
            elif not weights:
                entries.append(0)
            elif len(weights) == 1:
                entries.append(weights[0])
            else:
                key = tuple(weights)
                if key not in known:
                    known[key] = len(expansions)
                    expansions += [len(weights), *weights]
                entries.append(0x8000 + known[key])
        if all(e == IMPLICIT for e in entries):
            index.append(0xFFFF)
            continue
        if entries not in pages:
            pages.append(entries)
        index.append(pages.index(entries))
    words = [len(pages), len(expansions), *index, *(e for p in pages for e in p), *expansions]
    return struct.pack(f"<{len(words)}H", *words)


def main():
    if sys.argv[1] in ("uca400", "uca520"):
        with open(f"{sys.argv[3]}/{sys.argv[1]}.bin", "wb") as file:
            file.write(old_uca(sys.argv[2], 256 if sys.argv[1] == "uca400" else 0x1100))
        return
    allkeys, folder = sys.argv[1:]
    tables = [(f"uca900_{level}.bin", uca900(allkeys, level)) for level in (1, 2, 3)]
    for name, data in [*tables, ("general.bin", general())]:
        with open(f"{folder}/{name}", "wb") as file:
            file.write(data)
        print(name, len(data), "bytes")


if __name__ == "__main__":
    main()
