#!/usr/bin/env python3
"""Makes collation/tailored.bin: what MySQL's collations of one language change of UCA 4.0.0 and 9.0.0.

Usage: tailorings.py HOST:PORT USER PASSWORD DATABASE OUTPUT_FOLDER         (needs PyMySQL; makes and drops tables in DATABASE; takes ten minutes)

All answers are MySQL's own (made with 9.7.4):
 1. SELECT HEX(WEIGHT_STRING(c COLLATE C)) of every character, where it differs from the root collation's.
 2. The same of pairs of characters of one script, and of a character and an accent: a contraction is one whose weights are not those of its parts.
 3. The same of three characters around these pairs, and of all three small Latin letters; of four in Hungarian.

Primary weights that move by one difference in a whole script become a rule, and what a rule does not explain an entry: so the table is exact whatever the rules
are. Two things are not repeated: a kana mark at the very beginning of a text takes its weight from what MySQL compared before; and in lt_0900 an accent behind U+0307
has a primary weight of zero.

Format, numbers little-endian u16, for each collation in the order of STARTS in collation/tailored.rs:
    head: 0 for UCA 4.0.0 or 1 for 9.0.0, levels, 1 if capital letters come first, count of rules, of dense ranges, of entries, of contractions, words of the pool
    for each level, three at most: the weights of the ASCII characters (128); 0xffff: the character has an entry or begins a contraction
    rules: first and last primary weight of the root, what is added to it, a weight that comes before it or 0
    dense ranges: first character (u32, the lower word first), count
    entries: characters (u32), then their places in the pool
    contractions: four characters (u32, 0 behind the last), place in the pool
    pool: for each level the count of weights, and the weights
    primary weights of the dense ranges, 0: the character is not here; on the other levels these have 0020, 0002
"""
import collections
import struct
import sys

import pymysql

UTF8 = "CONVERT(CONVERT(UNHEX(LPAD(HEX(n), 8, '0')) USING utf32) USING utf8mb4)"
UPPER = {8, 9, 0xA, 0xB, 0xC, 0xE, 0x11, 0x12, 0x1D}
MARKS = (0x30FC, 0x309D, 0x309E, 0x30FD, 0x30FE, 0xFF70)


def connect():
    address, user, password, database, _ = sys.argv[1:]
    host, port = address.split(":")
    connection = pymysql.connect(host=host, port=int(port), user=user, password=password, database=database, charset="utf8mb4", autocommit=True)
    cursor = connection.cursor()
    cursor.execute("SET cte_max_recursion_depth = 2000000")
    cursor.execute("CREATE TABLE n (n INT UNSIGNED PRIMARY KEY)")
    cursor.execute("INSERT INTO n WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 1114111) SELECT n FROM r "
                   "WHERE n NOT BETWEEN 55296 AND 57343")
    return cursor


def ask(cursor, select):
    cursor.execute(select)
    return cursor.fetchall()


def words(digits):
    return [int(digits[i : i + 4], 16) for i in range(0, len(digits), 4)]


def levels(digits):
    out = [[]]
    for word in words(digits):
        if word == 0:
            out.append([])
        else:
            out[-1].append(word)
    return out


def make_candidates(cursor):
    """Characters by group (0: accents, which follow all), and whether they may be the second of a pair."""
    rows = {}
    latin = [*range(0x41, 0x5B), *range(0x61, 0x7B), *(x for x in range(0xC0, 0x250) if x not in (0xD7, 0xF7)), *range(0x1E00, 0x1F00)]
    rows.update((n, (1, n < 0x180)) for n in latin)
    groups = [(range(0x300, 0x370),), (), (range(0x370, 0x400),), (range(0x400, 0x530),),
              (range(0x3040, 0x3100), range(0x31F0, 0x3200), range(0xFF65, 0xFFA0)), (range(0xD80, 0xE00), range(0x200C, 0x200E))]
    for group, parts in enumerate(groups):
        rows.update((n, (group, True)) for part in parts for n in part)
    cursor.execute("CREATE TABLE c (n INT PRIMARY KEY, g INT, second INT, s VARCHAR(1) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)")
    cursor.executemany("INSERT INTO c VALUES (%s, %s, %s, %s)", [(n, g, second, chr(n)) for n, (g, second) in rows.items()])
    cursor.execute("CREATE TABLE p (a INT, b INT, s VARCHAR(2) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin, PRIMARY KEY (a, b))")
    cursor.execute("INSERT INTO p SELECT a.n, b.n, CONCAT(a.s, b.s) FROM c a JOIN c b ON b.second AND (a.g = b.g OR b.g = 0)")
    return rows


