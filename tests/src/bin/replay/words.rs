//! The words of a statement without its comments, and the objects that it names.

/// A statement without the comments before it.
pub fn statement_of(sql: &str) -> &str {
    let mut rest = sql.trim_start();
    loop {
        let end = if rest.starts_with('#') || rest.starts_with("-- ") || rest.starts_with("--\n") {
            rest.find('\n')
        } else if rest.starts_with("/*") && !rest.starts_with("/*!") {
            rest.find("*/").map(|at| at + 1)
        } else {
            return rest;
        };
        let Some(end) = end else { return rest };
        rest = rest[end + 1..].trim_start();
    }
}

/// A statement in lower case, with one space wherever there is room.
pub fn spaced(sql: &str) -> String {
    sql.split_whitespace().collect::<Vec<_>>().join(" ").to_ascii_lowercase()
}

/// All words of a statement.
pub fn words_of(lower: &str) -> impl Iterator<Item = &str> {
    lower.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').filter(|word| !word.is_empty())
}

/// The words of a statement, in lower case, that stand where objects are named.
pub fn names_in(lower: &str) -> Vec<String> {
    const BEFORE: [&str; 17] = [
        "table",
        "into",
        "update",
        "from",
        "join",
        "view",
        "procedure",
        "function",
        "trigger",
        "call",
        "database",
        "event",
        "exists",
        "user",
        "role",
        "prepare",
        "execute",
    ];
    const NO_NAMES: [&str; 14] = [
        "if",
        "not",
        "exists",
        "select",
        "ignore",
        "low_priority",
        "temporary",
        "as",
        "values",
        "table",
        "from",
        "cascade",
        "restrict",
        "delayed",
    ];
    let words: Vec<&str> = words_of(lower).collect();
    let is_name = |word: &&str| !NO_NAMES.contains(word);
    if words.first() == Some(&"drop") {
        // Lists of tables.
        return words.into_iter().skip(2).filter(is_name).map(str::to_owned).collect();
    }
    let has_on = words.first().is_some_and(|word| ["create", "grant", "revoke"].contains(word));
    let names = |word: &str| BEFORE.contains(&word) || (has_on && word == "on");
    let named = words.windows(2).filter(|pair| names(pair[0]) && is_name(&pair[1])).map(|pair| pair[1].to_owned());
    // `INSERT t ...`, `REPLACE t ...`
    let bare = words.windows(2).take(1).filter(|pair| ["insert", "replace"].contains(&pair[0]) && pair[1] != "into");
    named.chain(bare.map(|pair| pair[1].to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_before_a_statement() {
        assert_eq!(statement_of("# a\n/* b */ -- c\n SELECT 1"), "SELECT 1");
        assert_eq!(statement_of("/*! SELECT 1 */"), "/*! SELECT 1 */");
        assert_eq!(statement_of("# a"), "# a");
    }

    #[test]
    fn names_of_objects() {
        assert_eq!(names_in("insert into a select * from b join c on d = e"), ["a", "b", "c"]);
        assert_eq!(names_in("create index i on t (a)"), ["t"]);
        assert_eq!(names_in("drop table if exists a, b"), ["a", "b"]);
        assert_eq!(names_in("replace t values (1)"), ["t"]);
    }
}
