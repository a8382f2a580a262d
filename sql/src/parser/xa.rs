//! XA START and the like.

use super::Parser;
use crate::ast::{Statement, XID_TEXT_MAX, Xa, Xid};
use crate::error::Result;
use crate::keyword::Keyword as K;
use crate::lexer::Token;

const FORMAT_USUAL: u64 = 1;

impl<'a> Parser<'a> {
    pub(super) fn xa(&mut self) -> Result<Statement<'a>> {
        self.bump();
        let xa = if self.accept_word("START") || self.accept_word("BEGIN") {
            let xid = self.xid()?;
            Xa::Start { xid, resumes: self.accept_kw(K::Join) || self.accept_word("RESUME") }
        } else if self.accept_word("END") {
            let xid = self.xid()?;
            let suspends = self.accept_word("SUSPEND");
            if suspends && self.accept_kw(K::For) {
                self.expect_word("MIGRATE")?;
            }
            Xa::End { xid, suspends }
        } else if self.accept_word("PREPARE") {
            Xa::Prepare(self.xid()?)
        } else if self.accept_word("COMMIT") {
            let xid = self.xid()?;
            let one_phase = self.accept_word("ONE");
            if one_phase {
                self.expect_word("PHASE")?;
            }
            Xa::Commit { xid, one_phase }
        } else if self.accept_word("ROLLBACK") {
            Xa::Rollback(self.xid()?)
        } else {
            self.expect_word("RECOVER")?;
            let converts = self.accept_kw(K::Convert);
            if converts {
                self.expect_word("XID")?;
            }
            Xa::Recover { converts }
        };
        Ok(Statement::Xa(xa))
    }

    /// `gtrid [, bqual [, format]]`
    fn xid(&mut self) -> Result<Xid<'a>> {
        let gtrid = self.xid_text()?;
        let (mut bqual, mut format) = (&[][..], FORMAT_USUAL);
        if self.accept(Token::Comma) {
            bqual = self.xid_text()?;
            if self.accept(Token::Comma) {
                format = self.xid_format()?;
            }
        }
        Ok(Xid { gtrid, bqual, format })
    }

    /// A number, also in hexadecimal form, as Connector/J writes it.
    fn xid_format(&mut self) -> Result<u64> {
        let Token::Hex(digits) = self.token else { return self.number() };
        let value = std::str::from_utf8(digits).ok().and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let value = value.ok_or_else(|| self.error())?;
        self.bump();
        Ok(value)
    }

    fn xid_text(&mut self) -> Result<&'a [u8]> {
        let text = match self.token {
            Token::Hex(_) | Token::Bits(_) => self.bits()?,
            _ => {
                let converted = self.string_chain()?;
                self.as_sent(converted)
            }
        };
        if text.len() > XID_TEXT_MAX { Err(self.error()) } else { Ok(text) }
    }
}
