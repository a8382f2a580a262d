//! SHOW in all its forms.

use super::{Parser, uppercase};
use crate::ast::*;
use crate::deprecated::Deprecated;
use crate::error::Result;
use crate::keyword::Keyword as K;
use crate::lexer::Token;

impl<'a> Parser<'a> {
    pub(super) fn show(&mut self) -> Result<Statement<'a>> {
        self.bump();
        let full = self.accept_word("FULL");
        let extended = self.accept_word("EXTENDED");
        let full = full || self.accept_word("FULL");
        let show = match self.token {
            Token::Keyword(keyword) => self.show_keyword(keyword)?,
            Token::Word(word) => {
                let mut buffer = [0; 16];
                let upper = uppercase(word, &mut buffer);
                match self.show_word(upper, full, extended)? {
                    Some(show) => show,
                    None => return self.unsupported("SHOW of this kind"),
                }
            }
            _ => return Err(self.error()),
        };
        Ok(Statement::Show(show))
    }

    fn show_keyword(&mut self, keyword: K) -> Result<Show<'a>> {
        match keyword {
            K::Databases | K::Schemas => {
                self.bump();
                Ok(Show::Databases(self.show_filter()?))
            }
            K::Create => self.show_create(),
            K::Index | K::Keys => self.show_index(),
            K::Table => {
                self.bump();
                self.expect_word("STATUS")?;
                let database = self.in_database()?;
                Ok(Show::TableStatus { database, filter: self.show_filter()? })
            }
            K::Character => {
                self.bump();
                self.expect_kw(K::Set)?;
                Ok(Show::Charsets(self.show_filter()?))
            }
            K::Procedure | K::Function => {
                self.bump();
                let functions = keyword == K::Function;
                if self.at_word("CODE") {
                    return Err(self.error());
                }
                self.expect_word("STATUS")?;
                Ok(Show::Routines { functions, filter: self.show_filter()? })
            }
            K::Binary => {
                self.bump();
                if self.accept_word("LOGS") {
                    return Ok(Show::BinaryLogs);
                }
                self.expect_word("LOG")?;
                self.expect_word("STATUS")?;
                Ok(Show::BinaryLogStatus)
            }
            _ => Err(self.error()),
        }
    }

    /// The forms that begin with a non-reserved word; `None` for forms of MySQL that Heddle does not have.
    fn show_word(&mut self, upper: &[u8], full: bool, extended: bool) -> Result<Option<Show<'a>>> {
        self.bump();
        let show = match upper {
            b"TABLES" => {
                let database = self.in_database()?;
                Show::Tables { full, extended, database, filter: self.show_filter()? }
            }
            b"COLUMNS" | b"FIELDS" => {
                let table = self.in_table()?;
                Show::Columns { full, extended, table, filter: self.show_filter()? }
            }
            b"INDEXES" => self.show_index_tail()?,
            b"VARIABLES" => Show::Variables { global: false, filter: self.show_filter()? },
            b"STATUS" => Show::Status { global: false, filter: self.show_filter()? },
            b"GLOBAL" | b"SESSION" | b"LOCAL" => {
                let global = upper == b"GLOBAL";
                if self.accept_word("VARIABLES") {
                    Show::Variables { global, filter: self.show_filter()? }
                } else {
                    self.expect_word("STATUS")?;
                    Show::Status { global, filter: self.show_filter()? }
                }
            }
            b"PROCESSLIST" => {
                self.deprecated_form(Deprecated::ProcessList);
                Show::ProcessList { full }
            }
            b"WARNINGS" | b"ERRORS" => self.show_warnings(upper == b"ERRORS")?,
            b"COUNT" => {
                self.expect(Token::LeftParen)?;
                self.expect(Token::Star)?;
                self.expect(Token::RightParen)?;
                let errors_only = self.accept_word("ERRORS");
                if !errors_only {
                    self.expect_word("WARNINGS")?;
                }
                Show::CountWarnings { errors_only }
            }
            b"STORAGE" => {
                self.expect_word("ENGINES")?;
                Show::Engines
            }
            b"ENGINES" => Show::Engines,
            b"ENGINE" => self.show_engine()?,
            b"CHARSET" => Show::Charsets(self.show_filter()?),
            b"COLLATION" => Show::Collations(self.show_filter()?),
            b"GRANTS" => self.show_grants()?,
            b"SERVER" => {
                self.expect_word("PROFILE")?;
                let seconds = if self.accept_kw(K::For) { self.number_with_unit("SECONDS", "SECOND")? } else { 10 };
                let hertz = if self.accept_word("AT") { self.number_with_unit("HERTZ", "HZ")? } else { 99 };
                Show::ServerProfile { seconds, hertz }
            }
            b"ADVICE" => {
                let mut table = None;
                if self.accept_kw(K::For) {
                    self.expect_kw(K::Table)?;
                    table = Some(self.object_name()?);
                }
                Show::Advice { table, filter: self.show_filter()? }
            }
            b"PRIVILEGES" => Show::Privileges,
            b"PLUGINS" => Show::Plugins,
            b"TRIGGERS" => {
                let database = self.in_database()?;
                Show::Triggers { full, database, filter: self.show_filter()? }
            }
            b"EVENTS" => {
                let database = self.in_database()?;
                Show::Events { database, filter: self.show_filter()? }
            }
            b"OPEN" => {
                self.expect_word("TABLES")?;
                let database = self.in_database()?;
                Show::OpenTables { database, filter: self.show_filter()? }
            }
            b"MASTER" => {
                if self.accept_word("LOGS") {
                    Show::BinaryLogs
                } else {
                    self.expect_word("STATUS")?;
                    Show::BinaryLogStatus
                }
            }
            b"REPLICA" | b"SLAVE" => {
                if self.accept_word("HOSTS") {
                    Show::Replicas
                } else {
                    self.expect_word("STATUS")?;
                    let mut channel = None;
                    if self.accept_kw(K::For) {
                        self.expect_word("CHANNEL")?;
                        channel = Some(self.string()?);
                    }
                    Show::ReplicaStatus { channel }
                }
            }
            b"REPLICAS" => Show::Replicas,
            b"PROFILES" => {
                self.deprecated_form(Deprecated::ShowProfiles);
                Show::Profiles
            }
            b"PROFILE" => {
                self.deprecated_form(Deprecated::ShowProfile);
                while !matches!(self.token, Token::End | Token::Semicolon | Token::Bad) {
                    self.bump();
                }
                Show::Profile
            }
            b"BINLOG" => {
                self.expect_word("EVENTS")?;
                Show::LogEvents(Some(self.binary_log_events()?))
            }
            b"RELAYLOG" => {
                self.expect_word("EVENTS")?;
                while !matches!(self.token, Token::End | Token::Semicolon | Token::Bad) {
                    self.bump();
                }
                Show::LogEvents(None)
            }
            b"LIBRARY" | b"PARSE_TREE" => return Ok(None),
            _ => return Err(self.error()),
        };
        Ok(Some(show))
    }

    /// `[IN 'name'] [FROM position] [LIMIT [offset,] count]`
    fn binary_log_events(&mut self) -> Result<BinaryLogEvents<'a>> {
        let mut events = BinaryLogEvents::default();
        if self.accept_kw(K::In) {
            events.file = Some(self.string()?);
        }
        if self.accept_kw(K::From) {
            events.position = Some(self.number()?);
        }
        if self.accept_kw(K::Limit) {
            let first = self.number()?;
            if self.accept(Token::Comma) {
                (events.offset, events.count) = (Some(first), Some(self.number()?));
            } else {
                events.count = Some(first);
                events.offset = if self.accept_word("OFFSET") { Some(self.number()?) } else { None };
            }
        }
        Ok(events)
    }

    /// `10 SECONDS`
    fn number_with_unit(&mut self, unit: &'static str, other: &'static str) -> Result<u64> {
        let number = self.number()?;
        if !self.accept_word(other) {
            self.expect_word(unit)?;
        }
        Ok(number)
    }

    fn show_create(&mut self) -> Result<Show<'a>> {
        self.bump();
        let kind = match self.token {
            Token::Keyword(K::Table) => {
                self.bump();
                return Ok(Show::CreateTable(self.object_name()?));
            }
            Token::Keyword(K::Database | K::Schema) => {
                self.bump();
                let if_not_exists = self.if_not_exists()?;
                return Ok(Show::CreateDatabase { name: self.ident()?, if_not_exists });
            }
            Token::Keyword(K::Procedure) => "PROCEDURE",
            Token::Keyword(K::Function) => "FUNCTION",
            Token::Keyword(K::Trigger) => "TRIGGER",
            _ if self.at_word("VIEW") => "VIEW",
            _ if self.at_word("EVENT") => "EVENT",
            _ if self.at_word("USER") => {
                self.bump();
                return Ok(Show::CreateUser(self.account_name()?));
            }
            _ => return Err(self.error()),
        };
        self.bump();
        Ok(Show::CreateOther { kind, name: self.object_name()? })
    }

    fn show_index(&mut self) -> Result<Show<'a>> {
        self.bump();
        self.show_index_tail()
    }

    fn show_index_tail(&mut self) -> Result<Show<'a>> {
        let table = self.in_table()?;
        Ok(Show::Index { table, filter: self.show_filter()? })
    }

    /// `FROM t [FROM d]`, with IN for FROM.
    fn in_table(&mut self) -> Result<ObjectName<'a>> {
        if !self.accept_kw(K::In) {
            self.expect_kw(K::From)?;
        }
        let mut table = self.object_name()?;
        if let Some(database) = self.in_database()? {
            table.database = Some(database);
        }
        Ok(table)
    }

    fn in_database(&mut self) -> Result<Option<&'a str>> {
        if self.accept_kw(K::From) || self.accept_kw(K::In) {
            return Ok(Some(self.ident()?));
        }
        Ok(None)
    }

    fn show_filter(&mut self) -> Result<ShowFilter<'a>> {
        if self.accept_kw(K::Like) {
            return Ok(ShowFilter::Like(self.string_chain()?));
        }
        if self.accept_kw(K::Where) {
            return Ok(ShowFilter::Where(self.expr_ref()?));
        }
        Ok(ShowFilter::None)
    }

    fn show_warnings(&mut self, errors_only: bool) -> Result<Show<'a>> {
        let mut offset = 0;
        let mut count = None;
        if self.accept_kw(K::Limit) {
            let first = self.number()?;
            if self.accept(Token::Comma) {
                offset = first;
                count = Some(self.number()?);
            } else {
                count = Some(first);
                if self.accept_word("OFFSET") {
                    offset = self.number()?;
                }
            }
        }
        Ok(Show::Warnings { errors_only, offset, count })
    }

    fn show_engine(&mut self) -> Result<Show<'a>> {
        let engine = if self.accept_kw(K::All) { "ALL" } else { self.ident_or_string()? };
        let what = match () {
            () if self.accept_word("STATUS") => "STATUS",
            () if self.accept_word("MUTEX") => "MUTEX",
            () if self.accept_word("LOGS") => "LOGS",
            () => return Err(self.error()),
        };
        Ok(Show::EngineStatus { engine, what })
    }

    fn show_grants(&mut self) -> Result<Show<'a>> {
        if !self.accept_kw(K::For) {
            return Ok(Show::Grants { user: None, roles: &[] });
        }
        let user = Some(self.account_name()?);
        let roles: &[AccountName<'a>] = if self.accept_kw(K::Using) { self.list(|p| p.account_name())? } else { &[] };
        Ok(Show::Grants { user, roles })
    }
}