def together(parts):
    depth = max(len(part) for part in parts)
    return [sum((part[i] for part in parts if i < len(part)), []) for i in range(depth)]


def contractions(cursor, name, candidates):
    """Sequence -> weights. In the collation with kana levels a lone level that is missing is empty."""
    def split(digits):
        out = levels(digits)
        return out + [[]] * (4 - len(out)) if name.endswith("_ks") else out

    single = {n: split(h) for n, h in ask(cursor, f"SELECT n, HEX(WEIGHT_STRING(s COLLATE {name})) FROM c")}
    found = {}
    for a, b, digits in ask(cursor, f"SELECT a, b, HEX(WEIGHT_STRING(s COLLATE {name})) FROM p"):
        if split(digits) != together([single[a], single[b]]) and a not in MARKS:
            found[a, b] = split(digits)
    if "_lt_" in name:
        # The weight of zero.
        return {pair: [[], *weights[2:]] for pair, weights in found.items()}
    if "_ja_" in name:
        return found
    small = range(0x61, 0x7B)
    wanted = {(x, y, z) for x in small for y in small for z in small}
    ends = {x for pair in found for x in pair}
    for a, b in found:
        wanted |= {(a, b, z) for z, (group, second) in candidates.items() if second and group in (0, candidates[a][0])}
        wanted |= {(z, a, b) for z in ends}
        if "_hu_" in name:
            forms = {a, ord(chr(a).lower())}
            wanted |= {(x, y, b, z) for x in forms for y in forms for z in ends}
    wanted = sorted(wanted)
    cursor.execute("CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(8) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)")
    for start in range(0, len(wanted), 5000):
        part = wanted[start : start + 5000]
        cursor.executemany("INSERT INTO t VALUES (%s, %s)", [(start + i, "".join(map(chr, s))) for i, s in enumerate(part)])
    longer = {}
    for number, digits in ask(cursor, f"SELECT id, HEX(WEIGHT_STRING(s COLLATE {name})) FROM t ORDER BY CHAR_LENGTH(s), id"):
        sequence, at, parts = wanted[number], 0, []
        while at < len(sequence):
            length = next((l for l in (3, 2) if sequence[at : at + l] in found or sequence[at : at + l] in longer), 1)
            part = sequence[at : at + length]
            parts.append(found.get(part) or longer.get(part) or single[part[0]])
            at += length
        if split(digits) != together(parts):
            longer[sequence] = split(digits)
    cursor.execute("DROP TABLE t")
    return {**found, **longer}


class Root:
    def __init__(self, weights):
        self.weights = weights

    def is_implicit(self, code):
        primary = self.weights[code][0]
        return len(primary) == 2 and 0xFB00 <= primary[0] <= 0xFBFF and primary[1] >= 0x8000

    def predict(self, code, rules, upper_first):
        primary = []
        for i, weight in enumerate(self.weights[code][0]):
            if i == 0 or not self.is_implicit(code):
                for first, last, added, before in rules:
                    if first <= weight <= last:
                        primary += [before] if before else []
                        weight = weight + added & 0xFFFF
                        break
            primary.append(weight)
        rest = [list(level) for level in self.weights[code][1:]]
        if upper_first:
            rest[1] = [weight + (0x100 if weight in UPPER else 0x300) for weight in rest[1]]
        return [primary, *rest]

    def rules(self, changed):
        votes = collections.defaultdict(collections.Counter)
        for code, (old, *_) in self.weights.items():
            new = changed.get(code, self.weights[code])[0]
            if self.is_implicit(code):
                same = len(new) == 2 and new[1] == old[1]
                votes[old[0]][(new[0] - old[0] & 0xFFFF, 0) if same else None] += 1
            elif len(old) == 1 and len(new) == 1:
                votes[old[0]][new[0] - old[0] & 0xFFFF, 0] += 1
            elif len(old) == 1 and len(new) == 2 and new[1] == old[0] and new[0] >= 0xF000:
                votes[old[0]][0, new[0]] += 1
            elif len(old) == 1:
                votes[old[0]][None] += 1
        runs = []
        for weight in sorted(votes):
            change = votes[weight].most_common(1)[0][0]
            if change is None:
                continue
            if runs and runs[-1][2] == change:
                runs[-1][1] = weight
            else:
                runs.append([weight, weight, change, 0])
            runs[-1][3] += 1
        merged = []
        for first, last, change, count in runs:
            # Few letters that move are entries.
            if count < 8 and change != (0, 0) and first < 0xFB00:
                continue
            if merged and merged[-1][2] == change:
                merged[-1][1] = last
            else:
                merged.append([first, last, change])
        return [(first, last, *change) for first, last, change in merged if change != (0, 0)]


