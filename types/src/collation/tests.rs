//! Collations: order, keys and hashes agree; MySQL's weights; LIKE.

use super::weights::*;
use super::*;
use proptest::prelude::*;

const AI: CollationId = CollationId::UTF8MB4_0900_AI_CI;
const GENERAL_CI: CollationId = CollationId::UTF8MB4_GENERAL_CI;
const BIN: CollationId = CollationId::UTF8MB4_BIN;

fn order(a: &str, b: &str, collation: CollationId) -> Ordering {
    compare(a.as_bytes(), b.as_bytes(), collation)
}

#[test]
fn known_orders() {
    use Ordering::*;
    for (a, b, ai, general, bin) in [
        ("a", "A", Equal, Equal, Greater),
        ("é", "E", Equal, Equal, Greater),
        ("ß", "ss", Equal, Less, Greater),
        ("ß", "s", Greater, Equal, Greater),
        ("a", "a ", Less, Equal, Equal),
        ("a", "a\t", Less, Greater, Greater),
        ("a b", "ab", Less, Less, Less),
        ("Ä", "B", Less, Less, Greater),
        ("😀", "😁", Less, Equal, Less),
        ("", " ", Less, Equal, Equal),
        ("10", "9", Less, Less, Less),
        ("a\u{1}", "a", Equal, Less, Less),
        ("中", "国", Less, Less, Less),
    ] {
        assert_eq!(order(a, b, AI), ai, "{a:?} {b:?} 0900_ai_ci");
        assert_eq!(order(a, b, GENERAL_CI), general, "{a:?} {b:?} general_ci");
        assert_eq!(order(a, b, BIN), bin, "{a:?} {b:?} bin");
    }
    assert_eq!(order("a", "a ", CollationId::BINARY), Less);
    let (as_ci, as_cs) = (CollationId(305), CollationId(278));
    assert_eq!((order("a", "A", as_ci), order("a", "A", as_cs)), (Equal, Less));
    assert_eq!((order("e", "é", as_ci), order("e", "é", as_cs)), (Less, Less));
    assert_eq!((order("Eb", "éa", as_ci), order("Eb", "éa", as_cs)), (Greater, Greater));
}

const UCA_FINGERPRINT: u64 = 0x19cc_527c_ad8c_3094;
const AS_CS_FINGERPRINT: u64 = 0xf997_2d31_1451_2305;
const UCA520_FINGERPRINT: u64 = 0x4e30_0893_2892_a0de;
const GENERAL_FINGERPRINT: u64 = 0x07c5_3bd3_83ed_6706;
const LOWER_FINGERPRINT: u64 = 0xc999_f78c_8f5a_e95d;

