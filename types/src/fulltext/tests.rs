//! Words, queries and ranks beside the answers of MySQL 9.7.

use super::*;
use crate::CollationId;

const AI_CI: CollationId = CollationId::UTF8MB4_0900_AI_CI;

fn cutter() -> WordCutter {
    WordCutter::new(&FullTextDef::default(), AI_CI)
}

fn ngram() -> WordCutter {
    WordCutter::new(&FullTextDef { parser: Parser::Ngram { size: 2 }, stop_words: StopWords::Default }, AI_CI)
}

fn indexed(cutter: &WordCutter, text: &str) -> Vec<String> {
    let mut words = Vec::new();
    cutter.cut(std::iter::once(text.as_bytes()), |word| {
        if word.is_indexed {
            words.push(String::from_utf8_lossy(word.text).into_owned());
        }
    });
    words
}

#[test]
fn words_are_letters_digits_and_underscores_of_the_right_length() {
    let words = |text: &str| indexed(&cutter(), text);
    assert_eq!(words("foo_bar foo-bar foo'bar it's o'neil's don't"), ["foo_bar", "foo", "bar", "foo", "bar", "neil", "don"]);
    assert_eq!(words("ab abc a.b.c.d user@example.com"), ["abc", "user", "example"]);
    assert_eq!(words("日本語 テキスト 検索 😀 smile😀face"), ["日本語", "テキスト", "smile", "face"]);
    assert_eq!(words(&"x".repeat(84)).len(), 1);
    assert!(words(&"x".repeat(85)).is_empty());
    assert!(words("The THE").is_empty(), "a stop word in any case");
}

#[test]
fn bytes_that_are_no_utf8_part_words() {
    let mut words = Vec::new();
    cutter().cut(std::iter::once(&b"abc\xffdef\xe3\x81"[..]), |word| words.push(word.text.to_vec()));
    assert_eq!(words, [b"abc".to_vec(), b"def".to_vec()]);
}

#[test]
fn parts_of_characters_do_not_span_spaces_nor_contain_stop_words() {
    assert_eq!(indexed(&ngram(), "日本語の検索"), ["日本", "本語", "語の", "の検", "検索"]);
    assert_eq!(indexed(&ngram(), "bcd x yz"), ["bc", "cd", "yz"]);
    assert_eq!(indexed(&ngram(), "abcd"), ["bc", "cd"], "`a` is a stop word");
}

#[test]
fn places_are_numbers_of_words_and_columns_are_far_apart() {
    let mut places = Vec::new();
    cutter().cut(["one of two".as_bytes(), b"three"].into_iter(), |word| places.push(word.place));
    assert_eq!(places[..3], [0, 1, 2]);
    assert!(places[3] > 1000);
}

#[test]
fn places_are_read_as_they_were_written() {
    for places in [vec![0], vec![3, 4, 200, 1 << 20, (1 << 20) + 70_000]] {
        let (mut payload, mut read) = (Vec::new(), Vec::new());
        encode_places(&places, &mut payload);
        assert_eq!(decode_places(&payload, Some(&mut read)), Some(places.len() as u32));
        assert_eq!(read, places);
    }
    let (many, mut payload, mut read) = ((0..100_000).collect::<Vec<u32>>(), Vec::new(), Vec::new());
    encode_places(&many, &mut payload);
    assert!(payload.len() < 1100);
    assert_eq!(decode_places(&payload, Some(&mut read)), Some(100_000));
    assert!(read.len() < many.len() && many.starts_with(&read));
    assert_eq!(decode_places(&[0x80], None), None);
    assert_eq!(decode_places(&[], None), None);
}

/// Ten rows of the manual's example, with what MySQL 9.7 answered.
const ROWS: [(&str, &str); 10] = [
    ("MySQL Tutorial", "DBMS stands for DataBase ..."),
    ("How To Use MySQL Well", "After you went through a ..."),
    ("Optimizing MySQL", "In this tutorial, we show ..."),
    ("1001 MySQL Tricks", "1. Never run mysqld as root. 2. ..."),
    ("MySQL vs. YourSQL", "In the following database comparison ..."),
    ("MySQL Security", "When configured properly, MySQL ..."),
    ("database", "database database tutorial"),
    ("", "security of the database"),
    ("", ""),
    ("", ""),
];

