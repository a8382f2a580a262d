//! Transactions, SET, prepared statements in SQL, KILL, FLUSH, LOCK, EXPLAIN.

use super::expr::scope_word;
use super::{Parser, uppercase};
use crate::arena::ArenaVec;
use crate::ast::*;
use crate::error::{Error, Result};
use crate::keyword::Keyword as K;
use crate::lexer::Token;
use conditions::Condition;

impl<'a> Parser<'a> {
    pub(super) fn begin(&mut self) -> Result<Statement<'a>> {
        self.bump();
        self.accept_word("WORK");
        if matches!(self.token, Token::End | Token::Semicolon) {
            return Ok(Statement::Begin { consistent_snapshot: false, read_only: None });
        }
        Err(self.error())
    }

    pub(super) fn start_transaction(&mut self) -> Result<Statement<'a>> {
        self.bump();
        self.expect_word("TRANSACTION")?;
        let mut consistent_snapshot = false;
        let mut read_only = None;
        if matches!(self.token, Token::End | Token::Semicolon) {
            return Ok(Statement::Begin { consistent_snapshot, read_only });
        }
        loop {
            if self.accept_kw(K::With) {
                self.expect_word("CONSISTENT")?;
                self.expect_word("SNAPSHOT")?;
                consistent_snapshot = true;
            } else if read_only.is_some() {
                return Err(self.error());
            } else {
                read_only = Some(self.access_mode()?);
            }
            if !self.accept(Token::Comma) {
                return Ok(Statement::Begin { consistent_snapshot, read_only });
            }
        }
    }

    /// READ ONLY is true, READ WRITE false.
    fn access_mode(&mut self) -> Result<bool> {
        self.expect_kw(K::Read)?;
        if self.accept_kw(K::Write) {
            return Ok(false);
        }
        self.expect_word("ONLY")?;
        Ok(true)
    }

    /// COMMIT, ROLLBACK, ROLLBACK TO SAVEPOINT
    pub(super) fn transaction_end(&mut self) -> Result<Statement<'a>> {
        let commit = self.at_word("COMMIT");
        self.bump();
        self.accept_word("WORK");
        if !commit && self.accept_kw(K::To) {
            self.accept_word("SAVEPOINT");
            return Ok(Statement::RollbackTo(self.ident()?));
        }
        let mut end = TransactionEnd::default();
        if self.accept_kw(K::And) {
            let no = self.accept_word("NO");
            self.expect_word("CHAIN")?;
            end.chain = Some(!no);
        }
        if self.accept_word("NO") {
            self.expect_kw(K::Release)?;
            end.release = Some(false);
        } else if self.accept_kw(K::Release) {
            end.release = Some(true);
        }
        Ok(if commit { Statement::Commit(end) } else { Statement::Rollback(end) })
    }

    pub(super) fn savepoint(&mut self) -> Result<Statement<'a>> {
        self.bump();
        Ok(Statement::Savepoint(self.ident()?))
    }

    pub(super) fn release_savepoint(&mut self) -> Result<Statement<'a>> {
        self.bump();
        self.expect_word("SAVEPOINT")?;
        Ok(Statement::ReleaseSavepoint(self.ident()?))
    }

    pub(super) fn set(&mut self) -> Result<Statement<'a>> {
        self.bump();
        let assigns = matches!(self.peek(), Token::Equal | Token::Assign | Token::Dot);
        match self.token {
            Token::Keyword(K::Default) => return self.set_default_role(),
            _ if self.at_word("ROLE") && !assigns => return self.set_role(),
            _ if self.at_word("PASSWORD") => return self.set_password(),
            _ => {}
        }
        Ok(Statement::Set(self.list(|p| p.set_item())?))
    }

    pub(super) fn set_item(&mut self) -> Result<SetItem<'a>> {
        match self.token {
            Token::Variable(_) | Token::QuotedVariable { .. } => {
                let name = self.user_variable()?;
                self.assign_sign()?;
                return Ok(SetItem::User { name, value: self.expr()? });
            }
            Token::AtAt => {
                let (scope, name) = self.system_variable()?;
                return self.set_system(scope, name);
            }
            _ if self.at_charset() => {
                self.charset_keyword()?;
                // Its name raises no warning, as in MySQL.
                let charset = if self.accept_kw(K::Default) { None } else { Some(self.collation_name()?.as_bytes()) };
                return Ok(SetItem::CharacterSet(charset));
            }
            _ => {}
        }
        if let (Token::Word(word), false) = (self.token, matches!(self.peek(), Token::Equal | Token::Assign | Token::Dot)) {
            let mut buffer = [0; 16];
            match uppercase(word, &mut buffer) {
                b"NAMES" => return self.set_names(),
                b"TRANSACTION" => return self.set_transaction(VariableScope::Any),
                b"RESOURCE" => return self.set_unsupported("SET RESOURCE GROUP"),
                _ => {}
            }
            if let Some(scope) = scope_word(self.utf8(word)?) {
                self.bump();
                if self.at_word("TRANSACTION") && !matches!(self.peek(), Token::Equal | Token::Assign) {
                    return self.set_transaction(scope);
                }
                let name = self.dotted_name()?;
                return self.set_system(scope, name);
            }
        }
        if self.at_word("NAMES") {
            self.bump();
            return Err(self.error());
        }
        let name = self.dotted_name()?;
        self.set_system(VariableScope::Any, name)
    }

    fn set_unsupported(&mut self, what: &'static str) -> Result<SetItem<'a>> {
        while !matches!(self.token, Token::End | Token::Semicolon | Token::Bad) {
            self.bump();
        }
        Ok(SetItem::Unsupported(what))
    }

    /// `name` or `component.name`
    fn dotted_name(&mut self) -> Result<&'a str> {
        let start = self.start;
        let name = self.ident()?;
        if !self.accept(Token::Dot) {
            return Ok(name);
        }
        self.ident()?;
        self.utf8(&self.text[start..self.previous_end])
    }

    fn assign_sign(&mut self) -> Result<()> {
        if !self.accept(Token::Assign) {
            self.expect(Token::Equal)?;
        }
        Ok(())
    }

    fn set_system(&mut self, scope: VariableScope, name: &'a str) -> Result<SetItem<'a>> {
        self.assign_sign()?;
        let value = match self.token {
            Token::Keyword(K::Default) if self.peek() != Token::LeftParen => {
                self.bump();
                SetValue::Default
            }
            Token::Keyword(K::On | K::All | K::Binary | K::Row | K::System) => {
                let text = &self.text[self.start..self.lexer.position()];
                self.bump();
                SetValue::Expr(string(text))
            }
            _ => match self.expr()? {
                // A bare word is a string here.
                Expr::Column(ColumnName { database: None, table: None, name }) => SetValue::Expr(string(name.as_bytes())),
                expr => SetValue::Expr(expr),
            },
        };
        Ok(SetItem::System { scope, name, value })
    }

    fn charset_or_default(&mut self) -> Result<Option<&'a [u8]>> {
        if self.accept_kw(K::Default) {
            return Ok(None);
        }
        Ok(Some(self.charset_name()?.as_bytes()))
    }

    fn set_names(&mut self) -> Result<SetItem<'a>> {
        self.bump();
        let charset = self.charset_or_default()?;
        let collation = if self.accept_kw(K::Collate) { self.charset_or_default()? } else { None };
        Ok(SetItem::Names { charset, collation })
    }

    fn set_transaction(&mut self, scope: VariableScope) -> Result<SetItem<'a>> {
        self.bump();
        let mut isolation = None;
        let mut read_only = None;
        loop {
            if self.accept_word("ISOLATION") {
                self.expect_word("LEVEL")?;
                isolation = Some(self.isolation()?);
            } else {
                read_only = Some(self.access_mode()?);
            }
            if !self.accept(Token::Comma) {
                return Ok(SetItem::Transaction { scope, isolation, read_only });
            }
        }
    }

    fn isolation(&mut self) -> Result<Isolation> {
        if self.accept_kw(K::Read) {
            if self.accept_word("COMMITTED") {
                return Ok(Isolation::ReadCommitted);
            }
            self.expect_word("UNCOMMITTED")?;
            return Ok(Isolation::ReadUncommitted);
        }
        if self.accept_word("REPEATABLE") {
            self.expect_kw(K::Read)?;
            return Ok(Isolation::RepeatableRead);
        }
        self.expect_word("SERIALIZABLE")?;
        Ok(Isolation::Serializable)
    }

    /// DESCRIBE t, EXPLAIN SELECT ..., EXPLAIN FORMAT=TREE ..., EXPLAIN ANALYZE ...
    pub(super) fn explain(&mut self) -> Result<Statement<'a>> {
        self.bump();
        let mut format = ExplainFormat::Chosen;
        let analyze = self.accept_kw(K::Analyze);
        if analyze {
            format = ExplainFormat::Tree;
        }
        // Extended and partitions are MySQL 5's; both are always on.
        let _ = (self.at_word("EXTENDED") || self.at_word("PARTITIONS")) && matches!(self.peek(), Token::Keyword(_)) && {
            self.bump();
            true
        };
        let is_written = self.at_word("FORMAT") && self.peek() == Token::Equal;
        if is_written {
            self.bump();
            self.bump();
            let name = self.ident_or_string()?;
            format = match () {
                () if name.eq_ignore_ascii_case("tree") => ExplainFormat::Tree,
                () if name.eq_ignore_ascii_case("json") => ExplainFormat::Json,
                () if name.eq_ignore_ascii_case("traditional") => ExplainFormat::Traditional,
                () => return Err(Error::NotSupported(format!("EXPLAIN FORMAT={name}"))),
            };
        }
        let into = if self.accept_kw(K::Into) {
            let name = self.user_variable()?;
            match format {
                ExplainFormat::Json => Some(name),
                ExplainFormat::Chosen => return Err(Condition::ExplainIntoImplicitFormatNotSupported.into()),
                ExplainFormat::Tree if !is_written => return Err(Condition::ExplainIntoImplicitFormatNotSupported.into()),
                ExplainFormat::Tree => return Err(Condition::ExplainIntoFormatNotSupported { format: "TREE".into() }.into()),
                ExplainFormat::Traditional => {
                    return Err(Condition::ExplainIntoFormatNotSupported { format: "TRADITIONAL".into() }.into());
                }
            }
        } else {
            None
        };
        if self.accept_kw(K::For) {
            self.expect_word("CONNECTION")?;
            if into.is_some() {
                return Err(Condition::ExplainIntoForConnectionNotSupported.into());
            }
            return Ok(Statement::ExplainConnection { id: self.number()? });
        }
        if self.is_explainable() {
            let begin = self.start;
            let statement = self.statement()?;
            let text = &self.text[begin..self.previous_end];
            return Ok(Statement::Explain { format, analyze, statement: self.arena.node(statement), text, into });
        }
        if into.is_some() {
            return Err(self.error());
        }
        let table = self.object_name()?;
        let column = match self.token {
            Token::String { .. } | Token::Word(_) | Token::Quoted { .. } | Token::Underscore(_) => Some(self.ident_or_string()?),
            _ => None,
        };
        Ok(Statement::Describe { table, column })
    }

    pub(super) fn kill(&mut self) -> Result<Statement<'a>> {
        self.bump();
        let query = self.accept_word("QUERY");
        if !query {
            self.accept_word("CONNECTION");
        }
        Ok(Statement::Kill { query, id: self.expr()? })
    }

    /// RESET PERSIST; RESET REPLICA, MASTER, BINARY LOGS AND GTIDS.
    pub(super) fn reset(&mut self) -> Result<Statement<'a>> {
        self.bump();
        if !self.accept_word("PERSIST") {
            return self.reset_logs();
        }
        let if_exists = self.if_exists()?;
        let name = if self.at_ident() { Some(self.ident()?) } else { None };
        Ok(Statement::ResetPersist { name, if_exists })
    }

    fn reset_logs(&mut self) -> Result<Statement<'a>> {
        if self.at_word("REPLICA") || self.at_word("SLAVE") {
            return self.reset_replica();
        }
        let mut of_log = None;
        loop {
            let is_log = self.at_kw(K::Binary) || self.at_word("MASTER");
            if self.accept_kw(K::Binary) {
                self.expect_word("LOGS")?;
                self.expect_kw(K::And)?;
                self.expect_word("GTIDS")?;
            } else if !self.accept_word("MASTER") {
                return self.unsupported("RESET");
            }
            if is_log {
                let first = if self.accept_kw(K::To) { Some(self.number()?) } else { None };
                of_log = Some(BinaryLogChange::Reset(first));
            }
            if !self.accept(Token::Comma) {
                let change = of_log.expect("each turn sets it");
                return Ok(Statement::BinaryLog(self.arena.node(change)));
            }
        }
    }

    /// `PURGE {BINARY | MASTER} LOGS {TO 'name' | BEFORE moment}`
    pub(super) fn purge(&mut self) -> Result<Statement<'a>> {
        self.bump();
        if !self.accept_kw(K::Binary) {
            self.expect_word("MASTER")?;
        }
        self.expect_word("LOGS")?;
        let change = if self.accept_kw(K::To) {
            BinaryLogChange::PurgeTo(self.string()?)
        } else {
            if !self.accept_kw(K::Before) {
                return Err(self.error());
            }
            BinaryLogChange::PurgeBefore(self.expr()?)
        };
        Ok(Statement::BinaryLog(self.arena.node(change)))
    }

    pub(super) fn shutdown(&mut self) -> Result<Statement<'a>> {
        self.bump();
        Ok(Statement::Shutdown)
    }

    /// `ADVISE FOR statement`
    pub(super) fn advise_for(&mut self) -> Result<Statement<'a>> {
        self.bump();
        self.expect_kw(K::For)?;
        if !self.is_explainable() {
            return Err(self.error());
        }
        let begin = self.start;
        let statement = self.statement()?;
        let text = &self.text[begin..self.previous_end];
        Ok(Statement::Advice(Advice::For { statement: self.arena.node(statement), text }))
    }

    /// `MEASURE ADVICE 'id'`, `APPLY ADVICE 'id'`, `REVERT ADVICE 'id'`
    pub(super) fn advice(&mut self) -> Result<Statement<'a>> {
        let (measures, applies) = (self.at_word("MEASURE"), self.at_word("APPLY"));
        self.bump();
        self.expect_word("ADVICE")?;
        let id = self.string_chain()?;
        Ok(Statement::Advice(match () {
            () if measures => Advice::Measure(id),
            () if applies => Advice::Apply(id),
            () => Advice::Revert(id),
        }))
    }

    /// Does a statement begin that has a plan?
    fn is_explainable(&self) -> bool {
        matches!(
            self.token,
            Token::Keyword(K::Select | K::With | K::Values | K::Table | K::Insert | K::Replace | K::Update | K::Delete)
                | Token::LeftParen
        )
    }

    /// `BACKUP SERVER [SINCE epoch] [FOLLOW]`
    pub(super) fn backup_server(&mut self) -> Result<Statement<'a>> {
        self.bump();
        self.expect_word("SERVER")?;
        let since = if self.accept_word("SINCE") { Some(self.number()?) } else { None };
        let follow = self.accept_word("FOLLOW");
        Ok(Statement::BackupServer(BackupServer { since, follow }))
    }

    /// `CLONE LOCAL DATA DIRECTORY [=] 'path'`; a clone of another server is not there.
    pub(super) fn clone_local(&mut self) -> Result<Statement<'a>> {
        self.bump();
        if !self.accept_word("LOCAL") {
            return self.unsupported("CLONE INSTANCE");
        }
        self.expect_word("DATA")?;
        self.expect_word("DIRECTORY")?;
        self.accept(Token::Equal);
        Ok(Statement::CloneLocal { directory: self.string_chain()? })
    }

    pub(super) fn flush(&mut self) -> Result<Statement<'a>> {
        self.bump();
        let _ = self.accept_kw(K::NoWriteToBinlog) || self.accept_word("LOCAL");
        let mut tables: &[ObjectName<'a>] = &[];
        let (mut read_lock, mut export) = (false, false);
        let mut what: ArenaVec<'a, u8> = self.arena.list();
        loop {
            if self.at_kw(K::Table) || self.at_word("TABLES") {
                self.bump();
                what.extend_from_slice(b"TABLES");
                if self.at_ident() {
                    tables = self.list(|p| p.object_name())?;
                }
                if self.accept_kw(K::With) {
                    self.expect_kw(K::Read)?;
                    self.expect_kw(K::Lock)?;
                    read_lock = true;
                } else if self.accept_kw(K::For) {
                    self.expect_word("EXPORT")?;
                    export = true;
                }
            } else {
                self.flush_words(&mut what)?;
            }
            if !self.accept(Token::Comma) {
                break;
            }
            what.push(b',');
        }
        let what = self.utf8(what.into_bump_slice())?;
        Ok(Statement::Flush { what, tables, read_lock, export })
    }

    /// `PRIVILEGES`, `BINARY LOGS`, `OPTIMIZER_COSTS`, ...
    fn flush_words(&mut self, what: &mut ArenaVec<'a, u8>) -> Result<()> {
        let mut words = 0;
        while matches!(self.token, Token::Word(_) | Token::Keyword(_)) && words < 3 {
            if words > 0 {
                what.push(b' ');
            }
            what.extend(self.text[self.start..self.lexer.position()].iter().map(u8::to_ascii_uppercase));
            words += 1;
            self.bump();
        }
        if words == 0 { Err(self.error()) } else { Ok(()) }
    }

    /// ANALYZE, CHECK, CHECKSUM, OPTIMIZE, REPAIR TABLE
    pub(super) fn maintenance(&mut self) -> Result<Statement<'a>> {
        let kind = match self.token {
            Token::Keyword(K::Analyze) => Maintenance::Analyze,
            Token::Keyword(K::Optimize) => Maintenance::Optimize,
            Token::Keyword(K::Check) => Maintenance::Check,
            _ if self.at_word("CHECKSUM") => Maintenance::Checksum,
            _ => Maintenance::Repair,
        };
        self.bump();
        let _ = self.accept_kw(K::NoWriteToBinlog) || self.accept_word("LOCAL");
        if !self.accept_kw(K::Table) {
            self.expect_word("TABLES")?;
        }
        let tables = self.list(|p| p.object_name())?;
        let mut histogram = None;
        if kind == Maintenance::Analyze && (self.at_kw(K::Update) || self.at_kw(K::Drop)) {
            let update = self.at_kw(K::Update);
            self.bump();
            self.expect_word("HISTOGRAM")?;
            self.expect_kw(K::On)?;
            let columns = self.list(|p| p.ident())?;
            let mut buckets = None;
            if update && self.accept_kw(K::With) {
                if matches!(self.token, Token::Int(_)) {
                    buckets = Some(self.number()?);
                    self.expect_word("BUCKETS")?;
                } else if self.at_word("AUTO") {
                    return self.unsupported("UPDATE HISTOGRAM ... AUTO UPDATE");
                } else {
                    return Err(self.error());
                }
            }
            if self.at_kw(K::Using) {
                return self.unsupported("UPDATE HISTOGRAM ... USING DATA");
            }
            histogram = Some(Histogram { update, columns, buckets });
        }
        loop {
            if kind == Maintenance::Check && self.accept_kw(K::For) {
                self.expect_word("UPGRADE")?;
            } else if !self.accept_one_of(maintenance_words(kind)) {
                break;
            }
        }
        Ok(Statement::TableMaintenance { kind, tables, histogram, partitions: None })
    }

    pub(super) fn lock(&mut self) -> Result<Statement<'a>> {
        self.bump();
        if self.accept_word("INSTANCE") {
            self.expect_kw(K::For)?;
            self.expect_word("BACKUP")?;
            return Ok(Statement::LockInstance { lock: true });
        }
        if !self.accept_kw(K::Table) {
            self.expect_word("TABLES")?;
        }
        let tables = self.list(|p| {
            let name = p.object_name()?;
            let alias = p.table_alias()?;
            p.accept_kw(K::LowPriority);
            let write = p.accept_kw(K::Write);
            if !write {
                p.expect_kw(K::Read)?;
                p.accept_word("LOCAL");
            }
            Ok(LockTable { name, alias, write })
        })?;
        Ok(Statement::LockTables(tables))
    }

    pub(super) fn unlock(&mut self) -> Result<Statement<'a>> {
        self.bump();
        if self.accept_word("INSTANCE") {
            return Ok(Statement::LockInstance { lock: false });
        }
        if !self.accept_kw(K::Table) {
            self.expect_word("TABLES")?;
        }
        Ok(Statement::UnlockTables)
    }

    pub(super) fn prepare(&mut self) -> Result<Statement<'a>> {
        self.bump();
        let name = self.ident()?;
        self.expect_kw(K::From)?;
        let source = match self.token {
            Token::String { .. } => PrepareSource::Text(self.string_chain()?),
            _ => PrepareSource::Variable(self.user_variable()?),
        };
        Ok(Statement::Prepare { name, source })
    }

    pub(super) fn execute(&mut self) -> Result<Statement<'a>> {
        self.bump();
        let name = self.ident()?;
        let using: &[&str] = if self.accept_kw(K::Using) { self.list(|p| p.user_variable())? } else { &[] };
        Ok(Statement::Execute { name, using })
    }

    /// DEALLOCATE PREPARE, DROP PREPARE; the first word is taken already when it was DROP.
    pub(super) fn deallocate(&mut self) -> Result<Statement<'a>> {
        self.accept_word("DEALLOCATE");
        self.expect_word("PREPARE")?;
        Ok(Statement::Deallocate { name: self.ident()? })
    }

    pub(super) fn do_statement(&mut self) -> Result<Statement<'a>> {
        self.bump();
        Ok(Statement::Do(self.expr_list()?))
    }

    pub(super) fn help(&mut self) -> Result<Statement<'a>> {
        self.bump();
        Ok(Statement::Help(self.ident_or_string()?.as_bytes()))
    }
}

fn string(bytes: &[u8]) -> Expr<'_> {
    Expr::Literal(Literal::String(StringLiteral { bytes, charset: None }))
}

/// The words that may follow the tables.
pub(super) fn maintenance_words(kind: Maintenance) -> &'static [&'static str] {
    match kind {
        Maintenance::Check => &["QUICK", "FAST", "MEDIUM", "EXTENDED", "CHANGED"],
        Maintenance::Repair => &["QUICK", "EXTENDED", "USE_FRM"],
        Maintenance::Checksum => &["QUICK", "EXTENDED"],
        Maintenance::Analyze | Maintenance::Optimize => &[],
    }
}
