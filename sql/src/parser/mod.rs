//! Parses one statement into a syntax tree: recursive descent with one token of lookahead.
//!
//! P1: no input causes a panic or a stack overflow. `DEPTH_MAX` bounds the recursion; `HEIGHT_MAX` bounds the height of
//!     the tree, which chains of operators increase without recursion of the parser.
//! P2: a reserved word is never taken for a name; any other word is a name wherever a name is allowed.
//! P3: every iteration of a loop consumes a token or ends the loop.

mod account;
mod alter;
mod body;
mod ddl;
mod dml;
mod event;
mod expr;
mod function;
mod json_table;
mod load;
mod partition;
mod query;
mod replica;
mod routine;
mod session;
mod show;
mod table;
#[cfg(test)]
mod tests;
mod types;
mod view;
mod xa;

pub use routine::parse_type;
pub(crate) use routine::read_program;

use crate::arena::{Arena, ArenaVec};
use crate::ast::{ObjectName, Statement};
use crate::deprecated::Deprecated;
use crate::digest::Lifted;
use crate::error::{Error, NameKind, Result};
use crate::keyword::Keyword as K;
use crate::lexer::{Lexer, Token, unescape};
use ::types::SqlMode;

/// How deep expressions and queries may nest.
pub const DEPTH_MAX: u32 = 400;
/// How high the tree of an expression may grow.
pub const HEIGHT_MAX: u32 = 500;
/// How much a nested query adds to the depth (`DEPTH_MAX`).
const QUERY_DEPTH: u32 = 8;
/// MySQL's limits.
pub(crate) const COLUMNS_MAX: usize = 4096;
/// As many as the protocol counts in a prepared statement.
pub(crate) const SELECT_COLUMNS_MAX: usize = 65535;
pub(crate) const TABLES_MAX: u32 = 61;
const PARAMS_MAX: u32 = 65535;
const NAME_CHARS_MAX: usize = 64;

/// A longer name before a dot is not a name of a database (1102).
const DATABASE_BYTES_MAX: usize = 192;
/// How much of the text an error shows.
const NEAR_CHARS_MAX: usize = 80;

/// A parsed statement and the end of its text.
#[derive(Clone, Copy, Debug)]
pub struct Parsed<'a> {
    pub statement: Statement<'a>,
    /// Number of `?`.
    pub params: u32,
    /// Number of literals given as `Expr::Lifted`.
    pub lifted: u32,
    /// Offset after the `;` that ended the statement; the length of the text if nothing follows.
    pub end: usize,
    /// The rows of VALUES that add nothing to the statement's digest after the first two.
    pub repeated: Repeated,
    /// In the order of their warnings.
    pub deprecated: &'a [Deprecated<'a>],
}

/// A piece of a statement's text, from `start` to `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repeated {
    pub start: usize,
    pub end: usize,
}

/// Parses the first statement of `text`. Never panics, whatever the bytes are.
pub fn parse<'a>(arena: &'a Arena, text: &'a [u8], mode: &SqlMode) -> Result<Parsed<'a>> {
    Parser::new(arena, text, mode, None).run()
}

/// Like [`parse`], with the literals that `digest` lifted out given as `Expr::Lifted`.
pub fn parse_lifted<'a>(arena: &'a Arena, text: &'a [u8], mode: &SqlMode, lifted: &'a Lifted) -> Result<Parsed<'a>> {
    Parser::new(arena, text, mode, Some(lifted)).run()
}

/// Parses one expression that is the whole text: generated columns, checks, defaults.
pub fn parse_expression<'a>(arena: &'a Arena, text: &'a [u8], mode: &SqlMode) -> Result<crate::ast::Expr<'a>> {
    let mut parser = Parser::new(arena, text, mode, None);
    let expr = parser.expr()?;
    if parser.token == Token::End { Ok(expr) } else { Err(parser.error()) }
}

