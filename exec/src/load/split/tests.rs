//! Rows and fields of small files; each file also a byte at a time.

use super::*;

fn format(fields: &str, enclosed: Option<u8>, escaped: Option<u8>, starting: &str, lines: &str) -> FileFormat {
    FileFormat {
        fields_terminated: fields.as_bytes().into(),
        enclosed,
        optionally: false,
        escaped,
        lines_starting: starting.as_bytes().into(),
        lines_terminated: lines.as_bytes().into(),
    }
}

fn usual() -> FileFormat {
    format("\t", None, Some(b'\\'), "", "\n")
}

fn csv() -> FileFormat {
    format(",", Some(b'"'), Some(b'\\'), "", "\n")
}

/// The rows of a text: fields between `|`, NULL as `~`, `+` after a row with more fields.
fn rows(splitter: &Splitter, text: &[u8]) -> Vec<String> {
    let mut row = Row::default();
    let mut found = Vec::new();
    let mut at = 0;
    loop {
        let (split, length) = splitter.row(&text[at..], true, &mut row);
        match split {
            Split::Row => {}
            Split::End => return found,
            Split::More => panic!("S2"),
            Split::Invalid(field) => {
                found.push(format!("invalid {}", String::from_utf8_lossy(&field)));
                return found;
            }
        }
        at += length;
        let field = |n| row.field(n).map_or("~".to_owned(), |text| String::from_utf8_lossy(text).into_owned());
        let fields: Vec<String> = (0..row.len()).map(field).collect();
        found.push(fields.join("|") + if row.has_more { "+" } else { "" });
    }
}

/// The same, with one byte more at a time (S1).
fn rows_by_bytes(splitter: &Splitter, text: &[u8]) -> usize {
    let mut row = Row::default();
    let (mut at, mut end, mut count) = (0, 0, 0);
    loop {
        match splitter.row(&text[at..end], end == text.len(), &mut row) {
            (Split::Row, length) => {
                at += length;
                count += 1;
            }
            (Split::More, _) => end += 1,
            (Split::End, _) => return count,
            (Split::Invalid(_), _) => return count + 1,
        }
    }
}

fn check(format: &FileFormat, fields: usize, text: &str, expected: &[&str]) {
    let splitter = Splitter::new(format, Charset::Utf8mb4, fields, Vec::new());
    assert_eq!(rows(&splitter, text.as_bytes()), expected, "{text:?}");
    assert_eq!(rows_by_bytes(&splitter, text.as_bytes()), expected.len(), "{text:?}");
}

#[test]
fn fields_are_separated() {
    check(&usual(), 3, "1\tx\t3\n2\t\\N\t4\n", &["1|x|3", "2|~|4"]);
    check(&usual(), 3, "1\n\n2\tx\t3\t4\n5\tx\t6\t7", &["1", "", "2|x|3+", "5|x|6"]);
    check(&usual(), 2, "1\t\n2\t", &["1|", "2"]);
    check(&usual(), 1, "", &[]);
    check(&format("||", None, Some(b'\\'), "", "\n"), 2, "1||a|b|c\n2||x||y\n", &["1|a|b|c", "2|x+"]);
    check(&format(",", None, Some(b'\\'), "", "\r\n"), 2, "1,a\r\n2,b\rc\r\n3,x\\\r\n4,z", &["1|a", "2|b\rc", "3|x\r\n4"]);
}

#[test]
fn rows_without_an_end_have_as_many_fields_as_asked_for() {
    check(&format(",", None, Some(b'\\'), "", ""), 2, "1,2,3,4,", &["1|2", "3|4"]);
    check(&format(" ", None, Some(b'\\'), "", " "), 2, "1 2 3 4", &["1|2", "3|4"]);
}

#[test]
fn escapes_take_and_give_meaning() {
    check(&usual(), 1, "\\a\\b\\t\\n\\r\\0\\Z\\\\\\N", &["a\u{8}\t\n\r\0\u{1a}\\N"]);
    check(&usual(), 2, "\\N \t\\Nx\n\\N\t\\", &["N |Nx", "~|\\"]);
    check(&usual(), 2, "a\\\tb\tc\\\nd\n", &["a\tb|c\nd"]);
    check(&usual(), 1, "\\é\n", &["é"]);
    check(&format("\t", None, None, "", "\n"), 1, "\\N\n", &["\\N"]);
}

#[test]
fn enclosed_fields() {
    check(&csv(), 2, "1,\"x,y\"\n2,\"a\"\"b\"\n\"3\",\"z\"w\"\n", &["1|x,y", "2|a\"b", "3|z\"w"]);
    check(&csv(), 2, "\"q\nr\",NULL\n\"NULL\",\\N\n\"\\N\",x", &["q\nr|~", "NULL|~", "~|x"]);
    check(&csv(), 2, "a\"b\",\"c\"\n\"d,e", &["a\"b\"|c", "\"d,e"]);
    let doubled = format(",", Some(b'"'), Some(b'"'), "", "\n");
    check(&doubled, 2, "1,\"a\"\"b\"\n2,\"c\\n\"\n", &["1|a\"b", "2|c\\n"]);
}

