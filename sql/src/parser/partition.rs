//! PARTITION BY, and the actions of ALTER TABLE on partitions.

use super::Parser;
use crate::ast::*;
use crate::error::Result;
use crate::keyword::Keyword as K;
use crate::lexer::Token;

impl<'a> Parser<'a> {
    /// `PARTITION BY ... [PARTITIONS n] [SUBPARTITION BY ...] [(partition, ...)]`
    pub(super) fn partition_clause(&mut self) -> Result<&'a PartitionClause<'a>> {
        self.expect_kw(K::Partition)?;
        self.expect_kw(K::By)?;
        let by = self.partition_by()?;
        let count = if self.accept_word("PARTITIONS") { Some(self.number()?) } else { None };
        let sub = if self.accept_word("SUBPARTITION") { Some(self.subpartition_clause()?) } else { None };
        let mut partitions: &[PartitionDefinition<'a>] = &[];
        if self.at(Token::LeftParen) {
            partitions = self.partition_definitions()?;
        }
        Ok(self.arena.node(PartitionClause { by, count, partitions, sub }))
    }

    /// HASH or KEY, which names its columns.
    fn subpartition_clause(&mut self) -> Result<SubpartitionClause<'a>> {
        self.expect_kw(K::By)?;
        let start = self.error();
        let by = self.partition_by()?;
        if !matches!(by, PartitionBy::Hash { .. } | PartitionBy::Key { columns: [_, ..], .. }) {
            return Err(start);
        }
        let count = if self.accept_word("SUBPARTITIONS") { Some(self.number()?) } else { None };
        Ok(SubpartitionClause { by, count })
    }