pub(crate) struct Parser<'a> {
    arena: &'a Arena,
    text: &'a [u8],
    lexer: Lexer<'a>,
    /// The next token.
    token: Token<'a>,
    start: usize,
    /// Where the previous token ended.
    previous_end: usize,
    mode: SqlMode,
    params: u32,
    tables: u32,
    depth: u32,
    /// Height of the expression parsed last.
    height: u32,
    lifted: Option<&'a Lifted>,
    lifted_next: usize,
    /// INTO that stood before FROM.
    early_into: Option<crate::ast::SelectInto<'a>>,
    repeated: Repeated,
    /// Deprecated forms: late ones, their position, and whether the warning comes after one of a token there.
    deprecated: Vec<((bool, usize, bool), Deprecated<'a>)>,
    /// The names of the enclosing stored program.
    names: body::Names<'a>,
}

impl<'a> Parser<'a> {
    fn new(arena: &'a Arena, text: &'a [u8], mode: &SqlMode, lifted: Option<&'a Lifted>) -> Self {
        let mut lexer = Lexer::new(text, mode);
        let (token, start) = lexer.next();
        Self {
            arena,
            text,
            lexer,
            token,
            start,
            previous_end: 0,
            mode: *mode,
            params: 0,
            tables: 0,
            depth: 0,
            height: 0,
            lifted,
            lifted_next: 0,
            early_into: None,
            repeated: Repeated::default(),
            deprecated: Vec::new(),
            names: body::Names::None,
        }
    }