#[test]
fn lines_may_begin_somewhere() {
    let started = format(",", None, Some(b'\\'), "xx", "\n");
    check(&started, 2, "xx1,a\nyxx2,b\nno\nxyxx3,c\nxx\nxx", &["1|a", "2|b", "3|c", ""]);
}

#[test]
fn characters_are_whole() {
    check(&usual(), 2, "é\t😀\n", &["é|😀"]);
    let splitter = |charset| Splitter::new(&usual(), charset, 2, Vec::new());
    assert_eq!(rows(&splitter(Charset::Utf8mb4), b"a\tb\nc\tx\xffy\n"), ["a|b", "invalid x"]);
    // A broken one does not swallow what follows.
    assert_eq!(rows(&splitter(Charset::Utf8mb4), b"\xe9\tb\n")[0], "\u{fffd}|b");
    assert_eq!(rows(&splitter(Charset::Latin1), b"\xe9\t\xff\n").len(), 1);
    assert_eq!(rows(&splitter(Charset::Utf8mb3), "😀\tb\n".as_bytes()), ["invalid "]);
    // The second byte of a character of sjis may be a backslash, and the fourth of gb18030 a digit.
    let sets = [("sjis", &b"\x95\x5c\tb\n"[..], &b"\x95\x5c"[..]), ("gb18030", b"\x94\x39\xfc\x36\tb\n", b"\x94\x39\xfc\x36")];
    for (name, file, first) in sets {
        let charset = Charset::named(name).expect("a set");
        let expected = format!("{}|b", String::from_utf8_lossy(first));
        assert_eq!(rows(&splitter(charset), file), [expected], "{name}");
    }
}

#[test]
fn fixed_widths() {
    let fixed = format("", None, Some(b'\\'), "", "\n");
    let splitter = Splitter::new(&fixed, Charset::Utf8mb4, 2, vec![3, 2]);
    assert_eq!(rows(&splitter, b"abc12\nq\n\nabcdexyz\n1234"), ["abc|12", "q", "", "abc|de+", "123|4"]);
    assert_eq!(rows_by_bytes(&splitter, b"abc12\nq\n\nabcdexyz\n1234"), 5);
    assert_eq!(rows(&splitter, b"a\\tb12"), ["a\tb|12"]);
    let endless = Splitter::new(&format("", None, None, "", ""), Charset::Utf8mb4, 2, vec![3, 2]);
    assert_eq!(rows(&endless, b"abc12def34"), ["abc|12", "def|34"]);
}

#[test]
fn lines_are_skipped_whatever_is_in_them() {
    let splitter = Splitter::new(&csv(), Charset::Utf8mb4, 1, Vec::new());
    assert_eq!(splitter.skip_line(b"a\\\nb\nc", true), (Split::Row, 5));
    assert_eq!(splitter.skip_line(b"\"a\nb\"", true), (Split::Row, 3));
    assert_eq!(splitter.skip_line(b"abc", true), (Split::End, 3));
    assert_eq!(splitter.skip_line(b"abc", false).0, Split::More);
}

/// A file in pieces gives the same rows as the file at once, whatever the format and the file.
#[test]
fn random_files_are_cut_the_same_in_pieces() {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % below
    };
    const ENDS: [&str; 8] = ["\t", ",", "||", "\r\n", "\n", "", "xy", "aab"];
    const SINGLES: [Option<u8>; 4] = [None, Some(b'"'), Some(b'\\'), Some(b'N')];
    const ALPHABET: &[&[u8]] = &[
        b"a",
        b"b",
        b"x",
        b"y",
        b",",
        b"\t",
        b"|",
        b"\r",
        b"\n",
        b"\"",
        b"\\",
        b"N",
        b"NULL",
        "\u{e9}".as_bytes(),
        b"\xc3",
        b"\xff",
        b"\0",
    ];
    for _ in 0..20_000 {
        let starting = if random(4) == 0 { "xy" } else { "" };
        let format = format(ENDS[random(8)], SINGLES[random(4)], SINGLES[random(4)], starting, ENDS[random(8)]);
        let fields = 1 + random(3);
        let widths = if format.is_fixed() { vec![2; fields] } else { Vec::new() };
        let charset = [Charset::Utf8mb4, Charset::Latin1][random(2)];
        let splitter = Splitter::new(&format, charset, fields, widths);
        let file: Vec<u8> = (0..random(30)).flat_map(|_| ALPHABET[random(ALPHABET.len())].to_vec()).collect();
        assert_eq!(rows_by_bytes(&splitter, &file), rows(&splitter, &file).len(), "{format:?} {file:?}");
    }
}
