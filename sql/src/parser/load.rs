//! LOAD DATA, and the FIELDS and LINES clauses that it shares with SELECT ... INTO OUTFILE.

use super::Parser;
use crate::ast::{Duplicates, FileFormat, LoadData, LoadTarget, Statement};
use crate::error::{Error, Result};
use crate::keyword::Keyword as K;
use crate::lexer::Token;

impl<'a> Parser<'a> {
    /// `LOAD DATA [LOW_PRIORITY | CONCURRENT] [LOCAL] INFILE 'file' [REPLACE | IGNORE] INTO TABLE t ...`
    pub(super) fn load(&mut self) -> Result<Statement<'a>> {
        self.bump();
        if self.at_kw(K::Index) {
            return self.unsupported("LOAD INDEX INTO CACHE");
        }
        if self.at_word("XML") {
            return self.unsupported("LOAD XML");
        }
        self.expect_word("DATA")?;
        if !self.accept_kw(K::LowPriority) {
            self.accept_word("CONCURRENT");
        }
        let local = self.accept_word("LOCAL");
        self.expect_kw(K::Infile)?;
        let path = self.string()?;
        let duplicates = match () {
            () if self.accept_kw(K::Replace) => Duplicates::Replace,
            () if self.accept_kw(K::Ignore) => Duplicates::Ignore,
            () => Duplicates::Refuse,
        };
        self.expect_kw(K::Into)?;
        self.expect_kw(K::Table)?;
        let table = self.object_name()?;
        let partitions: &[&str] = if self.accept_kw(K::Partition) { self.paren_list(|p| p.ident())? } else { &[] };
        let charset = self.file_charset()?;
        let format = self.file_format()?;
        let lines_skipped = self.lines_skipped()?;
        let targets = self.load_targets()?;
        let assignments = if self.accept_kw(K::Set) { self.assignments()? } else { &[] };
        let load = LoadData { local, path, duplicates, table, partitions, charset, format, lines_skipped, targets, assignments };
        Ok(Statement::LoadData(self.arena.node(load)))
    }

    /// `IGNORE n LINES`, `IGNORE n ROWS`
    fn lines_skipped(&mut self) -> Result<u64> {
        if !self.accept_kw(K::Ignore) {
            return Ok(0);
        }
        let count = self.number()?;
        if !self.accept_kw(K::Lines) {
            self.expect_kw(K::Rows)?;
        }
        Ok(count)
    }

    /// `(a, @b, t.c)`
    fn load_targets(&mut self) -> Result<&'a [LoadTarget<'a>]> {
        if !self.accept(Token::LeftParen) || self.accept(Token::RightParen) {
            return Ok(&[]);
        }
        let targets = self.list(|p| match p.token {
            Token::Variable(_) | Token::QuotedVariable { .. } => Ok(LoadTarget::Variable(p.user_variable()?)),
            _ => Ok(LoadTarget::Column(p.column_name()?)),
        })?;
        self.expect(Token::RightParen)?;
        if targets.len() > super::COLUMNS_MAX {
            return Err(Error::TooManyColumns);
        }
        Ok(targets)
    }

    /// `[CHARACTER SET name]`
    pub(super) fn file_charset(&mut self) -> Result<Option<&'a str>> {
        if !self.accept_word("CHARSET") {
            if !self.accept_kw(K::Character) {
                return Ok(None);
            }
            self.expect_kw(K::Set)?;
        }
        self.charset_name().map(Some)
    }

    /// `[FIELDS | COLUMNS ...] [LINES ...]`
    pub(super) fn file_format(&mut self) -> Result<FileFormat<'a>> {
        let mut format = FileFormat::default();
        if self.accept_word("FIELDS") || self.accept_word("COLUMNS") {
            let mut any = false;
            loop {
                if self.accept_kw(K::Terminated) {
                    self.expect_kw(K::By)?;
                    format.fields_terminated = self.separator()?;
                } else if self.at_kw(K::Optionally) || self.at_kw(K::Enclosed) {
                    format.optionally = self.accept_kw(K::Optionally);
                    self.expect_kw(K::Enclosed)?;
                    self.expect_kw(K::By)?;
                    format.enclosed = self.separator()?;
                } else if self.accept_kw(K::Escaped) {
                    self.expect_kw(K::By)?;
                    format.escaped = self.separator()?;
                } else if any {
                    break;
                } else {
                    return Err(self.error());
                }
                any = true;
            }
        }
        if self.accept_kw(K::Lines) {
            let mut any = false;
            loop {
                if self.accept_kw(K::Starting) {
                    self.expect_kw(K::By)?;
                    format.lines_starting = self.separator()?;
                } else if self.accept_kw(K::Terminated) {
                    self.expect_kw(K::By)?;
                    format.lines_terminated = self.separator()?;
                } else if any {
                    break;
                } else {
                    return Err(self.error());
                }
                any = true;
            }
        }
        Ok(format)
    }

    /// A string, or its bytes in hexadecimal or binary digits.
    pub(super) fn separator(&mut self) -> Result<&'a [u8]> {
        if matches!(self.token, Token::Hex(_) | Token::Bits(_)) { self.bits() } else { self.string() }
    }
}
