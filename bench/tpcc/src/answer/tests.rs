//! Answers are made here byte by byte, as the protocol's pages have them.

use super::*;

/// OK, and the end of columns or rows, by their status.
const DONE: &[u8] = &[0, 0, 0, 2, 0, 0, 0];
const DONE_AND_MORE: &[u8] = &[0, 0, 0, 0x0a, 0, 0, 0];
const END: &[u8] = &[0xfe, 0, 0, 2, 0];
const END_AND_MORE: &[u8] = &[0xfe, 0, 0, 0x0a, 0];
const CONFLICT: &[u8] = b"\xff\xbd\x04#40001again";

const LONG: u8 = 3;
const DOUBLE: u8 = 5;
const DATETIME: u8 = 12;
const DECIMAL: u8 = 246;
const VARCHAR: u8 = 253;

/// Payloads as packets one after another.
fn packets(payloads: &[&[u8]]) -> Vec<u8> {
    let mut all = Vec::new();
    for (sequence, payload) in (1..).zip(payloads) {
        let [a, b, c, _] = u32::try_from(payload.len()).unwrap().to_le_bytes();
        all.extend_from_slice(&[a, b, c, sequence]);
        all.extend_from_slice(payload);
    }
    all
}

/// A column's definition.
fn definition(kind: u8, flags: u16) -> Vec<u8> {
    let mut all = b"\x03def\x01s\x01t\x01t\x01c\x01c\x0c\x2d\x00\x0b\x00\x00\x00".to_vec();
    all.push(kind);
    all.extend_from_slice(&flags.to_le_bytes());
    all.extend_from_slice(&[0, 0, 0]);
    all
}

/// An answer read at once.
fn read(sent: Sent, received: &[u8]) -> Result<Answer, Error> {
    let mut answer = Answer::new(false);
    answer.begin(sent, &[]);
    assert!(answer.feed(received)?, "it is all there");
    Ok(answer)
}

fn why<T>(outcome: Result<T, Error>) -> String {
    outcome.map(drop).expect_err("an error").to_string()
}

fn contents(answer: &Answer, received: &[u8]) -> Vec<Vec<String>> {
    let rows = Rows::new(answer, received);
    let all = (0..rows.len()).map(|at| rows.get(at).unwrap());
    all.map(|row| (0..row.cells.len()).map(|at| format!("{:?}", row.content(at).unwrap())).collect()).collect()
}

/// Three columns and two rows of texts.
fn two_rows_of_texts() -> Vec<u8> {
    let (number, text) = (definition(LONG, 0), definition(VARCHAR, 0));
    packets(&[b"\x03", &number, &text, &text, END, b"\x0217\x02ab\xfb", b"\x03-42\x00\x01x", END])
}

#[test]
fn rows_of_texts_are_read_wherever_the_reads_split_them() {
    let all = two_rows_of_texts();
    for split in 0..all.len() {
        let mut answer = Answer::new(false);
        answer.begin(Sent::Text, &[]);
        assert!(!answer.feed(&all[..split]).unwrap(), "{split}");
        assert!(answer.feed(&all).unwrap(), "{split}");
        let rows = Rows::new(&answer, &all);
        let (first, second) = (rows.first().unwrap(), rows.get(1).unwrap());
        assert_eq!(rows.len(), 2);
        assert_eq!(column::<u32>(&first, 0).unwrap(), 17);
        assert_eq!(column::<&str>(&first, 1).unwrap(), "ab");
        assert_eq!(why(column::<String>(&first, 2)), "column 2 is Null");
        assert_eq!(column::<i64>(&second, 0).unwrap(), -42);
        assert_eq!(column::<f64>(&second, 0).unwrap(), -42.0);
        assert_eq!(column::<String>(&second, 1).unwrap(), "");
        assert_eq!(why(column::<u32>(&second, 0)), format!("column 0 is {:?}", Content::Text(b"-42")));
        assert_eq!(why(column::<u32>(&second, 3)), "column 3 is missing");
    }
}

#[test]
fn an_answer_may_come_byte_by_byte() {
    let all = two_rows_of_texts();
    let mut answer = Answer::new(false);
    answer.begin(Sent::Text, &[]);
    for length in 0..all.len() {
        assert!(!answer.feed(&all[..length]).unwrap(), "{length}");
    }
    assert!(answer.feed(&all).unwrap());
    assert_eq!(Rows::new(&answer, &all).len(), 2);
}