fn ranks(mode: Mode, text: &str) -> Vec<(usize, f32)> {
    let cutter = cutter();
    let query = Query::parse(text.as_bytes(), mode, &cutter).expect("a query");
    let mut statistics = Statistics { rows: 10, entries: vec![0; query.words().len()] };
    for (word, entries) in query.words().iter().zip(&mut statistics.entries) {
        for (title, body) in ROWS {
            let mut keys = std::collections::BTreeSet::new();
            cutter.cut([title.as_bytes(), body.as_bytes()].into_iter(), |found| {
                let is_it = match word.prefix_characters {
                    Some(n) => starts_with(found.text, &word.text, n, AI_CI),
                    None => found.key == word.key,
                };
                if is_it && found.is_indexed {
                    keys.insert(found.key.to_vec());
                }
            });
            *entries += keys.len() as u64;
        }
    }
    let ranker = Ranker::new(query, &statistics);
    let rank = |(n, (title, body)): (usize, &(&'static str, &'static str))| {
        let texts = [title.as_bytes(), body.as_bytes()].into_iter();
        ranker.rank_texts(&cutter, texts).map(|rank| (n + 1, rank))
    };
    ROWS.iter().enumerate().filter_map(rank).collect()
}

#[test]
fn ranks_are_those_of_mysql() {
    use Mode::{Boolean, Natural};
    let same = |found: Vec<(usize, f32)>, wanted: &[(usize, f32)]| assert_eq!(found, wanted);
    same(ranks(Natural, "database"), &[(1, 0.158_356_25), (5, 0.158_356_25), (7, 0.475_068_75), (8, 0.158_356_25)]);
    same(
        ranks(Natural, "database tutorial"),
        &[(1, 0.431_758_43), (3, 0.273_402_18), (5, 0.158_356_25), (7, 0.748_470_9), (8, 0.158_356_25)],
    );
    same(ranks(Natural, "mysql mysql")[..1].to_vec(), &[(1, 0.006_269_669_6)]);
    same(ranks(Boolean, "+mysql +(>tutorial <security)"), &[(1, 1.322_619_1), (3, 1.322_619_1), (6, -0.413_007_2)]);
    same(ranks(Boolean, "mysql*")[3..].to_vec(), &[(4, 0.023_994_617), (5, 0.023_994_617), (6, 0.047_989_234)]);
    same(ranks(Boolean, "\"database comparison\""), &[(5, 1.158_356_2)]);
    same(ranks(Boolean, "\"following comparison\" @3"), &[(5, 2.0)]);
    same(ranks(Boolean, "\"comparison following\" @8"), &[(5, 2.0)]);
    same(ranks(Boolean, "~tutorial"), &[(1, 0.0), (3, 0.0), (7, 0.0)]);
    let rows = |mode, text| ranks(mode, text).into_iter().map(|(row, _)| row).collect::<Vec<_>>();
    assert_eq!(rows(Boolean, "+mysql -yoursql"), [1, 2, 3, 4, 6]);
    assert_eq!(rows(Boolean, "+mysql tutorial"), [1, 2, 3, 4, 5, 6]);
    assert_eq!(rows(Boolean, "\"security of the database\""), [8]);
    assert_eq!(rows(Natural, "\"database comparison\""), [5]);
    assert_eq!(rows(Boolean, "\"mysql"), [1, 2, 3, 4, 5, 6], "a quote without its end");
    for none in [
        "-tutorial",
        "\"tutorial dbms\"",
        "\"following comparison\"",
        "\"following comparison\" @2",
        "+the +mysql",
        "+zz +mysql",
        "",
    ] {
        assert!(rows(Boolean, none).is_empty(), "{none}");
    }
    assert!(rows(Natural, "the for a").is_empty());
}

#[test]
fn errors_of_the_boolean_grammar_are_mysqls() {
    let error = |text: &str| Query::parse(text.as_bytes(), Mode::Boolean, &cutter()).err().map(|error| error.0);
    for (text, wanted) in [
        ("mysql +", "unexpected $end"),
        ("++mysql", "unexpected '+'"),
        ("+-mysql", "unexpected '-'"),
        ("(mysql", "unexpected $end"),
        ("mysql)", "unexpected ')', expecting $end"),
        ("*", "unexpected $end, expecting FTS_TERM or FTS_NUMB or '*'"),
        ("mysql@4", "unexpected '@', expecting $end"),
    ] {
        assert_eq!(error(text), Some(format!("syntax error, {wanted}")), "{text}");
    }
    assert!(error(&"(".repeat(100_000)).is_some(), "nesting is bounded");
}
