//! The statements about the server as a replica of another one (MySQL 8.4 manual, 15.4.2).

use super::Parser;
use crate::ast::*;
use crate::error::{Error, Result};
use crate::keyword::Keyword as K;
use crate::lexer::Token;

impl<'a> Parser<'a> {
    /// `CHANGE REPLICATION SOURCE TO option = value, ... [FOR CHANNEL 'name']`
    pub(super) fn change_replication(&mut self) -> Result<Statement<'a>> {
        self.bump();
        self.expect_word("REPLICATION")?;
        if self.at_word("FILTER") {
            return self.unsupported("CHANGE REPLICATION FILTER");
        }
        self.expect_word("SOURCE")?;
        self.expect_kw(K::To)?;
        let mut options = self.arena.list();
        loop {
            let name = self.ident()?;
            if !self.accept(Token::Equal) {
                return Err(self.error());
            }
            options.push(ReplicaOption { name, value: self.replica_value()? });
            if !self.accept(Token::Comma) {
                break;
            }
        }
        let options = options.into_bump_slice();
        self.replica_statement(ReplicaChange::Source(options))
    }

    fn replica_value(&mut self) -> Result<ReplicaValue<'a>> {
        match self.token {
            Token::String { .. } => Ok(ReplicaValue::Text(self.string()?)),
            Token::Int(_) => Ok(ReplicaValue::Number(self.number()?)),
            Token::Decimal(digits) | Token::Double(digits) => {
                self.bump();
                let number = std::str::from_utf8(digits).ok().and_then(|text| text.parse().ok());
                number.map(ReplicaValue::Decimal).ok_or_else(|| self.error())
            }
            Token::LeftParen => {
                self.bump();
                let mut numbers = self.arena.list();
                while !self.accept(Token::RightParen) {
                    numbers.push(self.number()?);
                    self.accept(Token::Comma);
                }
                Ok(ReplicaValue::Numbers(numbers.into_bump_slice()))
            }
            Token::Keyword(K::Null) => {
                self.bump();
                Ok(ReplicaValue::Word("NULL"))
            }
            Token::Keyword(K::On) => {
                self.bump();
                Ok(ReplicaValue::Word("ON"))
            }
            _ => Ok(ReplicaValue::Word(self.ident()?)),
        }
    }

    /// `START REPLICA [IO_THREAD] [, SQL_THREAD] ... [FOR CHANNEL 'name']`
    pub(super) fn start_replica(&mut self) -> Result<Statement<'a>> {
        self.bump();
        self.bump();
        let threads = self.replica_threads()?;
        let mut other = None;
        for clause in ["UNTIL", "USER", "PASSWORD", "DEFAULT_AUTH", "PLUGIN_DIR"] {
            if self.at_word(clause) {
                other = Some(clause);
                // The rest is not looked at: the clause is refused.
                while !matches!(self.token, Token::End | Token::Semicolon) {
                    self.bump();
                }
            }
        }
        self.replica_statement(ReplicaChange::Start(threads, other))
    }

    /// `STOP REPLICA [IO_THREAD] [, SQL_THREAD] [FOR CHANNEL 'name']`
    pub(super) fn stop_replica(&mut self) -> Result<Statement<'a>> {
        self.bump();
        if !self.accept_word("REPLICA") && !self.accept_word("SLAVE") {
            return self.unsupported("STOP GROUP_REPLICATION");
        }
        let threads = self.replica_threads()?;
        self.replica_statement(ReplicaChange::Stop(threads))
    }

    /// `RESET REPLICA [ALL] [FOR CHANNEL 'name']`
    pub(super) fn reset_replica(&mut self) -> Result<Statement<'a>> {
        self.bump();
        let all = self.accept_kw(K::All);
        let statement = self.replica_statement(ReplicaChange::Reset { all })?;
        if matches!(self.token, Token::Comma) {
            return Err(Error::NotSupported("RESET of several things at once with REPLICA".to_owned()));
        }
        Ok(statement)
    }

    fn replica_threads(&mut self) -> Result<ReplicaThreads> {
        let mut threads = ReplicaThreads { receiver: false, applier: false };
        loop {
            if self.accept_word("IO_THREAD") || self.accept_word("RELAY_THREAD") {
                threads.receiver = true;
            } else if self.accept_word("SQL_THREAD") {
                threads.applier = true;
            } else if threads.receiver || threads.applier {
                return Err(self.error());
            } else {
                return Ok(ReplicaThreads { receiver: true, applier: true });
            }
            if !self.accept(Token::Comma) {
                return Ok(threads);
            }
        }
    }

    fn replica_statement(&mut self, change: ReplicaChange<'a>) -> Result<Statement<'a>> {
        let mut channel = None;
        if self.accept_kw(K::For) {
            self.expect_word("CHANNEL")?;
            channel = Some(self.string()?);
        }
        Ok(Statement::Replica(self.arena.node(ReplicaStatement { change, channel })))
    }
}