#[test]
fn rows_of_values_have_their_columns_forms() {
    let kinds = [(1, 0), (2, UNSIGNED), (LONG, 0), (8, UNSIGNED), (4, 0), (DOUBLE, 0), (DATETIME, 0), (DECIMAL, 0), (VARCHAR, 0)];
    let definitions = kinds.map(|(kind, flags)| definition(kind, flags));
    let mut row = vec![0, 0, 0]; // nothing is NULL
    row.push(0xff);
    row.extend_from_slice(&0xfffe_u16.to_le_bytes());
    row.extend_from_slice(&(-3_i32).to_le_bytes());
    row.extend_from_slice(&u64::MAX.to_le_bytes());
    row.extend_from_slice(&0.5_f32.to_le_bytes());
    row.extend_from_slice(&0.25_f64.to_le_bytes());
    row.extend_from_slice(&[4, 0xea, 7, 11, 23]);
    row.extend_from_slice(b"\x0512.50\x01x");
    // The third, the seventh and the ninth are.
    let nulls = [&[0, 0b0001_0000, 0b0000_0101][..], &row[3..6], &row[10..30], b"\x0512.50"].concat();
    let mut payloads: Vec<&[u8]> = vec![b"\x09"];
    payloads.extend(definitions.iter().map(Vec::as_slice));
    payloads.extend([END, &row, &nulls, END]);
    let received = packets(&payloads);
    let answer = read(Sent::Execute, &received).unwrap();
    let [decimal, text] = [b"12.50".as_slice(), b"x"].map(|bytes| format!("{:?}", Content::Text(bytes)));
    let decimal = decimal.as_str();
    let numbers = ["Unsigned(18446744073709551615)", "Real(0.5)", "Real(0.25)"];
    let first = ["Signed(-1)", "Unsigned(65534)", "Signed(-3)", numbers[0], numbers[1], numbers[2], "Time", decimal, &text];
    let second = ["Signed(-1)", "Unsigned(65534)", "Null", numbers[0], numbers[1], numbers[2], "Null", decimal, "Null"];
    assert_eq!(contents(&answer, &received), [first, second]);
    let row = Rows::new(&answer, &received).first().unwrap();
    assert_eq!(column::<f64>(&row, 7).unwrap(), 12.5);
    assert_eq!(column::<u32>(&row, 1).unwrap(), 65534);
    assert_eq!(why(column::<u32>(&row, 2)), "column 2 is Signed(-3)");
    assert_eq!(why(column::<i64>(&row, 3)), "column 3 is Unsigned(18446744073709551615)");
}

const UNSIGNED: u16 = 0x20;

#[test]
fn of_several_results_the_first_with_columns_is_kept() {
    let (number, text) = (definition(LONG, 0), definition(VARCHAR, 0));
    let first: &[&[u8]] = &[b"\x01", &number, END, b"\x011", b"\x012", END_AND_MORE];
    let second: &[&[u8]] = &[b"\x02", &text, &text, END, b"\x01a\x01b", END_AND_MORE];
    let received = packets(&[&[DONE_AND_MORE], first, second, &[DONE]].concat());
    let answer = read(Sent::Text, &received).unwrap();
    assert_eq!(
        contents(&answer, &received),
        [[1], [2]].map(|row| row.map(|n| format!("{:?}", Content::Text(n.to_string().as_bytes()))))
    );
    let received = packets(&[DONE]);
    let answer = read(Sent::Text, &received).unwrap();
    assert!(Rows::new(&answer, &received).is_empty());
}

#[test]
fn an_error_ends_an_answer_anywhere() {
    let number = definition(LONG, 0);
    let starts: [&[&[u8]]; 3] = [&[], &[b"\x01", &number, END, b"\x011"], &[b"\x01", &number, END, b"\x011", END_AND_MORE]];
    for start in starts {
        let error = read(Sent::Text, &packets(&[start, &[CONFLICT]].concat())).expect_err("a conflict");
        assert!(error.is_conflict());
        assert_eq!(error.to_string(), "ERROR 1213 (40001): again");
    }
    assert!(!read(Sent::Text, &packets(&[b"\xff\x28\x04#42000syntax"])).expect_err("an error").is_conflict());
    assert_eq!(why(read(Sent::Text, &packets(&[b"\xff\x10\x04Too many"]))), "ERROR 1040 (HY000): Too many");
}

