//! ALTER.

use super::Parser;
use super::ddl::TableElement;
use crate::arena::ArenaVec;
use crate::ast::*;
use crate::error::Result;
use crate::keyword::Keyword as K;
use crate::lexer::Token;

impl<'a> Parser<'a> {
    pub(super) fn alter(&mut self) -> Result<Statement<'a>> {
        self.bump();
        match self.token {
            Token::Keyword(K::Table) => self.alter_table(),
            Token::Keyword(K::Database | K::Schema) => {
                self.bump();
                let name =
                    if self.at_ident() && !self.at_charset() && !self.at_word("ENCRYPTION") { Some(self.ident()?) } else { None };
                Ok(Statement::AlterDatabase { name, options: self.database_options()? })
            }
            Token::Keyword(K::Procedure) => self.alter_routine(false),
            Token::Keyword(K::Function) => self.alter_routine(true),
            Token::Keyword(K::Sql) => self.create_view(ViewForm::Alter),
            Token::Word(_) if self.at_word("USER") => self.alter_user(),
            Token::Word(word) => {
                let is_view = [&b"VIEW"[..], b"ALGORITHM"].iter().any(|view| word.eq_ignore_ascii_case(view));
                if is_view || word.eq_ignore_ascii_case(b"DEFINER") && self.definer_kind().is_none() {
                    return self.create_view(ViewForm::Alter);
                }
                if word.eq_ignore_ascii_case(b"DEFINER") || word.eq_ignore_ascii_case(b"EVENT") {
                    let definer = self.definer()?;
                    return if self.at_word("EVENT") { self.alter_event(definer) } else { Err(self.error()) };
                }
                let what = match () {
                    () if word.eq_ignore_ascii_case(b"INSTANCE") => "ALTER INSTANCE",
                    () if word.eq_ignore_ascii_case(b"SERVER") => "ALTER SERVER",
                    () if word.eq_ignore_ascii_case(b"TABLESPACE") => "ALTER TABLESPACE",
                    () if word.eq_ignore_ascii_case(b"UNDO") => "ALTER UNDO TABLESPACE",
                    () if word.eq_ignore_ascii_case(b"LOGFILE") => "ALTER LOGFILE GROUP",
                    () if word.eq_ignore_ascii_case(b"RESOURCE") => "ALTER RESOURCE GROUP",
                    () => return Err(self.error()),
                };
                self.unsupported(what)
            }
            _ => Err(self.error()),
        }
    }

    fn alter_table(&mut self) -> Result<Statement<'a>> {
        self.bump();
        let table = self.object_name()?;
        if let Some(maintenance) = self.partition_maintenance(table)? {
            return Ok(maintenance);
        }
        let mut options = TableOptions::default();
        let mut how = AlterHow::default();
        let mut actions: ArenaVec<'a, AlterAction<'a>> = self.arena.list();
        if !matches!(self.token, Token::End | Token::Semicolon) {
            let at_partitioning = |p: &Self| p.at_kw(K::Partition) || p.at_word("REMOVE");
            while !(at_partitioning(self) && actions.is_empty()) {
                if at_partitioning(self) {
                    return Err(self.error());
                }
                if !self.algorithm_or_lock(&mut how)? {
                    self.alter_actions(&mut actions, &mut options)?;
                }
                if !self.accept(Token::Comma) {
                    break;
                }
            }
        }
        if self.at_kw(K::Partition) {
            actions.push(AlterAction::Partition(PartitionAction::By(self.partition_clause()?)));
        } else if self.at_word("REMOVE") {
            self.bump();
            self.expect_word("PARTITIONING")?;
            actions.push(AlterAction::Partition(PartitionAction::Remove));
        }
        let actions = actions.into_bump_slice();
        Ok(Statement::AlterTable(self.arena.node(AlterTable { table, actions, options, how })))
    }

    /// One entry of ALTER TABLE's list; ADD (a INT, b INT) gives several actions.
    fn alter_actions(&mut self, out: &mut ArenaVec<'a, AlterAction<'a>>, options: &mut TableOptions<'a>) -> Result<()> {
        let action = match self.token {
            Token::Keyword(K::Add) => return self.alter_add(out),
            Token::Keyword(K::Drop) => self.alter_drop()?,
            Token::Keyword(K::Change) => {
                self.bump();
                self.accept_kw(K::Column);
                let old = self.ident()?;
                let column = self.column_definition()?;
                let position = self.column_position()?;
                AlterAction::ChangeColumn { old, column: self.arena.node(column), position }
            }
            Token::Keyword(K::Alter) => self.alter_alter()?,
            Token::Keyword(K::Rename) => self.alter_rename()?,
            Token::Keyword(K::Convert) => {
                self.bump();
                self.expect_kw(K::To)?;
                self.charset_keyword()?;
                let charset = if self.accept_kw(K::Default) { None } else { Some(self.charset_name()?) };
                let collation = if self.accept_kw(K::Collate) { Some(self.charset_name()?) } else { None };
                AlterAction::ConvertCharset { charset, collation }
            }
            Token::Keyword(K::Order) => {
                self.order_by()?;
                AlterAction::Nothing
            }
            Token::Keyword(K::Force) => {
                self.bump();
                AlterAction::Rebuild
            }
            Token::Keyword(K::With) => {
                self.bump();
                self.expect_word("VALIDATION")?;
                AlterAction::Nothing
            }
            Token::Word(_) | Token::Keyword(_) => match self.partition_action()? {
                Some(action) => action,
                None => return self.alter_word(out, options),
            },
            _ => return Err(self.error()),
        };
        out.push(action);
        Ok(())
    }

    fn alter_word(&mut self, out: &mut ArenaVec<'a, AlterAction<'a>>, options: &mut TableOptions<'a>) -> Result<()> {
        if self.accept_word("MODIFY") {
            self.accept_kw(K::Column);
            let column = self.column_definition()?;
            let position = self.column_position()?;
            out.push(AlterAction::ModifyColumn { column: self.arena.node(column), position });
            return Ok(());
        }
        let enable = self.at_word("ENABLE");
        if enable || self.at_word("DISABLE") {
            self.bump();
            self.expect_kw(K::Keys)?;
            out.push(AlterAction::Keys { enable });
            return Ok(());
        }
        if self.accept_word("WITHOUT") {
            self.expect_word("VALIDATION")?;
            out.push(AlterAction::Nothing);
            return Ok(());
        }
        if (self.at_word("IMPORT") || self.at_word("DISCARD")) && self.peek_word("TABLESPACE") {
            self.bump();
            self.bump();
            out.push(AlterAction::Unsupported("ALTER TABLE ... TABLESPACE"));
            return Ok(());
        }
        let mut any = false;
        while self.table_option(options)? {
            any = true;
        }
        if !any {
            return Err(self.error());
        }
        Ok(())
    }

    fn alter_add(&mut self, out: &mut ArenaVec<'a, AlterAction<'a>>) -> Result<()> {
        self.bump();
        if self.at_kw(K::Partition) {
            let action = self.add_partitions()?;
            out.push(action);
            return Ok(());
        }
        if let Some(element) = self.key_element()? {
            out.push(self.add_element(element));
            return Ok(());
        }
        self.accept_kw(K::Column);
        if self.accept(Token::LeftParen) {
            loop {
                let element = self.table_element()?;
                out.push(self.add_element(element));
                if !self.accept(Token::Comma) {
                    break;
                }
            }
            return self.expect(Token::RightParen);
        }
        let column = self.column_definition()?;
        let position = self.column_position()?;
        out.push(AlterAction::AddColumn { column: self.arena.node(column), position });
        Ok(())
    }

    fn add_element(&self, element: TableElement<'a>) -> AlterAction<'a> {
        match element {
            TableElement::Key(key) => AlterAction::AddKey(self.arena.node(key)),
            TableElement::Check(check) => AlterAction::AddCheck(self.arena.node(check)),
            TableElement::ForeignKey(key) => AlterAction::AddForeignKey(self.arena.node(key)),
            TableElement::Column(column) => {
                AlterAction::AddColumn { column: self.arena.node(column), position: ColumnPosition::Last }
            }
        }
    }

    fn column_position(&mut self) -> Result<ColumnPosition<'a>> {
        if self.accept_word("FIRST") {
            return Ok(ColumnPosition::First);
        }
        if self.accept_word("AFTER") {
            return Ok(ColumnPosition::After(self.ident()?));
        }
        Ok(ColumnPosition::Last)
    }

    fn alter_drop(&mut self) -> Result<AlterAction<'a>> {
        self.bump();
        match self.token {
            Token::Keyword(K::Primary) => {
                self.bump();
                self.expect_kw(K::Key)?;
                Ok(AlterAction::DropPrimaryKey)
            }
            Token::Keyword(K::Key | K::Index) => {
                self.bump();
                Ok(AlterAction::DropKey(self.key_name()?))
            }
            Token::Keyword(K::Foreign) => {
                self.bump();
                self.expect_kw(K::Key)?;
                Ok(AlterAction::DropForeignKey(self.ident()?))
            }
            Token::Keyword(K::Constraint) => {
                self.bump();
                Ok(AlterAction::DropConstraint(self.key_name()?))
            }
            Token::Keyword(K::Check) => {
                self.bump();
                Ok(AlterAction::DropCheck(self.key_name()?))
            }
            Token::Keyword(K::Partition) => self.drop_partitions(),
            _ => {
                self.accept_kw(K::Column);
                let name = self.ident()?;
                let _ = self.accept_kw(K::Restrict) || self.accept_kw(K::Cascade);
                Ok(AlterAction::DropColumn(name))
            }
        }
    }

    fn alter_alter(&mut self) -> Result<AlterAction<'a>> {
        self.bump();
        if self.accept_kw(K::Index) {
            let name = self.key_name()?;
            let visible = self.accept_word("VISIBLE");
            if !visible {
                self.expect_word("INVISIBLE")?;
            }
            return Ok(AlterAction::AlterKey { name, visible });
        }
        if self.at_kw(K::Check) || self.at_kw(K::Constraint) {
            let constraint = self.at_kw(K::Constraint);
            self.bump();
            let name = self.ident()?;
            let enforced = !self.accept_kw(K::Not);
            self.expect_word("ENFORCED")?;
            return Ok(AlterAction::AlterCheck { name, enforced, constraint });
        }
        self.accept_kw(K::Column);
        let column = self.ident()?;
        if self.accept_kw(K::Drop) {
            self.expect_kw(K::Default)?;
            return Ok(AlterAction::SetDefault { column, default: None });
        }
        self.expect_kw(K::Set)?;
        if self.accept_word("VISIBLE") {
            return Ok(AlterAction::SetVisible { column, visible: true });
        }
        if self.accept_word("INVISIBLE") {
            return Ok(AlterAction::SetVisible { column, visible: false });
        }
        self.expect_kw(K::Default)?;
        Ok(AlterAction::SetDefault { column, default: Some(self.default_clause()?) })
    }

    fn alter_rename(&mut self) -> Result<AlterAction<'a>> {
        self.bump();
        match self.token {
            Token::Keyword(K::Column) => {
                self.bump();
                let old = self.ident()?;
                self.expect_kw(K::To)?;
                Ok(AlterAction::RenameColumn { old, new: self.name_of_any_length()? })
            }
            Token::Keyword(K::Index | K::Key) => {
                self.bump();
                let old = self.key_name()?;
                self.expect_kw(K::To)?;
                Ok(AlterAction::RenameKey { old, new: self.key_name()? })
            }
            _ => {
                let _ = self.accept_kw(K::To) || self.accept_kw(K::As) || self.accept(Token::Equal);
                Ok(AlterAction::RenameTable(self.object_name()?))
            }
        }
    }
}
