//! Values that grow: each family makes an SQL expression for a text of about so many bytes.

/// A name, and the expression for a size.
pub type Family = (&'static str, fn(usize) -> String);

fn repeat(piece: &str, size: usize) -> String {
    let length = piece.replace("\\\\", "\\").replace("''", "'").len();
    format!("REPEAT('{piece}', {})", size / length)
}

fn wrapped(before: &str, piece: &str, after: &str, size: usize) -> String {
    format!("CONCAT('{before}', {}, '{after}')", repeat(piece, size))
}

/// What a function is most likely to walk over: the short form has these.
pub const FEW: &[Family] = &[
    ("letters", |size| repeat("a", size)),
    ("digits", |size| repeat("7", size)),
    ("commas", |size| repeat("a,", size)),
    ("accents", |size| repeat("é", size)),
    ("bytes", |size| format!("REPEAT(0xFF, {size})")),
    ("an array", |size| wrapped("[", "1,", "1]", size)),
    ("an object", object),
];

pub const MORE: &[Family] = &[
    ("spaces", |size| repeat(" ", size)),
    ("pairs", |size| repeat("ab", size)),
    ("capitals", |size| repeat("AbC", size)),
    ("a fraction", |size| wrapped("0.", "3", "", size)),
    ("an exponent", |size| wrapped("1e", "0", "9", size)),
    ("minus signs", |size| repeat("-", size)),
    ("NULs", |size| format!("REPEAT('\\0', {size})")),
    ("line ends", |size| repeat("\\n", size / 2)),
    ("quotes", |size| format!("REPEAT('''', {size})")),
    ("double quotes", |size| repeat("\"", size)),
    ("backslashes", |size| repeat("\\\\", size)),
    ("percents", |size| repeat("%_", size)),
    ("dots", |size| repeat("1.", size)),
    ("colons", |size| repeat("1:", size)),
    ("groups of UUIDs", |size| wrapped("00000000-0000-0000-0000-000000000001:1", ",3-5", "", size)),
    ("gaps of UUIDs", uuid_gaps),
    ("combining marks", |size| wrapped("a", "\u{301}", "", size)),
    ("wide characters", |size| repeat("😀", size)),
    ("contractions", |size| repeat("ßΣİ", size)),
    ("Hangul", |size| repeat("각", size)),
    ("half of UTF-8", |size| format!("REPEAT(0xC3, {size})")),
    ("latin1", |size| format!("CONVERT({} USING latin1)", repeat("é", 2 * size))),
    ("utf16", |size| format!("CONVERT({} USING utf16)", repeat("a", size / 2))),
    ("hexadecimal digits", |size| repeat("DEADBEEF", size)),
    ("base64", |size| repeat("QUJD", size)),
    ("half of base64", |size| wrapped("Q", "=", "", size)),
    ("a date", |size| wrapped("2020-01-01 00:00:00.", "1", "", size)),
    ("a time", |size| wrapped("12:", "0", "", size)),
    ("date formats", |size| repeat("%Y-%m-%d ", size)),
    ("compressed", |size| format!("COMPRESS({})", repeat("a", size * 8))),
    ("a JSON string", |size| wrapped("\"", "a", "\"", size)),
    ("a JSON number", |size| repeat("9", size)),
    ("escapes in JSON", |size| wrapped("\"", "\\\\u0041", "\"", size)),
    ("an object of one name", |size| wrapped("{", "\"a\":1,", "\"a\":1}", size)),
    ("small arrays", |size| wrapped("[", "[],", "[]]", size)),
    ("small objects", |size| wrapped("[", "{\"a\":1},", "{}]", size)),
    ("a deep array", |size| wrapped(&"[".repeat(90), "1,", &format!("1{}", "]".repeat(90)), size)),
    ("too deep an array", |size| repeat("[", size)),
    ("too deep an object", |size| repeat("{\"a\":", size)),
    ("numbers for a set", numbers),
    ("a path of members", |size| wrapped("$", ".a", "", size)),
    ("a path of cells", |size| wrapped("$", "[0]", "", size)),
    ("a path of wildcards", |size| wrapped("$", "**[*]", "", size)),
    ("a path of all", |size| wrapped("$", ".*", "", size)),
    ("alternatives", |size| wrapped("a", "|a", "", size)),
    ("optional letters", |size| repeat("a?", size)),
    ("stars", |size| repeat("a*", size)),
    ("groups", |size| repeat("(a)", size)),
    ("classes", |size| repeat("[a-z]", size)),
    ("counts", |size| repeat("a{1,9}", size)),
    ("open groups", |size| repeat("(", size)),
    ("look-ahead", |size| repeat("(?=a)", size)),
    ("back references", |size| wrapped("(a)", "\\\\1", "", size)),
    ("statements", |size| wrapped("SELECT 1", "+1", "", size)),
    ("rows of statements", |size| wrapped("INSERT INTO t VALUES (1)", ",(1)", "", size)),
    ("comments", |size| repeat("/*", size)),
];

/// An object of distinct names, in an order that is not sorted.
fn object(size: usize) -> String {
    let count = size / 15;
    let members: Vec<String> = (0..count).map(|n| format!("\"{:08x}\":1", (n as u32).wrapping_mul(0x9E37_79B1))).collect();
    format!("'{{{}}}'", members.join(","))
}

/// A range in each second number: nothing can be joined.
fn uuid_gaps(size: usize) -> String {
    let gaps: String = (0..size / 8).map(|n| format!(":{}", (n * 7919) % (size / 4 + 1) * 2 + 1)).collect();
    format!("'00000000-0000-0000-0000-000000000001{gaps}'")
}

fn numbers(size: usize) -> String {
    let count = size / 8;
    let numbers: Vec<String> = (0..count).map(|n| ((n as u32).wrapping_mul(0x9E37_79B1) % 9_000_000).to_string()).collect();
    format!("'[{}]'", numbers.join(","))
}