    fn partition_by(&mut self) -> Result<PartitionBy<'a>> {
        let linear = self.accept_kw(K::Linear);
        if self.accept_kw(K::Key) {
            let mut algorithm = None;
            if self.accept_word("ALGORITHM") {
                self.expect(Token::Equal)?;
                algorithm = Some(self.number()?);
            }
            return Ok(PartitionBy::Key { columns: self.names_in_parens()?, linear, algorithm });
        }
        if self.accept_word("HASH") {
            return Ok(PartitionBy::Hash { expr: self.expr_in_parens()?, linear });
        }
        let is_range = self.at_kw(K::Range);
        if linear || !is_range && !self.at_word("LIST") {
            return Err(self.error());
        }
        self.bump();
        match (is_range, self.accept_word("COLUMNS")) {
            (true, true) => Ok(PartitionBy::RangeColumns(self.names_in_parens()?)),
            (false, true) => Ok(PartitionBy::ListColumns(self.names_in_parens()?)),
            (true, false) => Ok(PartitionBy::Range(self.expr_in_parens()?)),
            (false, false) => Ok(PartitionBy::List(self.expr_in_parens()?)),
        }
    }

    fn expr_in_parens(&mut self) -> Result<&'a Expr<'a>> {
        self.expect(Token::LeftParen)?;
        let expr = self.expr_ref()?;
        self.expect(Token::RightParen)?;
        Ok(expr)
    }

    /// `(a, b)`, also `()`
    fn names_in_parens(&mut self) -> Result<&'a [&'a str]> {
        if self.at(Token::LeftParen) && self.peek() == Token::RightParen {
            self.bump();
            self.bump();
            return Ok(&[]);
        }
        self.paren_list(|p| p.ident())
    }

    fn partition_definitions(&mut self) -> Result<&'a [PartitionDefinition<'a>]> {
        self.paren_list(|p| {
            p.expect_kw(K::Partition)?;
            let name = p.ident()?;
            let mut definition = PartitionDefinition { name, values: p.partition_values()?, comment: None, subpartitions: &[] };
            p.partition_options(&mut definition.comment)?;
            if p.at(Token::LeftParen) {
                definition.subpartitions = p.paren_list(|p| {
                    p.expect_word("SUBPARTITION")?;
                    let name = p.ident_or_string()?;
                    let mut comment = None;
                    p.partition_options(&mut comment)?;
                    Ok((name, comment))
                })?;
            }
            Ok(definition)
        })
    }

    fn partition_values(&mut self) -> Result<PartitionValues<'a>> {
        if !self.accept_kw(K::Values) {
            return Ok(PartitionValues::None);
        }
        if self.accept_kw(K::In) {
            return Ok(PartitionValues::In(self.paren_list(|p| {
                if p.at(Token::LeftParen) {
                    return p.paren_list(|p| p.partition_value());
                }
                let value = p.partition_value()?;
                Ok(p.arena.slice(&[value]))
            })?));
        }
        self.expect_word("LESS")?;
        self.expect_word("THAN")?;
        if self.at_kw(K::MaxValue) {
            let value = self.partition_value()?;
            return Ok(PartitionValues::LessThan(self.arena.slice(&[value])));
        }
        Ok(PartitionValues::LessThan(self.paren_list(|p| p.partition_value())?))
    }

    fn partition_value(&mut self) -> Result<PartitionValue<'a>> {
        if self.accept_kw(K::MaxValue) {
            return Ok(PartitionValue::MaxValue);
        }
        Ok(PartitionValue::Expr(self.expr_ref()?))
    }

    /// Options of a partition. Options for other engines are ignored.
    fn partition_options(&mut self, comment: &mut Option<&'a [u8]>) -> Result<()> {
        const IGNORED: [&str; 4] = ["MAX_ROWS", "MIN_ROWS", "NODEGROUP", "TABLESPACE"];
        loop {
            if self.accept_word("COMMENT") {
                self.accept(Token::Equal);
                *comment = Some(self.string()?);
            } else if self.at_word("STORAGE") || self.at_word("ENGINE") {
                if self.accept_word("STORAGE") && !self.at_word("ENGINE") {
                    return Err(self.error());
                }
                self.bump();
                self.accept(Token::Equal);
                self.ident_or_string()?;
            } else if (self.at_word("DATA") || self.at_kw(K::Index)) && self.peek_word("DIRECTORY") {
                self.bump();
                self.bump();
                self.accept(Token::Equal);
                self.string()?;
            } else if IGNORED.iter().any(|word| self.at_word(word)) {
                self.bump();
                self.accept(Token::Equal);
                self.bump();
            } else {
                return Ok(());
            }
        }
    }

    /// ADD PARTITION
    pub(super) fn add_partitions(&mut self) -> Result<AlterAction<'a>> {
        self.expect_kw(K::Partition)?;
        self.no_write_to_binlog();
        if self.accept_word("PARTITIONS") {
            let count = Some(self.number()?);
            return Ok(AlterAction::Partition(PartitionAction::Add { partitions: &[], count }));
        }
        let partitions = self.partition_definitions()?;
        Ok(AlterAction::Partition(PartitionAction::Add { partitions, count: None }))
    }

    /// DROP PARTITION
    pub(super) fn drop_partitions(&mut self) -> Result<AlterAction<'a>> {
        self.expect_kw(K::Partition)?;
        Ok(AlterAction::Partition(PartitionAction::Drop(self.list(|p| p.ident())?)))
    }

    /// The other actions; `None`: it is none of them.
    pub(super) fn partition_action(&mut self) -> Result<Option<AlterAction<'a>>> {
        const WORDS: [&str; 7] = ["TRUNCATE", "COALESCE", "REORGANIZE", "EXCHANGE", "REBUILD", "IMPORT", "DISCARD"];
        if WORDS.iter().any(|word| self.at_word(word)) && self.peek_kw(K::Partition) {
            self.action_on_partitions().map(Some)
        } else {
            Ok(None)
        }
    }

    /// `ALTER TABLE t ANALYZE PARTITION p0, p1 | ALL` and the like, which become a statement of their own.
    pub(super) fn partition_maintenance(&mut self, table: ObjectName<'a>) -> Result<Option<Statement<'a>>> {
        let kind = match self.token {
            Token::Keyword(K::Analyze) => Maintenance::Analyze,
            Token::Keyword(K::Check) => Maintenance::Check,
            Token::Keyword(K::Optimize) => Maintenance::Optimize,
            _ if self.at_word("REPAIR") => Maintenance::Repair,
            _ => return Ok(None),
        };
        if !self.peek_kw(K::Partition) {
            return Ok(None);
        }
        self.bump();
        self.bump();
        self.no_write_to_binlog();
        let partitions = Some(self.names_or_all()?.unwrap_or_default());
        while self.accept_one_of(super::session::maintenance_words(kind)) {}
        let tables = self.arena.slice(&[table]);
        Ok(Some(Statement::TableMaintenance { kind, tables, histogram: None, partitions }))
    }

    fn action_on_partitions(&mut self) -> Result<AlterAction<'a>> {
        let word = self.token;
        let is = |text: &str| matches!(word, Token::Word(word) if word.eq_ignore_ascii_case(text.as_bytes()));
        self.bump();
        self.expect_kw(K::Partition)?;
        if is("IMPORT") || is("DISCARD") {
            self.names_or_all()?;
            self.expect_word("TABLESPACE")?;
            return Ok(AlterAction::Unsupported("ALTER TABLE ... TABLESPACE"));
        }
        if !is("TRUNCATE") && !is("EXCHANGE") {
            self.no_write_to_binlog();
        }
        let action = if is("TRUNCATE") {
            PartitionAction::Truncate(self.names_or_all()?)
        } else if is("COALESCE") {
            PartitionAction::Coalesce(self.number()?)
        } else if is("REBUILD") {
            PartitionAction::Rebuild(self.names_or_all()?)
        } else if is("EXCHANGE") {
            let name = self.ident()?;
            self.expect_kw(K::With)?;
            self.expect_kw(K::Table)?;
            let table = self.object_name()?;
            let validation = !self.accept_word("WITHOUT");
            if !validation || self.accept_kw(K::With) {
                self.expect_word("VALIDATION")?;
            }
            PartitionAction::Exchange { name, table, validation }
        } else if self.at_ident() {
            let names = self.list(|p| p.ident())?;
            self.expect_kw(K::Into)?;
            PartitionAction::Reorganize { names, into: self.partition_definitions()? }
        } else {
            PartitionAction::ReorganizeAll
        };
        Ok(AlterAction::Partition(action))
    }

    fn names_or_all(&mut self) -> Result<Option<&'a [&'a str]>> {
        if self.accept_kw(K::All) {
            return Ok(None);
        }
        self.list(|p| p.ident()).map(Some)
    }

    fn no_write_to_binlog(&mut self) {
        let _ = self.accept_kw(K::NoWriteToBinlog) || self.accept_word("LOCAL");
    }
}
