//! The features that docs/COMPATIBILITY.md lists as absent, recognized by the words of a statement.
//!
//! A statement that differs and contains these words is counted under the feature's name, apart from Heddle's own differences.

use crate::words::words_of;

/// Names of features, and the sequences of words that ask for them. A `*` stands for any end of a word.
const ABSENT: [(&str, &[&str]); 17] = [
    ("QUALIFY", &["qualify"]),
    ("masking policies", &["masking policy"]),
    ("JavaScript programs", &["language javascript", "language wasm", "create library", "drop library", "alter library"]),
    ("vectors", &["vector", "to_vector", "from_vector", "vector_*", "string_to_vector", "vector_to_string"]),
    ("histograms from data", &["using data"]),
    ("full-text indexes", &["fulltext", "match against", "against"]),
    ("tablespaces", &["tablespace", "logfile group"]),
    ("XML functions", &["extractvalue", "updatexml", "load xml"]),
    ("duality views, table samples, external tables", &["duality", "tablesample", "external table"]),
    ("GROUPING SETS and CUBE", &["grouping sets", "by cube"]),
    ("profiling", &["profiling"]),
    ("changes of the server's own tables", &["from mysql", "update mysql", "into mysql", "table mysql", "lock tables mysql"]),
    ("tables that tell of InnoDB's files", &["information_schema files"]),
    ("cost tables", &["engine_cost", "server_cost"]),
    ("hypergraph optimizer", &["hypergraph_optimizer"]),
    (
        "other engines",
        &[
            "engine merge",
            "engine mrg_myisam",
            "engine archive",
            "engine csv",
            "engine blackhole",
            "engine example",
            "engine federated",
        ],
    ),
    (
        "spatial types and functions",
        &[
            "st_*",
            "mbr*",
            "geometry*",
            "geomcollection",
            "geomfromtext",
            "point",
            "linestring",
            "polygon",
            "multipoint",
            "multilinestring",
            "multipolygon",
            "spatial",
            "srid",
        ],
    ),
];

/// The feature that a statement, in lower case, asks for.
pub fn feature_of(lower: &str) -> Option<String> {
    let words: Vec<&str> = words_of(lower).collect();
    if words.first() == Some(&"handler") {
        return Some("absent: HANDLER".to_owned());
    }
    let asks = |phrase: &str| {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        words.windows(phrase.len()).any(|found| found.iter().zip(&phrase).all(|(word, wanted)| is_word(word, wanted)))
    };
    let found = ABSENT.iter().find(|(_, phrases)| phrases.iter().any(|phrase| asks(phrase)));
    found.map(|(name, _)| format!("absent: {name}"))
}

fn is_word(word: &str, wanted: &str) -> bool {
    wanted.strip_suffix('*').map_or(word == wanted, |beginning| word.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_by_words() {
        let check = |sql: &str, expected: Option<&str>| assert_eq!(feature_of(sql).as_deref(), expected, "{sql}");
        check("select a from t qualify a > 1", Some("absent: QUALIFY"));
        check("select st_astext(g) from t", Some("absent: spatial types and functions"));
        check("create table t (a int) engine=merge union=(u)", Some("absent: other engines"));
        check("handler t open", Some("absent: HANDLER"));
        check("declare exit handler for not found", None);
        check("savepoint s", None);
        check("select json_merge(a, b) from t", None);
    }
}