def tailoring(name, number, changed, found, root, old_root):
    is_old = number < 255
    depth = 1 if is_old else 4 if name.endswith("_ks") else 3
    upper_first = "_da_" in name
    if is_old:
        rules, entries = [], changed
    else:
        rules = root.rules(changed)
        entries = {code: new for code in root.weights if (new := changed.get(code, root.weights[code])) != root.predict(code, rules, upper_first)}
    simple = [n for n in sorted(entries) if not is_old and n >= 0x2E00 and len(entries[n][0]) == 1 and entries[n][1:3] == [[0x20], [2]] and not any(entries[n][3:])]
    runs = []
    for n in simple:
        if runs and n - runs[-1][-1] <= 200 and n - runs[-1][0] < 60000:
            runs[-1].append(n)
        else:
            runs.append([n])
    dense = [run for run in runs if len(run) >= 64]
    inside = {n for run in dense for n in run}
    pool, places = [], {}

    def put(weights):
        weights = [[w for w in level if w] for level in weights + [[]] * (depth - len(weights))][:depth]
        key = tuple(map(tuple, weights))
        if key not in places:
            places[key] = len(pool)
            for level in weights:
                pool.extend([len(level), *level])
        return places[key]

    single = [(n, put(entries[n])) for n in sorted(entries) if n not in inside]
    sequences = [(sequence, put(weights)) for sequence, weights in sorted(found.items())]
    assert len(pool) < 65536, name
    out = [int(not is_old), depth, int(upper_first), len(rules), len(dense), len(single), len(sequences), len(pool)]
    firsts = {sequence[0] for sequence in found}
    for level in range(min(depth, 3)):
        for n in range(128):
            weights = entries.get(n) or (old_root[n] if is_old else root.predict(n, rules, upper_first))
            weights = [w for w in weights[level] if w]
            out.append(0xFFFF if n in firsts or len(weights) > 1 else weights[0] if weights else 0)
    for rule in rules:
        out += rule
    for run in dense:
        out += [run[0] & 0xFFFF, run[0] >> 16, run[-1] - run[0] + 1]
    for n, _ in single:
        out += [n & 0xFFFF, n >> 16]
    out += [place for _, place in single]
    for sequence, place in sequences:
        for code in (*sequence, 0, 0, 0)[:4]:
            out += [code & 0xFFFF, code >> 16]
        out.append(place)
    out += pool
    for run in dense:
        out += [entries[n][0][0] if n in inside else 0 for n in range(run[0], run[-1] + 1)]
    return struct.pack(f"<{len(out)}H", *out)


def main():
    cursor = connect()
    try:
        candidates = make_candidates(cursor)
        root = Root({n: levels(h) for n, h in ask(cursor, f"SELECT n, HEX(WEIGHT_STRING({UTF8} COLLATE utf8mb4_0900_as_cs)) FROM n")})
        old_root = {n: [words(h)] for n, h in ask(cursor, f"SELECT n, HEX(WEIGHT_STRING({UTF8} COLLATE utf8mb4_unicode_ci)) FROM n WHERE n < 128")}
        names = ask(cursor, "SELECT collation_name, id FROM information_schema.collations WHERE character_set_name = 'utf8mb4' ORDER BY id")
        data = b""
        for name, number in names:
            is_old = 225 <= number <= 247 and number != 246
            # Those with one level are the first level of the others, and Japanese with three those of Japanese with four.
            if not is_old and (number <= 278 or not name.endswith(("as_cs", "_ks")) or name == "utf8mb4_ja_0900_as_cs"):
                continue
            base = "utf8mb4_unicode_ci" if is_old else "utf8mb4_0900_as_cs"
            rows = ask(cursor, f"SELECT n, HEX(WEIGHT_STRING({UTF8} COLLATE {name})) FROM n WHERE WEIGHT_STRING({UTF8} COLLATE {name}) <> WEIGHT_STRING({UTF8} COLLATE {base})")
            changed = {n: [words(h)] if is_old else levels(h) for n, h in rows}
            print(f"({number}, {len(data)}),", flush=True)
            data += tailoring(name, number, changed, contractions(cursor, name, candidates), root, old_root)
        with open(f"{sys.argv[5]}/tailored.bin", "wb") as file:
            file.write(data)
    finally:
        cursor.execute("DROP TABLE IF EXISTS n, c, p, t")


if __name__ == "__main__":
    main()