/// FNV-1a over "code point, weights" of every character.
fn fingerprint(codes: impl Iterator<Item = u32>, weights: impl Fn(&[u8]) -> Vec<u16>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for code in codes {
        let Some(char) = char::from_u32(code) else { continue };
        let mut text = [0; 4];
        let all = weights(char.encode_utf8(&mut text).as_bytes());
        for byte in code.to_le_bytes().into_iter().chain(all.into_iter().flat_map(u16::to_be_bytes)) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    hash
}

/// The expected numbers are the same fingerprint of MySQL 9.7's WEIGHT_STRING of every character.
#[test]
fn weights_are_mysqls() {
    assert_eq!(fingerprint(0..0x11_0000, |text| Uca::new(text, 0).collect()), UCA_FINGERPRINT);
    let levels = |text: &[u8]| {
        let mut all: Vec<u16> = Uca::new(text, 0).chain([0]).chain(Uca::new(text, 1)).collect();
        all.extend([0].into_iter().chain(Uca::new(text, 2)));
        all
    };
    assert_eq!(fingerprint(0..0x11_0000, levels), AS_CS_FINGERPRINT);
    assert_eq!(fingerprint(0..0x1_0000, |text| General::new(text, Simple::General).collect()), GENERAL_FINGERPRINT);
    assert_eq!(fingerprint(0..0x1_0000, |text| General::new(text, Simple::Lower).collect()), LOWER_FINGERPRINT);
}

#[test]
fn weights_of_uca520_are_mysqls() {
    let weights = |text: &[u8]| Uca::old(text, OldUca::V520).collect();
    assert_eq!(fingerprint(0..=0x10_ffff, weights), UCA520_FINGERPRINT);
    let by = CollationId::by_name("utf8mb4_unicode_520_ci").expect("it is there");
    assert_eq!(
        (order("é ", "E", by), order("ß", "ss", by), order("a", "b", by)),
        (Ordering::Equal, Ordering::Equal, Ordering::Less)
    );
    // 4.0.0 has one weight for both.
    assert_eq!(order("😀", "😁", by), Ordering::Less);
}

#[test]
fn names() {
    assert_eq!(CollationId::by_name("UTF8MB4_0900_AI_CI"), Some(AI));
    assert_eq!(CollationId::by_name("utf8_general_ci"), Some(CollationId(33)));
    assert_eq!(CollationId::by_name("klingon_ci"), None);
    assert_eq!(CollationId::of_charset("utf8mb4"), Some(AI));
    assert_eq!(CollationId::of_charset("utf8"), Some(CollationId(33)));
    assert_eq!((BIN.name(), BIN.charset()), ("utf8mb4_bin", "utf8mb4"));
    assert!(ALL.is_sorted_by_key(|info| info.name));
    for info in ALL {
        assert_eq!(info.pad == PadAttribute::PadSpace, info.id.pads_space(), "{}", info.name);
    }
}

#[test]
fn patterns() {
    let check = |text: &str, pattern: &str, ai: bool, bin: bool| {
        assert_eq!(like(text.as_bytes(), pattern.as_bytes(), Some(b'\\'), AI), ai, "{text:?} {pattern:?} ai");
        assert_eq!(like(text.as_bytes(), pattern.as_bytes(), Some(b'\\'), BIN), bin, "{text:?} {pattern:?} bin");
    };
    check("David!", "David_", true, true);
    check("David!", "%D%v%", true, true);
    check("david", "DAVID", true, false);
    check("a%b", "a\\%b", true, true);
    check("axb", "a\\%b", false, false);
    check("", "%", true, true);
    check("", "_", false, false);
    check("é", "_", true, true);
    check("é", "e", true, false);
    check("abc", "%b", false, false);
    check("abcbc", "%bc", true, true);
    check("a ", "a", false, false);
    check("a\\", "a\\", true, true);
    check("ß", "ss", false, false);
    let long = "a".repeat(3000);
    let evil = format!("{}b", "%a".repeat(60));
    check(&long, &evil, false, false);
    assert!(!like("é".as_bytes(), b"_", None, CollationId::BINARY));
    assert!(like("é".as_bytes(), b"__", None, CollationId::BINARY));
    assert_eq!(like_prefix(b"ab\\_c%d", Some(b'\\')), LikePrefix { prefix: b"ab_c".to_vec(), exact: false });
    assert!(like_prefix(b"abc", Some(b'\\')).exact);
}

/// `like.txt`: text and pattern in hex, and what MySQL answers with utf8mb4_bin, utf8mb4_general_ci and utf8mb4_0900_ai_ci.
#[test]
fn patterns_are_mysqls() {
    let unhex =
        |hex: &str| -> Vec<u8> { (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect() };
    let mut wrong = Vec::new();
    for line in include_str!("like.txt").lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let (text, pattern) = (unhex(fields[0]), unhex(fields[1]));
        for (collation, expected) in [BIN, GENERAL_CI, AI].into_iter().zip(&fields[2..]) {
            if like(&text, &pattern, Some(b'\\'), collation) != (*expected == "1") {
                let (text, pattern) = (String::from_utf8_lossy(&text), String::from_utf8_lossy(&pattern));
                wrong.push(format!("{text:?} LIKE {pattern:?} in {}: MySQL {expected}", collation.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{} wrong", wrong.join("\n"), wrong.len());
}

#[test]
fn characters() {
    assert_eq!(char_count("aé😀".as_bytes()), 3);
    assert_eq!(char_count(b"\xff\xc3"), 2);
    assert_eq!(prefix_bytes("aé😀b".as_bytes(), 3), 7);
    assert_eq!(prefix_bytes(b"ab", 5), 2);
}

fn texts() -> impl Strategy<Value = Vec<u8>> {
    let odd = prop::sample::select(vec![
        "a",
        "A",
        "é",
        "e\u{301}",
        " ",
        "  ",
        "\u{0}",
        "\t",
        "ß",
        "ss",
        "😀",
        "中",
        "한",
        "z",
        "_",
        "ﷺ",
        "\u{200b}",
        "㌔",
        "ä",
        "ae",
        "č",
        "ch",
        "ж",
        "ด",
        "เ",
        "์",
        "\u{10ff8a}",
        "\u{7f}",
        "!",
    ]);
    prop_oneof![
        8 => proptest::collection::vec(odd, 0..7).prop_map(|parts| parts.concat().into_bytes()),
        1 => proptest::collection::vec(any::<u8>(), 0..9),
    ]
}

proptest! {
    #[test]
    fn keys_hashes_and_order_agree(a in texts(), b in texts(), tail in any::<[u8; 2]>()) {
        for info in ALL {
            let (mut x, mut y) = (Vec::new(), Vec::new());
            sort_key(&a, info.id, &mut x);
            sort_key(&b, info.id, &mut y);
            let order = compare(&a, &b, info.id);
            prop_assert_eq!(order, x.cmp(&y), "{}", info.name);
            prop_assert_eq!(order, compare(&b, &a, info.id).reverse());
            prop_assert_eq!(equal(&a, &b, info.id), order == Ordering::Equal);
            if order == Ordering::Equal {
                prop_assert_eq!(hash(&a, info.id), hash(&b, info.id));
            }
            let end = x.len();
            x.extend_from_slice(&tail);
            prop_assert_eq!(sort_key_end(&x, info.id), Some(end), "{}", info.name);
            // C2: what follows a key does not change the order.
            if order != Ordering::Equal {
                prop_assert_eq!(order, x.cmp(&y));
            }
            if info.id.is_bytewise() {
                let (text, used) = decode_bytes_key(&x, info.id).unwrap();
                let expected = if info.id.pads_space() { trim(&a) } else { &a };
                prop_assert_eq!((text.as_ref(), used), (expected, end));
            }
        }
    }

    #[test]
    fn damaged_keys_never_panic(key in proptest::collection::vec(any::<u8>(), 0..12)) {
        for info in ALL {
            let _ = (decode_bytes_key(&key, info.id), sort_key_end(&key, info.id));
        }
    }

    #[test]
    fn like_agrees_with_itself(a in texts()) {
        for info in ALL {
            let escaped: Vec<u8> = a.iter().flat_map(|&b| if b"%_\\".contains(&b) { vec![b'\\', b] } else { vec![b] }).collect();
            prop_assert!(like(&a, &escaped, Some(b'\\'), info.id));
        }
    }
}

/// `order.txt`: strings in hex, and the dense rank that MySQL gives each in the collations of the first line, in base 36; `-` where the
/// collation's character set does not have it.
#[test]
fn order_is_mysqls() {
    let mut lines = include_str!("order.txt").lines();
    let collations: Vec<CollationId> = lines.next().unwrap().split(' ').map(|name| CollationId::by_name(name).unwrap()).collect();
    let rows: Vec<(Vec<u8>, Vec<Option<u32>>)> = lines
        .map(|line| {
            let (hex, ranks) = line.split_once('|').unwrap();
            let text = (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect();
            (text, ranks.split(' ').map(|rank| u32::from_str_radix(rank, 36).ok()).collect())
        })
        .collect();
    let mut wrong = Vec::new();
    for (n, collation) in collations.into_iter().enumerate() {
        let mut ranked: Vec<(u32, &[u8])> = rows.iter().filter_map(|(text, ranks)| Some((ranks[n]?, text.as_slice()))).collect();
        ranked.sort();
        let key = |text: &[u8]| {
            let mut key = Vec::new();
            sort_key(text, collation, &mut key);
            key
        };
        for pair in ranked.windows(2) {
            let expected = pair[0].0.cmp(&pair[1].0);
            let (a, b) = (pair[0].1, pair[1].1);
            if compare(a, b, collation) != expected
                || key(a).cmp(&key(b)) != expected
                || equal(a, b, collation) != expected.is_eq()
            {
                let show = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
                wrong.push(format!("{}: {:?} {expected:?} {:?}", collation.name(), show(a), show(b)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{} wrong", wrong.join("\n"), wrong.len());
}

#[test]
fn counted_comparisons_are_the_same() {
    let texts = ["", " ", "a", "A", "a ", "ab", "é", "E", "ß", "ss", "a\u{1}", "a\tb", "中文", "😀", "e\u{301}x"];
    let long = "aé😀".repeat(400);
    let texts: Vec<String> = texts.iter().flat_map(|text| [(*text).to_owned(), format!("{long}{text}")]).collect();
    for collation in ALL.iter().map(|info| info.id) {
        for (a, b) in texts.iter().flat_map(|a| texts.iter().map(move |b| (a.as_bytes(), b.as_bytes()))) {
            assert_eq!(compare_counted(a, b, collation), Ok(compare(a, b, collation)), "{} {a:?} {b:?}", collation.name());
        }
    }
}

/// Compares weight strings and orders with a file of MySQL's answers: `CHARSET_ANSWERS=FILE`, lines of `collation id, text, weight string` in hex,
/// tabs between them. `types/tools/answers.py` makes such files.
#[test]
#[ignore = "needs a file of answers"]
fn answers_are_mysqls() {
    let path = std::env::var("CHARSET_ANSWERS").expect("CHARSET_ANSWERS names a file");
    let file = std::fs::read_to_string(path).expect("the file is readable");
    let unhex =
        |hex: &str| -> Vec<u8> { (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect() };
    let mut wrong = std::collections::BTreeMap::<&str, Vec<String>>::new();
    let mut lines = 0;
    for line in file.lines() {
        let mut fields = line.split('\t');
        let id = CollationId(fields.next().unwrap().parse().unwrap());
        let (text, expected) = (unhex(fields.next().unwrap()), unhex(fields.next().unwrap()));
        if id.info().is_none() {
            continue;
        }
        let mut weights = Vec::new();
        weight_string(&text, id, None, &mut weights);
        lines += 1;
        if weights != expected {
            let digits = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>();
            let text = String::from_utf8_lossy(&text);
            wrong.entry(id.name()).or_default().push(format!("{text:?}: {} MySQL {}", digits(&weights), digits(&expected)));
        }
    }
    for (name, cases) in &wrong {
        println!("{name}: {} wrong, such as {:#?}", cases.len(), &cases[..cases.len().min(3)]);
    }
    assert!(wrong.is_empty() && lines > 0, "{lines} lines");
}

/// `fingerprints.txt`: texts, and a fingerprint of the weight strings that MySQL answers for them in each collation; `types/tools/fingerprints.py` makes it.
#[test]
fn weight_strings_are_mysqls() {
    let mut texts = Vec::new();
    let (mut wrong, mut collations) = (Vec::new(), 0);
    for line in include_str!("fingerprints.txt").lines() {
        let (name, value) = line.split_once('\t').unwrap();
        if name == "text" {
            texts.push(
                (0..value.len()).step_by(2).map(|i| u8::from_str_radix(&value[i..i + 2], 16).unwrap()).collect::<Vec<u8>>(),
            );
            continue;
        }
        let collation = CollationId::by_name(name).unwrap();
        let charset = Charset::of(collation);
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        for text in &texts {
            let mut weights = Vec::new();
            weight_string(&charset.narrow(text.as_slice().into()), collation, None, &mut weights);
            for byte in weights.into_iter().chain([0]) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
            }
        }
        collations += 1;
        if format!("{hash:016x}") != value {
            wrong.push(name);
        }
    }
    assert!(wrong.is_empty() && collations == ALL.len() - 1, "{wrong:?}");
}
