//! CREATE, DROP, RENAME, TRUNCATE.

use super::Parser;
use crate::arena::ArenaVec;
use crate::ast::*;
use crate::error::{DefinitionError, Error, Result};
use crate::keyword::Keyword as K;
use crate::lexer::Token;
use crate::routine::ProgramKind;

impl<'a> Parser<'a> {
    pub(super) fn create(&mut self) -> Result<Statement<'a>> {
        self.bump();
        match self.token {
            Token::Keyword(keyword) => match keyword {
                K::Database | K::Schema => self.create_database(),
                K::Table => self.create_table(false),
                K::Index => self.create_index(KeyKind::Index),
                K::Unique => {
                    self.bump();
                    self.create_index(KeyKind::Unique)
                }
                K::FullText => {
                    self.bump();
                    self.create_index(KeyKind::FullText)
                }
                K::Spatial => {
                    self.bump();
                    if self.at_word("REFERENCE") {
                        return self.unsupported("CREATE SPATIAL REFERENCE SYSTEM");
                    }
                    self.create_index(KeyKind::Spatial)
                }
                K::Procedure => self.create_routine(ProgramKind::Procedure, None),
                K::Function => self.create_routine(ProgramKind::Function, None),
                K::Trigger => self.create_trigger(None),
                K::Or | K::Sql => self.create_view(ViewForm::Create),
                _ => Err(self.error()),
            },
            Token::Word(_) if self.at_word("VECTOR") && self.peek_kw(K::Index) => {
                self.bump();
                self.create_index(KeyKind::Vector)
            }
            Token::Word(_) if self.at_word("USER") => self.create_user(),
            Token::Word(_) if self.at_word("ROLE") => self.create_role(),
            Token::Word(word) => {
                if word.eq_ignore_ascii_case(b"TEMPORARY") {
                    self.bump();
                    return self.create_table(true);
                }
                let kind = if word.eq_ignore_ascii_case(b"DEFINER") { self.definer_kind() } else { None };
                if kind.is_some() {
                    return self.create_with_definer();
                }
                let is_view = [&b"VIEW"[..], b"ALGORITHM", b"DEFINER"].iter().any(|view| word.eq_ignore_ascii_case(view));
                if is_view {
                    return self.create_view(ViewForm::Create);
                }
                if word.eq_ignore_ascii_case(b"EVENT") {
                    return self.create_event(None);
                }
                let what = match () {
                    () if word.eq_ignore_ascii_case(b"SERVER") => "CREATE SERVER",
                    () if word.eq_ignore_ascii_case(b"AGGREGATE") => "CREATE FUNCTION",
                    () if word.eq_ignore_ascii_case(b"TABLESPACE") => "CREATE TABLESPACE",
                    () if word.eq_ignore_ascii_case(b"UNDO") => "CREATE UNDO TABLESPACE",
                    () if word.eq_ignore_ascii_case(b"LOGFILE") => "CREATE LOGFILE GROUP",
                    () if word.eq_ignore_ascii_case(b"RESOURCE") => "CREATE RESOURCE GROUP",
                    () => return Err(self.error()),
                };
                self.unsupported(what)
            }
            _ => Err(self.error()),
        }
    }

    /// The kind of object that `CREATE DEFINER = user ...` creates, if it is not a view.
    pub(super) fn definer_kind(&self) -> Option<&'static str> {
        let mut lexer = self.lexer;
        for _ in 0..16 {
            match lexer.next().0 {
                Token::Keyword(K::Procedure) => return Some("CREATE PROCEDURE"),
                Token::Keyword(K::Function) => return Some("CREATE FUNCTION"),
                Token::Keyword(K::Trigger) => return Some("CREATE TRIGGER"),
                Token::Word(word) if word.eq_ignore_ascii_case(b"EVENT") => return Some("CREATE EVENT"),
                Token::Word(word) if word.eq_ignore_ascii_case(b"VIEW") => break,
                Token::End => break,
                _ => {}
            }
        }
        None
    }

    fn create_database(&mut self) -> Result<Statement<'a>> {
        self.bump();
        let if_not_exists = self.if_not_exists()?;
        let name = self.ident()?;
        Ok(Statement::CreateDatabase(CreateDatabase { name, if_not_exists, options: self.database_options()? }))
    }

    pub(super) fn database_options(&mut self) -> Result<DatabaseOptions<'a>> {
        let mut options = DatabaseOptions::default();
        loop {
            self.accept_kw(K::Default);
            if self.at_charset() {
                self.charset_keyword()?;
                self.accept(Token::Equal);
                options.charset = Some(self.charset_name()?);
            } else if self.accept_kw(K::Collate) {
                self.accept(Token::Equal);
                options.collation = Some(self.charset_name()?);
            } else if self.accept_word("ENCRYPTION") {
                self.accept(Token::Equal);
                options.encryption = Some(self.string()?);
            } else if self.at_kw(K::Read) {
                return Err(Error::NotSupported("ALTER DATABASE ... READ ONLY".to_owned()));
            } else {
                return Ok(options);
            }
        }
    }

    fn create_table(&mut self, temporary: bool) -> Result<Statement<'a>> {
        self.expect_kw(K::Table)?;
        let if_not_exists = self.if_not_exists()?;
        let name = self.object_name()?;
        let mut create = CreateTable {
            name,
            temporary,
            if_not_exists,
            like: None,
            duplicates: Duplicates::Refuse,
            columns: &[],
            keys: &[],
            checks: &[],
            foreign_keys: &[],
            options: TableOptions::default(),
            partitioning: None,
            query: None,
        };
        if self.accept_kw(K::Like) {
            create.like = Some(self.object_name()?);
        } else if self.at(Token::LeftParen) && self.peek_kw(K::Like) {
            self.bump();
            self.bump();
            create.like = Some(self.object_name()?);
            self.expect(Token::RightParen)?;
        } else {
            if self.at(Token::LeftParen) && !self.at_query_in_parens() {
                self.table_elements(&mut create)?;
            }
            self.table_options(&mut create.options)?;
            if self.at_kw(K::Partition) {
                create.partitioning = Some(self.partition_clause()?);
            }
            create.duplicates = match () {
                () if self.accept_kw(K::Ignore) => Duplicates::Ignore,
                () if self.accept_kw(K::Replace) => Duplicates::Replace,
                () => Duplicates::Refuse,
            };
            self.accept_kw(K::As);
            if matches!(self.token, Token::Keyword(K::Select | K::With | K::Values | K::Table) | Token::LeftParen) {
                create.query = Some(self.query()?);
            }
        }
        Ok(Statement::CreateTable(self.arena.node(create)))
    }

    fn table_elements(&mut self, create: &mut CreateTable<'a>) -> Result<()> {
        self.bump();
        let mut columns: ArenaVec<'a, ColumnDefinition<'a>> = self.arena.list();
        let mut keys: ArenaVec<'a, KeyDefinition<'a>> = self.arena.list();
        let mut checks: ArenaVec<'a, CheckDefinition<'a>> = self.arena.list();
        let mut foreign_keys: ArenaVec<'a, ForeignKey<'a>> = self.arena.list();
        loop {
            match self.table_element()? {
                TableElement::Column(column) => {
                    checks.extend(column.checks.iter().copied());
                    columns.push(column);
                }
                TableElement::Key(key) => keys.push(key),
                TableElement::Check(check) => checks.push(check),
                TableElement::ForeignKey(key) => foreign_keys.push(ForeignKey { keys_before: keys.len(), ..key }),
            }
            if columns.len() > super::COLUMNS_MAX {
                return Err(Error::TooManyColumns);
            }
            if !self.accept(Token::Comma) {
                break;
            }
        }
        self.expect(Token::RightParen)?;
        create.columns = columns.into_bump_slice();
        create.keys = keys.into_bump_slice();
        create.checks = checks.into_bump_slice();
        create.foreign_keys = foreign_keys.into_bump_slice();
        Ok(())
    }

    pub(super) fn table_element(&mut self) -> Result<TableElement<'a>> {
        if let Some(element) = self.key_element()? {
            return Ok(element);
        }
        Ok(TableElement::Column(self.column_definition()?))
    }

    /// A key, check or constraint; `None` when a column begins here.
    pub(super) fn key_element(&mut self) -> Result<Option<TableElement<'a>>> {
        let mut name = None;
        if self.accept_kw(K::Constraint) {
            let unnamed = matches!(self.token, Token::Keyword(_));
            name = if unnamed { None } else { Some(self.ident()?) };
        }
        let kind = match self.token {
            Token::Keyword(K::Primary) => {
                self.bump();
                self.expect_kw(K::Key)?;
                KeyKind::Primary
            }
            Token::Keyword(K::Unique) => {
                self.bump();
                let _ = self.accept_kw(K::Key) || self.accept_kw(K::Index);
                KeyKind::Unique
            }
            Token::Keyword(K::Key | K::Index) => {
                self.bump();
                KeyKind::Index
            }
            Token::Keyword(kind @ (K::FullText | K::Spatial)) => {
                self.bump();
                let _ = self.accept_kw(K::Key) || self.accept_kw(K::Index);
                if kind == K::FullText { KeyKind::FullText } else { KeyKind::Spatial }
            }
            Token::Word(_) if self.at_word("VECTOR") && (self.peek_kw(K::Index) || self.peek_kw(K::Key)) => {
                self.bump();
                self.bump();
                KeyKind::Vector
            }
            Token::Keyword(K::Foreign) => {
                self.bump();
                self.expect_kw(K::Key)?;
                let index_name = if self.at_ident() { Some(self.ident()?) } else { None };
                let columns = self.paren_list(|p| p.ident())?;
                let references = self.reference()?;
                let key = ForeignKey { name, index_name, keys_before: 0, columns, references };
                return Ok(Some(TableElement::ForeignKey(key)));
            }
            Token::Keyword(K::Check) => {
                let mut check = self.check()?;
                check.name = name;
                return Ok(Some(TableElement::Check(check)));
            }
            _ if name.is_some() => return Err(self.error()),
            _ => return Ok(None),
        };
        Ok(Some(TableElement::Key(self.key_definition(kind, name)?)))
    }

    /// `[name] [USING BTREE] (parts) [options]`
    fn key_definition(&mut self, kind: KeyKind, constraint: Option<&'a str>) -> Result<KeyDefinition<'a>> {
        let mut key = KeyDefinition {
            kind,
            name: constraint,
            parts: &[],
            comment: None,
            invisible: false,
            using_btree: false,
            parser: None,
            distance: None,
        };
        if self.at_ident() {
            let name = self.ident()?;
            key.name = Some(name);
        }
        self.key_options(&mut key)?;
        key.parts = self.paren_list(|p| p.key_part())?;
        self.key_options(&mut key)?;
        Ok(key)
    }

    fn key_part(&mut self) -> Result<KeyPart<'a>> {
        if self.accept(Token::LeftParen) {
            let expr = self.expr_ref()?;
            self.expect(Token::RightParen)?;
            let ordered = self.at_kw(K::Asc) || self.at_kw(K::Desc);
            return Ok(KeyPart::Expr { expr, descending: self.direction(), ordered });
        }
        let name = self.ident()?;
        let prefix =
            if self.at(Token::LeftParen) { Some(u32::try_from(self.number_in_parens()?).unwrap_or(u32::MAX)) } else { None };
        Ok(KeyPart::Column { name, prefix, descending: self.direction() })
    }

    fn direction(&mut self) -> bool {
        let descending = self.accept_kw(K::Desc);
        if !descending {
            self.accept_kw(K::Asc);
        }
        descending
    }

    fn key_options(&mut self, key: &mut KeyDefinition<'a>) -> Result<()> {
        loop {
            let is_ordered = !matches!(key.kind, KeyKind::FullText | KeyKind::Spatial | KeyKind::Vector);
            if is_ordered && (self.accept_kw(K::Using) || self.accept_word("TYPE")) {
                // HASH is a B-tree as well, but not shown.
                key.using_btree = self.ident()?.eq_ignore_ascii_case("BTREE");
            } else if self.accept_word("COMMENT") {
                key.comment = Some(self.string()?);
            } else if self.accept_word("KEY_BLOCK_SIZE") {
                self.accept(Token::Equal);
                self.number()?;
            } else if self.accept_word("INVISIBLE") {
                key.invisible = true;
            } else if self.accept_word("VISIBLE") {
                key.invisible = false;
            } else if key.kind == KeyKind::FullText && self.accept_kw(K::With) {
                self.expect_word("PARSER")?;
                key.parser = Some(self.ident()?);
            } else if key.kind == KeyKind::Vector && self.accept_word("M") {
                // The neighbours of a graph's node, which this index has not.
                self.accept(Token::Equal);
                self.number()?;
            } else if key.kind == KeyKind::Vector && self.accept_word("DISTANCE") {
                self.accept(Token::Equal);
                key.distance = Some(self.ident()?);
            } else if self.accept_word("ENGINE_ATTRIBUTE") || self.accept_word("SECONDARY_ENGINE_ATTRIBUTE") {
                self.accept(Token::Equal);
                self.string()?;
            } else {
                return Ok(());
            }
        }
    }

    /// `CHECK (expr) [[NOT] ENFORCED]`
    fn check(&mut self) -> Result<CheckDefinition<'a>> {
        self.expect_kw(K::Check)?;
        self.expect(Token::LeftParen)?;
        let start = self.start;
        let expr = self.expr()?;
        let text = self.utf8(&self.text[start..self.previous_end])?;
        self.expect(Token::RightParen)?;
        let mut enforced = true;
        if self.at_kw(K::Not) && self.peek_word("ENFORCED") {
            self.bump();
            self.bump();
            enforced = false;
        } else {
            self.accept_word("ENFORCED");
        }
        Ok(CheckDefinition { name: None, column: None, expr, text, enforced })
    }

    /// `REFERENCES t (a, b) [MATCH ...] [ON DELETE ...] [ON UPDATE ...]`
    fn reference(&mut self) -> Result<Reference<'a>> {
        self.expect_kw(K::References)?;
        let table = self.object_name()?;
        let columns: &[&str] = if self.at(Token::LeftParen) { self.paren_list(|p| p.ident())? } else { &[] };
        let mut reference = Reference { table, columns, on_delete: None, on_update: None };
        if self.accept_kw(K::Match) {
            self.ident()?;
        }
        while self.at_kw(K::On) && (self.peek_kw(K::Delete) || self.peek_kw(K::Update)) {
            self.bump();
            let delete = self.at_kw(K::Delete);
            self.bump();
            let action = if self.accept_kw(K::Restrict) {
                ReferenceAction::Restrict
            } else if self.accept_kw(K::Cascade) {
                ReferenceAction::Cascade
            } else if self.accept_word("NO") {
                self.expect_word("ACTION")?;
                ReferenceAction::NoAction
            } else {
                self.expect_kw(K::Set)?;
                if self.accept_kw(K::Default) {
                    ReferenceAction::SetDefault
                } else {
                    self.expect_kw(K::Null)?;
                    ReferenceAction::SetNull
                }
            };
            *(if delete { &mut reference.on_delete } else { &mut reference.on_update }) = Some(action);
        }
        Ok(reference)
    }

    pub(super) fn column_definition(&mut self) -> Result<ColumnDefinition<'a>> {
        let name = self.ident()?;
        self.column_definition_named(name)
    }

    fn column_definition_named(&mut self, name: &'a str) -> Result<ColumnDefinition<'a>> {
        let serial = self.at_word("SERIAL");
        let data_type = self.data_type(name)?;
        let mut column = ColumnDefinition {
            name,
            data_type,
            nullable: if serial { Some(false) } else { None },
            default: DefaultClause::None,
            on_update_now: None,
            auto_increment: serial,
            primary_key: false,
            unique: serial,
            comment: None,
            invisible: false,
            generated: None,
            stored: false,
            checks: &[],
            references: None,
        };
        while self.column_attribute(&mut column)? {}
        Ok(column)
    }

    /// Takes one attribute; false when there is none.
    fn column_attribute(&mut self, column: &mut ColumnDefinition<'a>) -> Result<bool> {
        match self.token {
            Token::Keyword(keyword) => match keyword {
                K::Null => {
                    self.bump();
                    column.nullable = Some(true);
                }
                K::Not => {
                    self.bump();
                    self.expect_kw(K::Null)?;
                    column.nullable = Some(false);
                }
                K::Default => {
                    self.bump();
                    column.default = self.default_clause()?;
                }
                K::On => {
                    self.bump();
                    self.expect_kw(K::Update)?;
                    column.on_update_now = Some(self.now_precision()?);
                }
                K::Unique => {
                    self.bump();
                    self.accept_kw(K::Key);
                    column.unique = true;
                }
                K::Primary => {
                    self.bump();
                    self.expect_kw(K::Key)?;
                    column.primary_key = true;
                }
                K::Key => {
                    self.bump();
                    column.primary_key = true;
                }
                K::Collate => {
                    self.bump();
                    column.data_type.collation = Some(self.charset_name()?);
                }
                K::Constraint => {
                    self.bump();
                    let name = if self.at_kw(K::Check) { None } else { Some(self.ident()?) };
                    self.column_check(column, name)?;
                }
                K::Check => {
                    self.column_check(column, None)?;
                }
                K::References => {
                    let reference = self.reference()?;
                    column.references = Some(self.arena.node(reference));
                }
                K::Generated => {
                    self.bump();
                    self.expect_word("ALWAYS")?;
                    self.generated(column)?;
                }
                K::As => self.generated(column)?,
                _ => return Ok(false),
            },
            Token::Word(_) => {
                if self.accept_word("AUTO_INCREMENT") {
                    column.auto_increment = true;
                } else if self.accept_word("COMMENT") {
                    column.comment = Some(self.string_chain()?);
                } else if self.accept_word("INVISIBLE") {
                    column.invisible = true;
                } else if self.accept_word("VISIBLE") {
                    column.invisible = false;
                } else if self.accept_word("SERIAL") {
                    self.expect_kw(K::Default)?;
                    self.expect_word("VALUE")?;
                    column.nullable = Some(false);
                    column.auto_increment = true;
                    column.unique = true;
                } else if self.accept_word("COLUMN_FORMAT") || self.accept_word("STORAGE") {
                    self.bump();
                } else if self.accept_word("SRID") {
                    let srid = self.number()?;
                    column.data_type.srid =
                        Some(u32::try_from(srid).map_err(|_| Error::OutOfRange { kind: "SRID", expression: "SRID".to_owned() })?);
                    if !matches!(column.data_type.name, TypeName::Geometry(_)) {
                        return Err(Error::WrongUsage("SRID", "non-geometry column"));
                    }
                } else if self.accept_word("ENGINE_ATTRIBUTE") || self.accept_word("SECONDARY_ENGINE_ATTRIBUTE") {
                    self.accept(Token::Equal);
                    self.string()?;
                } else {
                    return Ok(false);
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn column_check(&mut self, column: &mut ColumnDefinition<'a>, name: Option<&'a str>) -> Result<()> {
        let check = CheckDefinition { name, column: Some(column.name), ..self.check()? };
        let mut checks: ArenaVec<'a, CheckDefinition<'a>> = self.arena.list();
        checks.extend(column.checks.iter().copied());
        checks.push(check);
        column.checks = checks.into_bump_slice();
        Ok(())
    }

    fn generated(&mut self, column: &mut ColumnDefinition<'a>) -> Result<()> {
        self.expect_kw(K::As)?;
        self.expect(Token::LeftParen)?;
        column.generated = Some(self.expr_ref()?);
        self.expect(Token::RightParen)?;
        column.stored = self.accept_kw(K::Stored) || self.accept_word("PERSISTENT");
        if !column.stored {
            self.accept_kw(K::Virtual);
        }
        Ok(())
    }

    pub(super) fn default_clause(&mut self) -> Result<DefaultClause<'a>> {
        if self.at_now() {
            return Ok(DefaultClause::Now(self.now_precision()?));
        }
        if self.accept(Token::LeftParen) {
            let expr = self.expr_ref()?;
            self.expect(Token::RightParen)?;
            return Ok(DefaultClause::Expression(expr));
        }
        // Only a literal with an optional sign is allowed here. A COLLATE after it belongs to the column.
        let is_signed = self.at(Token::Minus) || self.at(Token::Plus);
        let expr = if is_signed { self.simple_expr()? } else { self.primary()? };
        match expr {
            Expr::Literal(_) | Expr::Unary { op: UnaryOp::Negate | UnaryOp::Plus, arg: Expr::Literal(_) } => {
                Ok(DefaultClause::Literal(expr))
            }
            _ => Err(self.error()),
        }
    }

    fn at_now(&self) -> bool {
        matches!(self.token, Token::Keyword(K::CurrentTimestamp | K::LocalTime | K::LocalTimestamp))
            || (self.at_word("NOW") && self.peek() == Token::LeftParen)
    }

    /// CURRENT_TIMESTAMP, NOW(3) and the like: the precision.
    fn now_precision(&mut self) -> Result<u8> {
        if !self.at_now() {
            return Err(self.error());
        }
        self.bump();
        if !self.accept(Token::LeftParen) {
            return Ok(0);
        }
        let fsp = if self.at(Token::RightParen) { 0 } else { self.number()? };
        self.expect(Token::RightParen)?;
        if fsp > 6 {
            return Err(crate::error::DefinitionError::TooBigPrecision {
                column: "CURRENT_TIMESTAMP".to_owned(),
                precision: u32::try_from(fsp).unwrap_or(u32::MAX),
                max: 6,
            }
            .into());
        }
        Ok(fsp as u8)
    }

    /// Table options, optionally separated by commas.
    fn table_options(&mut self, options: &mut TableOptions<'a>) -> Result<()> {
        while self.table_option(options)? {
            self.accept(Token::Comma);
        }
        Ok(())
    }

    pub(super) fn table_option(&mut self, options: &mut TableOptions<'a>) -> Result<bool> {
        if self.at_kw(K::Default) {
            self.bump();
            if !self.at_charset() && !self.at_kw(K::Collate) {
                return Err(self.error());
            }
        }
        if self.at_charset() {
            self.charset_keyword()?;
            self.accept(Token::Equal);
            options.charset = Some(self.charset_name()?);
        } else if self.accept_kw(K::Collate) {
            self.accept(Token::Equal);
            options.collation = Some(self.charset_name()?);
        } else if self.accept_word("ENGINE") {
            self.accept(Token::Equal);
            options.engine = Some(self.ident_or_string()?);
        } else if self.accept_word("AUTO_INCREMENT") {
            self.accept(Token::Equal);
            options.auto_increment = Some(self.whole_number()?);
        } else if self.accept_word("COMMENT") {
            self.accept(Token::Equal);
            options.comment = Some(self.string_chain()?);
        } else if self.accept_word("ROW_FORMAT") {
            self.accept(Token::Equal);
            options.row_format = Some(if self.accept_kw(K::Default) { "DEFAULT" } else { self.ident()? });
        } else if self.accept_word("ENCRYPTION") {
            self.accept(Token::Equal);
            options.encryption = Some(self.string()?);
        } else {
            return self.ignored_table_option();
        }
        Ok(true)
    }

    /// The whole part of an unsigned number; one that is too large is the largest.
    fn whole_number(&mut self) -> Result<u64> {
        let (Token::Int(digits) | Token::Decimal(digits) | Token::Double(digits)) = self.token else { return Err(self.error()) };
        self.bump();
        let end = digits.iter().position(|digit| !digit.is_ascii_digit()).unwrap_or(digits.len());
        Ok(super::parse_int(&digits[..end]).unwrap_or(u64::MAX))
    }

    /// Options that other engines use: taken and forgotten.
    fn ignored_table_option(&mut self) -> Result<bool> {
        const WITH_VALUE: [&str; 19] = [
            "AVG_ROW_LENGTH",
            "CHECKSUM",
            "COMPRESSION",
            "CONNECTION",
            "DELAY_KEY_WRITE",
            "INSERT_METHOD",
            "KEY_BLOCK_SIZE",
            "MAX_ROWS",
            "MIN_ROWS",
            "PACK_KEYS",
            "PASSWORD",
            "STATS_AUTO_RECALC",
            "STATS_PERSISTENT",
            "STATS_SAMPLE_PAGES",
            "TABLE_CHECKSUM",
            "ENGINE_ATTRIBUTE",
            "SECONDARY_ENGINE_ATTRIBUTE",
            "SECONDARY_ENGINE",
            "AUTOEXTEND_SIZE",
        ];
        if WITH_VALUE.iter().any(|word| self.at_word(word)) {
            self.bump();
            self.accept(Token::Equal);
            self.bump();
            return Ok(true);
        }
        if self.accept_word("STORAGE") {
            if !self.accept_word("DISK") {
                self.expect_word("MEMORY")?;
            }
            return Ok(true);
        }
        if self.at_word("DATA") || self.at_kw(K::Index) {
            self.bump();
            self.expect_word("DIRECTORY")?;
            self.accept(Token::Equal);
            self.string()?;
            return Ok(true);
        }
        if self.accept_word("TABLESPACE") {
            self.accept(Token::Equal);
            self.ident()?;
            return Ok(true);
        }
        if self.at_kw(K::Union) && matches!(self.peek(), Token::Equal | Token::LeftParen) {
            self.bump();
            self.accept(Token::Equal);
            self.paren_list(|p| p.object_name())?;
            return Ok(true);
        }
        Ok(false)
    }

    fn create_index(&mut self, kind: KeyKind) -> Result<Statement<'a>> {
        self.expect_kw(K::Index)?;
        let name = self.ident()?;
        let mut key = KeyDefinition {
            kind,
            name: Some(name),
            parts: &[],
            comment: None,
            invisible: false,
            using_btree: false,
            parser: None,
            distance: None,
        };
        self.key_options(&mut key)?;
        self.expect_kw(K::On)?;
        let table = self.object_name()?;
        key.parts = self.paren_list(|p| p.key_part())?;
        self.key_options(&mut key)?;
        let mut how = AlterHow::default();
        while self.algorithm_or_lock(&mut how)? {}
        Ok(Statement::CreateIndex(self.arena.node(CreateIndex { table, key, how })))
    }

    /// ALGORITHM = x, LOCK = y
    pub(super) fn algorithm_or_lock(&mut self, how: &mut AlterHow) -> Result<bool> {
        let is_algorithm = self.accept_word("ALGORITHM");
        if !is_algorithm && !self.accept_kw(K::Lock) {
            return Ok(false);
        }
        self.accept(Token::Equal);
        let word = if self.accept_kw(K::Default) { "DEFAULT" } else { self.ident()? };
        let upper = word.to_ascii_uppercase();
        if is_algorithm {
            how.algorithm = match upper.as_str() {
                "DEFAULT" => AlterAlgorithm::Default,
                "INSTANT" => AlterAlgorithm::Instant,
                "INPLACE" => AlterAlgorithm::InPlace,
                "COPY" => AlterAlgorithm::Copy,
                _ => return Err(DefinitionError::UnknownAlgorithm(word.to_owned()).into()),
            };
        } else {
            how.lock = match upper.as_str() {
                "DEFAULT" => AlterLock::Default,
                "NONE" => AlterLock::None,
                "SHARED" => AlterLock::Shared,
                "EXCLUSIVE" => AlterLock::Exclusive,
                _ => return Err(DefinitionError::UnknownLock(word.to_owned()).into()),
            };
        }
        Ok(true)
    }

    pub(super) fn drop_statement(&mut self) -> Result<Statement<'a>> {
        self.bump();
        match self.token {
            Token::Keyword(K::Database | K::Schema) => {
                self.bump();
                let if_exists = self.if_exists()?;
                Ok(Statement::DropDatabase { name: self.ident()?, if_exists })
            }
            Token::Keyword(K::Table) => self.drop_table(false),
            Token::Keyword(K::Index) => {
                self.bump();
                let name = self.key_name()?;
                self.expect_kw(K::On)?;
                let table = self.object_name()?;
                let mut how = AlterHow::default();
                while self.algorithm_or_lock(&mut how)? {}
                Ok(Statement::DropIndex { name, table, how })
            }
            Token::Keyword(K::Procedure) => self.drop_routine(false),
            Token::Keyword(K::Function) => self.drop_routine(true),
            Token::Keyword(K::Trigger) => self.drop_trigger(),
            Token::Keyword(K::Spatial) => self.unsupported("DROP SPATIAL REFERENCE SYSTEM"),
            Token::Word(_) if self.at_word("USER") => self.drop_user(),
            Token::Word(_) if self.at_word("ROLE") => self.drop_role(),
            Token::Word(word) => {
                if self.accept_word("TEMPORARY") {
                    return self.drop_table(true);
                }
                if self.at_word("TABLES") {
                    return self.drop_table(false);
                }
                if self.accept_word("VIEW") {
                    let if_exists = self.if_exists()?;
                    let names = self.list(|p| p.object_name())?;
                    let _ = self.accept_kw(K::Restrict) || self.accept_kw(K::Cascade);
                    return Ok(Statement::DropView { names, if_exists });
                }
                if self.at_word("PREPARE") {
                    return self.deallocate();
                }
                if self.at_word("EVENT") {
                    return self.drop_event();
                }
                let what = match () {
                    () if word.eq_ignore_ascii_case(b"SERVER") => "DROP SERVER",
                    () if word.eq_ignore_ascii_case(b"TABLESPACE") => "DROP TABLESPACE",
                    () if word.eq_ignore_ascii_case(b"UNDO") => "DROP UNDO TABLESPACE",
                    () if word.eq_ignore_ascii_case(b"LOGFILE") => "DROP LOGFILE GROUP",
                    () if word.eq_ignore_ascii_case(b"RESOURCE") => "DROP RESOURCE GROUP",
                    () => return Err(self.error()),
                };
                self.unsupported(what)
            }
            _ => Err(self.error()),
        }
    }

    fn drop_table(&mut self, temporary: bool) -> Result<Statement<'a>> {
        self.bump();
        let if_exists = self.if_exists()?;
        let names = self.list(|p| p.object_name())?;
        let _ = self.accept_kw(K::Restrict) || self.accept_kw(K::Cascade);
        Ok(Statement::DropTable { names, if_exists, temporary })
    }

    pub(super) fn truncate(&mut self) -> Result<Statement<'a>> {
        self.bump();
        self.accept_kw(K::Table);
        Ok(Statement::Truncate { table: self.object_name()? })
    }

    pub(super) fn rename(&mut self) -> Result<Statement<'a>> {
        self.bump();
        if self.at_word("USER") {
            return self.rename_user();
        }
        if !self.accept_kw(K::Table) {
            self.expect_word("TABLES")?;
        }
        let pairs = self.list(|p| {
            let old = p.object_name()?;
            p.expect_kw(K::To)?;
            Ok((old, p.object_name()?))
        })?;
        Ok(Statement::RenameTable { pairs })
    }
}

/// An entry of CREATE TABLE's list.
pub(super) enum TableElement<'a> {
    Column(ColumnDefinition<'a>),
    Key(KeyDefinition<'a>),
    Check(CheckDefinition<'a>),
    ForeignKey(ForeignKey<'a>),
}
