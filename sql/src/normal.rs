//! STATEMENT_DIGEST_TEXT: a statement with its literals as `?`, so that statements that differ in values alone become one text.
//!
//! 1. Tokens are written with a space between them: names in backquotes, words in capitals, literals as `?`.
//! 2. A list of literals becomes `?, ...`, rows of literals `(...) /* , ... */`, as MySQL writes them.

use crate::arena::Arena;
use crate::error::Result;
use crate::lexer::{Lexer, Token};
use crate::parser;
use crate::plan::SqlMode;

/// Several literals.
const LIST: &str = "?, ...";

/// Names of functions that MySQL's grammar knows: they are words, not names.
fn is_function(word: &str) -> bool {
    const FUNCTIONS: &[&str] = &[
        "ADDDATE",
        "AVG",
        "BIT_AND",
        "BIT_OR",
        "BIT_XOR",
        "CAST",
        "COUNT",
        "CURDATE",
        "CURTIME",
        "DATE_ADD",
        "DATE_SUB",
        "EXTRACT",
        "GROUP_CONCAT",
        "JSON_ARRAYAGG",
        "JSON_OBJECTAGG",
        "MAX",
        "MID",
        "MIN",
        "NOW",
        "POSITION",
        "SESSION_USER",
        "STD",
        "STDDEV",
        "STDDEV_POP",
        "STDDEV_SAMP",
        "SUBDATE",
        "SUBSTR",
        "SUBSTRING",
        "SUM",
        "SYSDATE",
        "SYSTEM_USER",
        "TRIM",
        "VARIANCE",
        "VAR_POP",
        "VAR_SAMP",
    ];
    FUNCTIONS.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// The statement's normal text; an error where it cannot be parsed.
pub fn normalized(text: &[u8], mode: &SqlMode) -> Result<String> {
    parser::parse(&Arena::new(), text, mode)?;
    let mut lexer = Lexer::new(text, mode);
    let mut words: Vec<String> = Vec::new();
    loop {
        let (token, start) = lexer.next();
        let written = String::from_utf8_lossy(&text[start..lexer.position()]);
        let word = match token {
            Token::End | Token::Bad | Token::Semicolon => break,
            Token::Quoted { name, .. } => format!("`{}`", String::from_utf8_lossy(name)),
            Token::Word(_) if is_function(&written) => written.to_ascii_uppercase(),
            Token::Word(_) => format!("`{written}`"),
            Token::Keyword(_) => written.to_ascii_uppercase(),
            Token::String { .. } | Token::National { .. } | Token::Int(_) | Token::Decimal(_) | Token::Double(_) => {
                "?".to_owned()
            }
            Token::Hex(_) | Token::Bits(_) | Token::Param => "?".to_owned(),
            _ => written.into_owned(),
        };
        push(&mut words, word);
    }
    Ok(words.join(" "))
}

/// Adds a word and shortens what has become a list.
fn push(words: &mut Vec<String>, word: String) {
    if word == "?" {
        // A sign belongs to its number, unless it is between two operands.
        let sign = matches!(words.last().map(String::as_str), Some("-" | "+"));
        let operand = words.len() >= 2 && matches!(words[words.len() - 2].as_str(), "?" | ")" | LIST) || words.len() < 2;
        let name = words.len() >= 2 && words[words.len() - 2].starts_with('`');
        if sign && !operand && !name {
            words.pop();
        }
        let length = words.len();
        if length >= 2 && words[length - 1] == "," && matches!(words[length - 2].as_str(), "?" | LIST) {
            words.truncate(length - 2);
            words.push(LIST.to_owned());
            return;
        }
    }
    words.push(word);
    if words.last().is_some_and(|word| word == ")") {
        shorten_row(words);
    }
}

/// `( ?, ... )` is `(...)`, and a second one behind a comma is `/* , ... */`.
fn shorten_row(words: &mut Vec<String>) {
    let tail =
        |words: &[String], wanted: &[&str]| words.len() >= wanted.len() && words[words.len() - wanted.len()..].iter().eq(wanted);
    for (list, short) in [(&["(", LIST, ")"][..], "(...)"), (&["(", "?", ")"][..], "(?)")] {
        if tail(words, list) {
            words.truncate(words.len() - list.len());
            words.push(short.to_owned());
            break;
        }
    }
    for short in ["(...)", "(?)"] {
        if tail(words, &[short, "/* , ... */", ",", short]) {
            words.truncate(words.len() - 2);
        } else if tail(words, &[short, ",", short]) {
            words.truncate(words.len() - 2);
            words.push("/* , ... */".to_owned());
        }
    }
}