#[test]
fn what_is_prepared_is_known() {
    let (number, text) = (definition(LONG, UNSIGNED), definition(VARCHAR, 0));
    let received = packets(&[&[0, 9, 0, 0, 0, 2, 0, 1, 0, 0, 0, 0], &text, END, &number, &text, END]);
    let answer = read(Sent::Prepare, &received).unwrap();
    assert_eq!(answer.prepared(), Prepared { id: 9, parameters: 1 });
    let known = [Form::Integer { bytes: 4, unsigned: true }, Form::Text];
    assert_eq!(answer.new_columns(), Some(&known[..]));
    let answer = read(Sent::Prepare, &packets(&[&[0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]])).unwrap();
    assert_eq!((answer.prepared().id, answer.new_columns()), (8, Some(&[][..])));
    assert_eq!(
        why(read(Sent::Prepare, &packets(&[&[0, 8, 0, 0, 0, 0]]))),
        "what the server sends is malformed: it ends too early"
    );
}

#[test]
fn columns_may_be_left_out_that_are_known() {
    let known = [Form::Integer { bytes: 4, unsigned: false }];
    let read = |received: &[u8], known: &[Form]| {
        let mut answer = Answer::new(true);
        answer.begin(Sent::Execute, known);
        assert!(answer.feed(received)?);
        Ok(answer)
    };
    let row: &[u8] = &[0, 0, 7, 0, 0, 0];
    let omitted = packets(&[&[1, 0], END, row, END]);
    let answer = read(&omitted, &known).unwrap();
    assert_eq!((contents(&answer, &omitted), answer.new_columns()), (vec![vec!["Signed(7)".to_owned()]], None));
    assert_eq!(why(read(&omitted, &[])), "what the server sends is malformed: columns left out that are not known");
    let changed = packets(&[&[1, 1], &definition(LONG, UNSIGNED), END, row, END]);
    let answer = read(&changed, &known).unwrap();
    assert_eq!(contents(&answer, &changed), [["Unsigned(7)"]]);
    assert_eq!(answer.new_columns(), Some(&[Form::Integer { bytes: 4, unsigned: true }][..]));
}

#[test]
fn malformed_answers_are_errors() {
    let number = definition(LONG, 0);
    let row = |payload| packets(&[b"\x01", &number, END, payload, END]);
    let mut unordered = packets(&[b"\x01", &number, END]);
    unordered[8] = 7;
    let cases = [
        (Sent::Text, packets(&[DONE, DONE]), "more than the answer"),
        (Sent::Text, vec![0xff, 0xff, 0xff, 1, 0], "a packet of 16 MiB or more, which this client does not read"),
        (Sent::Text, vec![0, 0, 0, 1], "an empty packet"),
        (Sent::Text, unordered, "a packet out of sequence"),
        (Sent::Text, packets(&[&[0, 0]]), "it ends too early"),
        (Sent::Text, packets(&[b"\xff\x10"]), "a refusal without a number"),
        (Sent::Text, packets(&[b"\xfbfile"]), "it asks for a file"),
        (Sent::Text, packets(&[b"\x01", &number[..9]]), "it ends too early"),
        (Sent::Text, packets(&[b"\x01", &definition(99, 0)]), "a column of an unknown type"),
        (Sent::Text, packets(&[b"\x01", &number, DONE]), "columns do not end"),
        (Sent::Text, row(b"\x05abcd"), "it ends too early"),
        (Sent::Text, row(b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff"), "it ends too early"),
        (Sent::Text, row(b"\x01a\x01b"), "a row is longer than its columns"),
        (Sent::Execute, row(&[0, 0, 1, 0, 0]), "it ends too early"),
        (Sent::Execute, row(&[0, 0, 1, 0, 0, 0, 0]), "a row is longer than its columns"),
        (Sent::Execute, row(&[1, 0, 1, 0, 0, 0]), "a row of values does not begin with zero"),
        (Sent::Execute, row(&[0]), "it ends too early"),
        (Sent::Prepare, packets(&[END]), "a statement neither prepared nor refused"),
    ];
    for (sent, received, expected) in cases {
        assert_eq!(why(read(sent, &received)), format!("what the server sends is malformed: {expected}"), "{received:?}");
    }
}

/// Whatever is cut off or changed, the reader does not panic.
#[test]
fn no_single_wrong_byte_panics() {
    let values = packets(&[b"\x01", &definition(VARCHAR, 0), END, &[0, 0, 2, b'a', b'b'], END]);
    for (sent, sound) in [(Sent::Text, two_rows_of_texts()), (Sent::Execute, values)] {
        for at in 0..sound.len() {
            for byte in 0..=255 {
                let mut received = sound.clone();
                received[at] = byte;
                let mut answer = Answer::new(true);
                answer.begin(sent, &[Form::Double]);
                if answer.feed(&received).is_ok() {
                    contents(&answer, &received);
                }
            }
        }
    }
}