    fn run(mut self) -> Result<Parsed<'a>> {
        let statement = match self.token {
            Token::End | Token::Semicolon => Statement::Empty,
            _ => self.statement()?,
        };
        let end = match self.token {
            Token::End => self.text.len(),
            Token::Semicolon => self.lexer.position(),
            _ if matches!(statement, Statement::Unsupported { .. }) => self.skip_statement(),
            _ => return Err(self.error()),
        };
        let lifted = self.lifted.map_or(0, |l| l.len() as u32);
        let deprecated = if self.deprecated.is_empty() { &[][..] } else { self.take_deprecated() };
        Ok(Parsed { statement, params: self.params, lifted, end, repeated: self.repeated, deprecated })
    }

    /// A deprecated form that the current token is.
    fn deprecated_token(&mut self, form: Deprecated<'a>) {
        self.deprecated.push(((form.is_late(), self.start, false), form));
    }

    /// A deprecated form that ends before the current token.
    fn deprecated_form(&mut self, form: Deprecated<'a>) {
        self.deprecated.push(((form.is_late(), self.start, true), form));
    }

    #[cold]
    fn take_deprecated(&mut self) -> &'a [Deprecated<'a>] {
        self.deprecated.sort_by_key(|(place, _)| *place);
        let forms: Vec<Deprecated<'a>> = self.deprecated.drain(..).map(|(_, form)| form).collect();
        self.arena.slice(&forms)
    }

    /// The rest of an unsupported statement. A compound statement (a procedure's body) has semicolons of its own, so
    /// the end of the statement cannot be found: all of the text is skipped.
    fn skip_statement(&mut self) -> usize {
        self.text.len()
    }

    fn statement(&mut self) -> Result<Statement<'a>> {
        match self.token {
            Token::Keyword(keyword) => match keyword {
                K::Select | K::With | K::Values | K::Table => self.query_statement(),
                K::Insert | K::Replace => self.insert(),
                K::Update => self.update(None),
                K::Delete => self.delete(None),
                K::Set => self.set(),
                K::Show => self.show(),
                K::Use => {
                    self.bump();
                    Ok(Statement::Use(self.ident()?))
                }
                K::Create => self.create(),
                K::Drop => self.drop_statement(),
                K::Alter => self.alter(),
                K::Rename => self.rename(),
                K::Desc | K::Describe | K::Explain => self.explain(),
                K::Kill => self.kill(),
                K::Lock => self.lock(),
                K::Unlock => self.unlock(),
                K::Release => self.release_savepoint(),
                K::Analyze | K::Optimize | K::Check => self.maintenance(),
                K::Call => self.call_statement(),
                K::Grant => self.grant(),
                K::Revoke => self.revoke(),
                K::Load => self.load(),
                K::Purge => self.purge(),
                K::Change => self.change_replication(),
                K::Signal | K::Resignal | K::Get => self.condition_statement(),
                _ => Err(self.error()),
            },
            Token::LeftParen => self.query_statement(),
            Token::Word(word) => self.word_statement(word),
            _ => Err(self.error()),
        }
    }

    /// A statement that begins with a word that is not reserved.
    fn word_statement(&mut self, word: &'a [u8]) -> Result<Statement<'a>> {
        let mut buffer = [0; 16];
        match uppercase(word, &mut buffer) {
            b"BEGIN" => self.begin(),
            b"START" if self.peek_word("REPLICA") || self.peek_word("SLAVE") => self.start_replica(),
            b"START" if self.peek_word("GROUP_REPLICATION") => self.unsupported("START GROUP_REPLICATION"),
            b"START" => self.start_transaction(),
            b"COMMIT" | b"ROLLBACK" => self.transaction_end(),
            b"SAVEPOINT" => self.savepoint(),
            b"TRUNCATE" => self.truncate(),
            b"PREPARE" => self.prepare(),
            b"EXECUTE" => self.execute(),
            b"DEALLOCATE" => self.deallocate(),
            b"DO" => self.do_statement(),
            b"FLUSH" => self.flush(),
            b"CHECKSUM" | b"REPAIR" => self.maintenance(),
            b"HELP" => self.help(),
            b"HANDLER" => self.unsupported("HANDLER"),
            b"XA" => self.xa(),
            b"INSTALL" => self.unsupported("INSTALL"),
            b"UNINSTALL" => self.unsupported("UNINSTALL"),
            b"CACHE" => self.unsupported("CACHE INDEX"),
            b"RESET" => self.reset(),
            b"STOP" => self.stop_replica(),
            b"BINLOG" => self.unsupported("BINLOG"),
            b"BACKUP" => self.backup_server(),
            b"ADVISE" => self.advise_for(),
            b"MEASURE" | b"APPLY" | b"REVERT" => self.advice(),
            b"CLONE" => self.clone_local(),
            b"IMPORT" => self.unsupported("IMPORT TABLE"),
            b"RESTART" => self.unsupported("RESTART"),
            b"SHUTDOWN" => self.shutdown(),
            _ => Err(self.error()),
        }
    }

    fn unsupported(&mut self, what: &'static str) -> Result<Statement<'a>> {
        Ok(Statement::Unsupported { what })
    }

    // ---- tokens ----

    fn bump(&mut self) {
        self.previous_end = self.lexer.position();
        let (token, start) = self.lexer.next();
        self.token = token;
        self.start = start;
    }

    /// The token after the next one.
    fn peek(&self) -> Token<'a> {
        let mut lexer = self.lexer;
        lexer.next().0
    }

    /// The next token is of this kind: for tokens without a text.
    #[inline]
    fn at(&self, token: Token<'a>) -> bool {
        std::mem::discriminant(&self.token) == std::mem::discriminant(&token)
    }

    #[inline]
    fn accept(&mut self, token: Token<'a>) -> bool {
        let found = self.at(token);
        if found {
            self.bump();
        }
        found
    }

    fn expect(&mut self, token: Token<'a>) -> Result<()> {
        if self.accept(token) { Ok(()) } else { Err(self.error()) }
    }

    fn at_kw(&self, keyword: K) -> bool {
        matches!(self.token, Token::Keyword(k) if k == keyword)
    }

    fn accept_kw(&mut self, keyword: K) -> bool {
        let found = self.at_kw(keyword);
        if found {
            self.bump();
        }
        found
    }

    fn expect_kw(&mut self, keyword: K) -> Result<()> {
        if self.accept_kw(keyword) { Ok(()) } else { Err(self.error()) }
    }

    /// Is the next token this non-reserved word?
    fn at_word(&self, word: &str) -> bool {
        matches!(self.token, Token::Word(w) if w.eq_ignore_ascii_case(word.as_bytes()))
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.bump();
        }
        found
    }

    fn accept_one_of(&mut self, words: &[&str]) -> bool {
        words.iter().any(|word| self.accept_word(word))
    }

    fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.accept_word(word) { Ok(()) } else { Err(self.error()) }
    }

    fn peek_kw(&self, keyword: K) -> bool {
        self.peek() == Token::Keyword(keyword)
    }

    fn peek_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(w) if w.eq_ignore_ascii_case(word.as_bytes()))
    }

    // ---- errors and bounds ----

    /// A syntax error at the next token.
    #[cold]
    fn error(&self) -> Error {
        self.error_at(self.start)
    }

    fn error_at(&self, start: usize) -> Error {
        Error::Syntax { near: self.near_of(start), line: self.line_of(start) }
    }

    /// The text from `start` on, as an error shows it.
    fn near_of(&self, start: usize) -> String {
        let rest = &self.text[start.min(self.text.len())..];
        String::from_utf8_lossy(&rest[..rest.len().min(NEAR_CHARS_MAX * 4)]).chars().take(NEAR_CHARS_MAX).collect()
    }

    /// The line of the text, from 1 on.
    fn line_of(&self, start: usize) -> u32 {
        let line = 1 + self.text[..start.min(self.text.len())].iter().filter(|&&b| b == b'\n').count();
        u32::try_from(line).unwrap_or(u32::MAX)
    }

    fn enter(&mut self, depth: u32) -> Result<()> {
        self.depth += depth;
        if self.depth > DEPTH_MAX { Err(Error::TooDeep) } else { Ok(()) }
    }

    fn leave(&mut self, depth: u32) {
        self.depth -= depth;
    }

    /// Sets the height of the current expression from the height of its parts.
    fn grow(&mut self, height: u32) -> Result<()> {
        self.height = height + 1;
        if self.height > HEIGHT_MAX { Err(Error::TooDeep) } else { Ok(()) }
    }

    // ---- names and small things ----

    fn utf8(&self, bytes: &'a [u8]) -> Result<&'a str> {
        std::str::from_utf8(bytes).map_err(|error| {
            let bad = &bytes[error.valid_up_to()..];
            let text = bad.iter().take(6).map(|b| format!("\\x{b:02X}")).collect();
            Error::InvalidUtf8 { text }
        })
    }

    /// A name of something that is stored.
    fn checked_name(&self, name: &'a str) -> Result<&'a str> {
        if name.len() > NAME_CHARS_MAX && name.chars().count() > NAME_CHARS_MAX {
            return Err(Error::IdentifierTooLong(name.to_owned()));
        }
        Ok(name)
    }

    fn quoted_name(&self, name: &'a [u8], doubled: bool) -> Result<&'a str> {
        if !doubled {
            return self.utf8(name);
        }
        // The quote is the byte before the name.
        let quote = self.text[self.start];
        let mut out: ArenaVec<'a, u8> = self.arena.list();
        unescape(name, quote, false, &mut out);
        self.utf8(out.into_bump_slice())
    }

    fn at_ident(&self) -> bool {
        matches!(self.token, Token::Word(_) | Token::Quoted { .. } | Token::Underscore(_))
    }

    /// A name: a word that is not reserved, or anything quoted.
    fn ident(&mut self) -> Result<&'a str> {
        let name = self.name_of_any_length()?;
        self.checked_name(name)
    }

    /// The name of a database before a dot.
    fn checked_database(&self, name: &'a str) -> Result<&'a str> {
        if name.len() > DATABASE_BYTES_MAX {
            Err(Error::WrongName { kind: NameKind::Database, name: name.to_owned() })
        } else {
            self.checked_name(name)
        }
    }

    /// A name without a length limit, because a statement may have generated it.
    fn name_of_any_length(&mut self) -> Result<&'a str> {
        let name = match self.token {
            Token::Word(word) | Token::Underscore(word) => self.utf8(word)?,
            Token::Quoted { name, doubled } => self.quoted_name(name, doubled)?,
            _ => return Err(self.error()),
        };
        self.bump();
        Ok(name)
    }

    /// `name` or `database.name`
    fn object_name(&mut self) -> Result<ObjectName<'a>> {
        let first = self.name_of_any_length()?;
        if !self.accept(Token::Dot) {
            return Ok(ObjectName { database: None, name: self.checked_name(first)? });
        }
        Ok(ObjectName { database: Some(self.checked_database(first)?), name: self.ident()? })
    }

    /// A name, or a string in its place (`AS 'x'`, names of character sets and engines).
    fn ident_or_string(&mut self) -> Result<&'a str> {
        if let Token::String { .. } = self.token {
            let bytes = self.string()?;
            return self.utf8(bytes);
        }
        self.ident()
    }

    /// A string literal's bytes, without introducer or concatenation.
    fn string(&mut self) -> Result<&'a [u8]> {
        let Token::String { raw, quote, escaped } = self.token else { return Err(self.error()) };
        let bytes = self.resolve(raw, quote, escaped);
        self.bump();
        Ok(bytes)
    }

    fn resolve(&self, raw: &'a [u8], quote: u8, escaped: bool) -> &'a [u8] {
        if !escaped {
            return raw;
        }
        let mut out: ArenaVec<'a, u8> = self.arena.list();
        unescape(raw, quote, !self.mode.no_backslash_escapes, &mut out);
        out.into_bump_slice()
    }

    /// An unsigned number that fits 64 bits, for lengths and options.
    fn number(&mut self) -> Result<u64> {
        let value = match self.token {
            Token::Int(digits) => parse_int(digits),
            _ => None,
        };
        let value = value.ok_or_else(|| self.error())?;
        self.bump();
        Ok(value)
    }

    /// Like `number`, also written as 0x1F.
    fn number_or_hex(&mut self) -> Result<u64> {
        let Token::Hex(digits) = self.token else { return self.number() };
        let value = std::str::from_utf8(digits).ok().and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let value = value.ok_or_else(|| self.error())?;
        self.bump();
        Ok(value)
    }

    /// `(n)`
    fn number_in_parens(&mut self) -> Result<u64> {
        self.expect(Token::LeftParen)?;
        let value = self.number()?;
        self.expect(Token::RightParen)?;
        Ok(value)
    }

    /// One or more of something, with commas between.
    fn list<T: Copy>(&mut self, mut one: impl FnMut(&mut Self) -> Result<T>) -> Result<&'a [T]> {
        let mut items = self.arena.list();
        loop {
            items.push(one(self)?);
            if !self.accept(Token::Comma) {
                return Ok(items.into_bump_slice());
            }
        }
    }

    /// A list in parentheses.
    fn paren_list<T: Copy>(&mut self, one: impl FnMut(&mut Self) -> Result<T>) -> Result<&'a [T]> {
        self.expect(Token::LeftParen)?;
        let items = self.list(one)?;
        self.expect(Token::RightParen)?;
        Ok(items)
    }

    fn if_exists(&mut self) -> Result<bool> {
        if !self.at_kw(K::If) {
            return Ok(false);
        }
        self.bump();
        self.expect_kw(K::Exists)?;
        Ok(true)
    }

    fn if_not_exists(&mut self) -> Result<bool> {
        if !self.at_kw(K::If) {
            return Ok(false);
        }
        self.bump();
        self.expect_kw(K::Not)?;
        self.expect_kw(K::Exists)?;
        Ok(true)
    }
}

/// Decimal digits as a number; `None` if it is too large.
pub(crate) fn parse_int(digits: &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for digit in digits {
        value = value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
    }
    Some(value)
}

/// The word in capitals; a word longer than the buffer becomes empty.
pub(crate) fn uppercase<'b>(word: &[u8], buffer: &'b mut [u8]) -> &'b [u8] {
    let Some(out) = buffer.get_mut(..word.len()) else { return &[] };
    out.copy_from_slice(word);
    out.make_ascii_uppercase();
    out
}
