//! Bodies of stored programs: one pass that emits instructions (`crate::routine`).
//!
//! B1: a declaration is in scope from its place to the end of its block. The body of a handler sees no label of the
//!     enclosing blocks and no handler of its own block.
//! B2: a forward jump is filled in when its target is known. None is left open at the end of the statement that it
//!     belongs to.

use super::{Parsed, Parser, QUERY_DEPTH, Repeated, uppercase};
use crate::ast::{BinaryOp, DataType, Expr, Statement, TypeName, ViewForm};
use crate::error::{Error, Result};
use crate::keyword::Keyword as K;
use crate::lexer::Token;
use crate::routine::{
    Block, Code, ExprCode, Field, Handler, HandlerCondition, Instr, ParamMode, Program, ProgramKind, RoutineError, Slot,
    SlotType, StatementCode,
};
use types::schema::TriggerEvent;

/// The variables that an unqualified name may refer to.
#[derive(Default)]
pub(super) enum Names<'a> {
    /// There is no enclosing stored program.
    #[default]
    None,
    /// A body is being read.
    Building(Box<Builder<'a>>),
}

impl<'a> Names<'a> {
    /// The slot of a variable.
    #[inline]
    pub fn find(&self, name: &str) -> Option<u32> {
        match self {
            Names::None => None,
            Names::Building(builder) => builder.find_from(0, name),
        }
    }

    /// Is the type of a variable one of integers, as LIMIT wants it?
    pub fn is_integer(&self, slot: u32) -> bool {
        let Names::Building(builder) = self else { return false };
        let SlotType::Written(ty) = &builder.program.slots[slot as usize].ty else { return false };
        use TypeName as T;
        matches!(ty.name, T::TinyInt(_) | T::SmallInt(_) | T::MediumInt(_) | T::Int(_) | T::BigInt(_))
    }

    /// The variable of `NEW.name` or `OLD.name`; `None`: `row` is none of a trigger's.
    pub fn field(&mut self, row: &str, name: &'a str) -> Result<Option<u32>> {
        let Names::Building(builder) = self else { return Ok(None) };
        let program = &builder.program;
        let ProgramKind::Trigger { event, .. } = program.kind else { return Ok(None) };
        let new = row.eq_ignore_ascii_case("NEW");
        if !new && !row.eq_ignore_ascii_case("OLD") {
            return Ok(None);
        }
        match (new, event) {
            (true, TriggerEvent::Delete) => return Err(RoutineError::NoRow("NEW", event).into()),
            (false, TriggerEvent::Insert) => return Err(RoutineError::NoRow("OLD", event).into()),
            _ => {}
        }
        let is_it = |field: &&Field| field.new == new && same(program.slots[field.slot as usize].name, name);
        if let Some(place) = program.fields.iter().position(|field| is_it(&field)) {
            let known = &mut builder.program.fields[place];
            known.reads += 1;
            return Ok(Some(known.slot));
        }
        let slot = builder.slot(name, SlotType::Column);
        builder.program.fields.push(Field { new, slot, assigned: false, reads: 1 });
        Ok(Some(slot))
    }
}

/// A program in the making.
#[derive(Default)]
pub(super) struct Builder<'a> {
    program: Program<'a>,
    /// The variables in sight, the one declared last at the end.
    locals: Vec<(&'a str, u32)>,
    /// How many of them were there before the block that is read.
    outer: usize,
    block: u32,
    labels: Vec<Label<'a>>,
    conditions: Vec<(&'a str, HandlerCondition)>,
    cursors: Vec<(&'a str, u32)>,
}

struct Label<'a> {
    name: &'a str,
    /// Loops only: where it begins.
    start: Option<u32>,
    /// Jumps to its end.
    leaves: Vec<u32>,
}

impl<'a> Builder<'a> {
    pub fn of(kind: ProgramKind) -> Box<Self> {
        let program = Program { kind, blocks: vec![Block::default()], ..Program::default() };
        Box::new(Self { program, ..Self::default() })
    }

    pub fn finish(self) -> Program<'a> {
        self.program
    }

    pub fn kind(&self) -> ProgramKind {
        self.program.kind
    }

    /// As [`Self::allow_change`], for the target of SET, which was named for that and not to be read.
    fn assign_field(&mut self, slot: u32) -> Result<()> {
        self.allow_change(slot)?;
        if let Some(field) = self.program.fields.iter_mut().find(|field| field.slot == slot) {
            field.reads = field.reads.saturating_sub(1);
        }
        Ok(())
    }

    /// Notes a change of a column of a trigger's row; 1362 if it cannot be assigned.
    fn allow_change(&mut self, slot: u32) -> Result<()> {
        let ProgramKind::Trigger { before, .. } = self.program.kind else { return Ok(()) };
        let Some(field) = self.program.fields.iter_mut().find(|field| field.slot == slot) else { return Ok(()) };
        match (field.new, before) {
            (false, _) => Err(RoutineError::RowFixed("OLD", "").into()),
            (true, false) => Err(RoutineError::RowFixed("NEW", "after ").into()),
            (true, true) => {
                field.assigned = true;
                Ok(())
            }
        }
    }

    /// CALL may give a variable that it is given another value.
    pub fn lend_field(&mut self, slot: u32) {
        // CALL reports a field that cannot be assigned.
        let _ = self.allow_change(slot);
    }

    /// Is a variable of this name declared in the block that is read?
    pub fn finds_in_block(&self, name: &str) -> bool {
        self.find_from(self.outer, name).is_some()
    }

    /// The last declared variable of this name, from the variable number `from` on.
    fn find_from(&self, from: usize, name: &str) -> Option<u32> {
        self.locals[from..].iter().rev().find(|(known, _)| same(known, name)).map(|(_, slot)| *slot)
    }

    pub fn add_parameter(&mut self, name: &'a str, ty: DataType<'a>, mode: ParamMode) {
        self.program.params.push(mode);
        let slot = self.slot(name, SlotType::Written(ty));
        self.declare(name, slot);
    }

    fn slot(&mut self, name: &'a str, ty: SlotType<'a>) -> u32 {
        self.program.slots.push(Slot { name, ty });
        self.program.slots.len() as u32 - 1
    }

    fn declare(&mut self, name: &'a str, slot: u32) {
        self.locals.push((name, slot));
    }

    fn here(&self) -> u32 {
        self.program.instrs.len() as u32
    }

    fn emit(&mut self, instr: Instr<'a>) -> u32 {
        self.program.instrs.push(instr);
        self.program.block_of.push(self.block);
        self.here() - 1
    }

    /// Lets a jump that was left open go to the next instruction.
    fn land(&mut self, jump: u32) {
        let here = self.here();
        match &mut self.program.instrs[jump as usize] {
            Instr::Jump(target) | Instr::JumpUnless { target, .. } => *target = here,
            _ => {}
        }
    }

    /// Lets a handler of the expression at `instr` go on at the next instruction.
    fn land_after(&mut self, instr: u32) {
        let here = self.here();
        match &mut self.program.instrs[instr as usize] {
            Instr::JumpUnless { after, .. } => *after = here,
            Instr::Set { after, .. } => *after = Some(here),
            _ => {}
        }
    }

    fn cursor(&self, name: &str) -> Result<u32> {
        let found = self.cursors.iter().rev().find(|(known, _)| same(known, name));
        found.map(|(_, cursor)| *cursor).ok_or_else(|| RoutineError::NoCursor(name.to_owned()).into())
    }
}

fn same(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b) || !a.is_ascii() && a.to_lowercase() == b.to_lowercase()
}

impl<'a> Parser<'a> {
    /// One statement of a body, without its semicolon.
    pub(super) fn body_statement(&mut self) -> Result<()> {
        self.enter(QUERY_DEPTH)?;
        self.tables = 0;
        self.labelled()?;
        self.leave(QUERY_DEPTH);
        Ok(())
    }

    fn labelled(&mut self) -> Result<()> {
        if !self.at_ident() || !matches!(self.peek(), Token::Colon) {
            return self.compound(None);
        }
        let name = self.ident()?;
        self.bump();
        if self.builder().labels.iter().any(|label| same(label.name, name)) {
            return Err(RoutineError::LabelTwice(name.to_owned()).into());
        }
        if !(self.at_word("BEGIN") || self.at_kw(K::Loop) || self.at_kw(K::While) || self.at_kw(K::Repeat)) {
            return Err(self.error());
        }
        self.compound(Some(name))
    }

    fn compound(&mut self, label: Option<&'a str>) -> Result<()> {
        match self.token {
            Token::Keyword(keyword) => match keyword {
                K::If => self.if_statement(),
                K::Case => self.case_statement(),
                K::Loop => self.loop_statement(label),
                K::While => self.while_statement(label),
                K::Repeat => self.repeat_statement(label),
                K::Leave => self.jump_to_label("LEAVE"),
                K::Iterate => self.jump_to_label("ITERATE"),
                K::Fetch => self.fetch(),
                K::Set if self.at_set_role() => self.plain_statement(),
                K::Set if self.at_set_password()? => self.plain_statement(),
                K::Set => self.set_variables(),
                K::Call => self.call_in_body(),
                K::Signal | K::Resignal => self.signal(),
                K::Get => self.get_diagnostics(),
                K::Return => self.return_value(),
                K::Use => Err(RoutineError::NotAllowed("USE").into()),
                K::Lock => Err(RoutineError::NotAllowed("LOCK").into()),
                K::Unlock => Err(RoutineError::NotAllowed("UNLOCK").into()),
                K::Load => Err(RoutineError::NotAllowed("LOAD DATA").into()),
                _ => self.plain_statement(),
            },
            Token::Word(word) => match uppercase(word, &mut [0; 8]) {
                b"BEGIN" => self.block(label),
                b"OPEN" | b"CLOSE" => self.open_or_close(),
                b"DO" => self.do_in_body(),
                _ => self.plain_statement(),
            },
            _ => self.plain_statement(),
        }
    }

    /// `SET ROLE ...`, and no variable of that name.
    fn at_set_role(&self) -> bool {
        let mut lexer = self.lexer;
        let is_role = matches!(lexer.next().0, Token::Word(word) if word.eq_ignore_ascii_case(b"ROLE"));
        is_role && !matches!(lexer.next().0, Token::Equal | Token::Assign)
    }

    /// `SET PASSWORD = 'text'`, which a variable of that name does not hide: its name must be quoted.
    fn at_set_password(&mut self) -> Result<bool> {
        let mut lexer = self.lexer;
        let is_password = matches!(lexer.next().0, Token::Word(word) if word.eq_ignore_ascii_case(b"PASSWORD"));
        if !is_password || !matches!(lexer.next().0, Token::Equal | Token::Assign) {
            return Ok(false);
        }
        if !matches!(lexer.next().0, Token::String { .. }) {
            (0..3).for_each(|_| self.bump());
            return Err(self.error());
        }
        if self.names.find("password").is_some() {
            return Err(RoutineError::Shadowed("password").into());
        }
        match self.builder().kind().inner_name() {
            Some(_) => Err(RoutineError::AutocommitInside.into()),
            None => Ok(true),
        }
    }

    /// A statement that is run as it is.
    fn plain_statement(&mut self) -> Result<()> {
        let from = self.start;
        let statement = self.statement()?;
        match statement {
            Statement::Unsupported { what } => return Err(Error::NotSupported(what.to_owned())),
            Statement::Help(_) => return Err(RoutineError::NotAllowed("HELP").into()),
            Statement::TableMaintenance { kind, .. } if kind.is_check() => {
                return Err(RoutineError::NotAllowed("CHECK").into());
            }
            Statement::CreateView(view) if view.form == ViewForm::Alter => {
                return Err(RoutineError::NotAllowed("ALTER VIEW").into());
            }
            Statement::CreateView(view) => crate::view::check_view(view)?,
            Statement::DropRoutine { function, .. } | Statement::AlterRoutine { function, .. } => {
                return Err(RoutineError::NestedDrop(types::schema::routine_kind(function)).into());
            }
            _ => {}
        }
        if let Some(inner) = self.builder().kind().inner_name() {
            check_inner(&statement, inner)?;
        }
        self.emit_statement(statement, from)
    }

    /// Emits an instruction that runs the statement whose text begins at `from`.
    fn emit_statement(&mut self, statement: Statement<'a>, from: usize) -> Result<()> {
        let code = self.statement_code(statement, from)?;
        self.builder().emit(Instr::Run(code));
        Ok(())
    }

    fn statement_code(&mut self, statement: Statement<'a>, from: usize) -> Result<StatementCode<'a>> {
        let parsed = Parsed { statement, params: 0, lifted: 0, end: 0, repeated: Repeated::default(), deprecated: &[] };
        let tree = self.arena.node(parsed);
        self.code(tree, from)
    }

    /// A piece of code that was read from `from` on.
    fn code<T>(&mut self, tree: T, from: usize) -> Result<Code<'a, T>> {
        let text = self.utf8(&self.text[from..self.previous_end])?;
        let codes = &mut self.builder().program.codes;
        *codes += 1;
        Ok(Code { tree, text, id: *codes - 1 })
    }

    fn expression(&mut self) -> Result<ExprCode<'a>> {
        let from = self.start;
        let tree = self.expr()?;
        self.code(tree, from)
    }

    /// Statements up to one of the words that end them.
    fn statements(&mut self, is_end: impl Fn(&Self) -> bool) -> Result<()> {
        loop {
            self.body_statement()?;
            self.expect(Token::Semicolon)?;
            if is_end(self) {
                return Ok(());
            }
        }
    }

    fn at_end_word(&self) -> bool {
        self.at_word("END")
    }

    fn open_label(&mut self, name: Option<&'a str>, is_loop: bool) {
        let builder = self.builder();
        let start = is_loop.then(|| builder.here());
        if let Some(name) = name {
            builder.labels.push(Label { name, start, leaves: Vec::new() });
        }
    }

    /// Reads the label after END, and resolves the jumps that leave the block.
    fn close_label(&mut self, name: Option<&str>) -> Result<()> {
        if self.at_ident() {
            let end = self.ident()?;
            if !name.is_some_and(|name| same(name, end)) {
                return Err(RoutineError::EndLabel(end.to_owned()).into());
            }
        }
        let builder = self.builder();
        if name.is_some()
            && let Some(label) = builder.labels.pop()
        {
            label.leaves.into_iter().for_each(|jump| builder.land(jump));
        }
        Ok(())
    }

    fn jump_to_label(&mut self, what: &'static str) -> Result<()> {
        self.bump();
        let name = self.ident()?;
        let builder = self.builder();
        let jump = builder.emit(Instr::Jump(0));
        let found = builder.labels.iter_mut().rev().find(|label| same(label.name, name));
        match found {
            Some(label) if what == "LEAVE" => label.leaves.push(jump),
            Some(Label { start: Some(start), .. }) => builder.program.instrs[jump as usize] = Instr::Jump(*start),
            _ => return Err(RoutineError::NoLabel(what, name.to_owned()).into()),
        }
        Ok(())
    }

    // ---- blocks ----

    fn block(&mut self, label: Option<&'a str>) -> Result<()> {
        self.bump();
        let builder = self.builder();
        let (locals, outer, around) = (builder.locals.len(), builder.outer, builder.block);
        let (conditions, cursors) = (builder.conditions.len(), builder.cursors.len());
        builder.outer = locals;
        builder.program.blocks.push(Block { parent: Some(around), ..Block::default() });
        let block = builder.program.blocks.len() as u32 - 1;
        builder.block = block;
        self.open_label(label, false);
        self.declarations(conditions, cursors)?;
        while !self.at_end_word() {
            self.body_statement()?;
            self.expect(Token::Semicolon)?;
        }
        self.bump();
        let builder = self.builder();
        builder.program.blocks[block as usize].end = builder.here();
        builder.block = around;
        builder.outer = outer;
        builder.locals.truncate(locals);
        builder.conditions.truncate(conditions);
        builder.cursors.truncate(cursors);
        self.close_label(label)
    }

    fn declarations(&mut self, conditions: usize, cursors: usize) -> Result<()> {
        let (mut has_cursor, mut has_handler) = (false, false);
        let mut reset = None;
        while self.accept_kw(K::Declare) {
            if self.at_kw(K::Continue) || self.at_kw(K::Exit) || self.at_kw(K::Undo) {
                has_handler = true;
                self.handler()?;
            } else {
                let names = self.list(|p| p.ident())?;
                let [name, ..] = names else { return Err(self.error()) };
                if names.len() == 1 && self.accept_kw(K::Cursor) {
                    if has_handler {
                        return Err(RoutineError::CursorLate.into());
                    }
                    has_cursor = true;
                    self.declare_cursor(name, cursors, &mut reset)?;
                } else {
                    if has_cursor || has_handler {
                        return Err(RoutineError::VariableLate.into());
                    }
                    if names.len() == 1 && self.accept_kw(K::Condition) {
                        self.declare_condition(name, conditions)?
                    } else {
                        self.declare_variables(names)?
                    }
                }
            }
            self.expect(Token::Semicolon)?;
        }
        Ok(())
    }

    fn declare_variables(&mut self, names: &[&'a str]) -> Result<()> {
        let ty = self.variable_type(names[0])?;
        // The default is read before its variables are there.
        let default = if self.accept_kw(K::Default) { Some(self.expression()?) } else { None };
        let builder = self.builder();
        // The handlers that the block declares are not there yet.
        let block = builder.block;
        builder.block = builder.program.blocks[block as usize].parent.unwrap_or(block);
        for name in names {
            if builder.finds_in_block(name) {
                return Err(RoutineError::VariableTwice((*name).to_owned()).into());
            }
            let slot = builder.slot(name, SlotType::Written(ty));
            builder.declare(name, slot);
            builder.emit(match default {
                Some(value) => Instr::Set { slot, value, after: None },
                None => Instr::Clear(slot),
            });
        }
        builder.block = block;
        Ok(())
    }

    fn declare_condition(&mut self, name: &'a str, from: usize) -> Result<()> {
        self.expect_kw(K::For)?;
        let condition = self.condition_value()?;
        let builder = self.builder();
        if builder.conditions[from..].iter().any(|(known, _)| same(known, name)) {
            return Err(RoutineError::ConditionTwice(name.to_owned()).into());
        }
        builder.conditions.push((name, condition));
        Ok(())
    }

    fn declare_cursor(&mut self, name: &'a str, from: usize, reset: &mut Option<u32>) -> Result<()> {
        self.expect_kw(K::For)?;
        let start = self.start;
        let code = match self.query_statement()? {
            Statement::Query(query) if query.into.is_none() => self.statement_code(Statement::Query(query), start)?,
            _ => return Err(Error::CursorInto),
        };
        let builder = self.builder();
        if builder.cursors[from..].iter().any(|(known, _)| same(known, name)) {
            return Err(RoutineError::CursorTwice(name.to_owned()).into());
        }
        builder.program.cursors.push(code);
        let cursor = builder.program.cursors.len() as u32 - 1;
        builder.cursors.push((name, cursor));
        let at = *reset.get_or_insert_with(|| builder.emit(Instr::Reset { first: cursor, count: 0 }));
        if let Instr::Reset { count, .. } = &mut builder.program.instrs[at as usize] {
            *count += 1;
        }
        Ok(())
    }

    fn handler(&mut self) -> Result<()> {
        if self.at_kw(K::Undo) {
            return Err(Error::NotSupported("UNDO handlers".to_owned()));
        }
        let exit = self.at_kw(K::Exit);
        self.bump();
        self.expect_word("HANDLER")?;
        self.expect_kw(K::For)?;
        let mut conditions = Vec::new();
        loop {
            conditions.push(self.handled_condition()?);
            if !self.accept(Token::Comma) {
                break;
            }
        }
        let builder = self.builder();
        let block = builder.block;
        let known = builder.program.blocks[block as usize].handlers.iter().flat_map(|handler| &handler.conditions);
        let twice = known.clone().any(|condition| conditions.contains(condition));
        if twice || (1..conditions.len()).any(|n| conditions[..n].contains(&conditions[n])) {
            return Err(RoutineError::HandlerTwice.into());
        }
        let over = builder.emit(Instr::Jump(0));
        let parent = builder.program.blocks[block as usize].parent;
        builder.program.blocks.push(Block { parent, ..Block::default() });
        builder.block = builder.program.blocks.len() as u32 - 1;
        let labels = std::mem::take(&mut builder.labels);
        let entry = builder.here();
        self.body_statement()?;
        let builder = self.builder();
        builder.emit(Instr::Handled { exits: exit.then_some(block) });
        builder.block = block;
        builder.labels = labels;
        builder.land(over);
        builder.program.blocks[block as usize].handlers.push(Handler { conditions, exit, entry });
        Ok(())
    }

    fn handled_condition(&mut self) -> Result<HandlerCondition> {
        if self.accept_kw(K::SqlWarning) {
            return Ok(HandlerCondition::Warning);
        }
        if self.accept_kw(K::SqlException) {
            return Ok(HandlerCondition::Exception);
        }
        if self.accept_kw(K::Not) {
            self.expect_word("FOUND")?;
            return Ok(HandlerCondition::NotFound);
        }
        self.named_condition()
    }

    /// A condition by its name or its value.
    fn named_condition(&mut self) -> Result<HandlerCondition> {
        if !self.at_ident() {
            return self.condition_value();
        }
        let name = self.ident()?;
        let found = self.builder().conditions.iter().rev().find(|(known, _)| same(known, name)).map(|(_, condition)| *condition);
        found.ok_or_else(|| RoutineError::NoCondition(name.to_owned()).into())
    }

    fn condition_value(&mut self) -> Result<HandlerCondition> {
        if self.accept_kw(K::SqlState) {
            self.accept_word("VALUE");
            let text = self.string()?;
            let is_state = |b: &u8| b.is_ascii_digit() || b.is_ascii_uppercase();
            return match <[u8; 5]>::try_from(text) {
                Ok(state) if state.iter().all(is_state) && !state.starts_with(b"00") => Ok(HandlerCondition::State(state)),
                _ => Err(RoutineError::BadState(self.utf8(text)?.to_owned()).into()),
            };
        }
        match u16::try_from(self.number()?) {
            Ok(0) => Err(Error::WrongLiteral { kind: "CONDITION", value: "0".to_owned() }),
            Ok(number) => Ok(HandlerCondition::Number(number)),
            Err(_) => Err(self.error()),
        }
    }

    // ---- branches and loops ----

    /// `condition` and a jump that is taken when it is not true, to be landed.
    fn unless(&mut self) -> Result<u32> {
        let condition = self.expression()?;
        Ok(self.builder().emit(Instr::JumpUnless { condition, target: 0, after: 0 }))
    }

    fn if_statement(&mut self) -> Result<()> {
        self.bump();
        let (mut tests, mut ends) = (Vec::new(), Vec::new());
        let is_end = |p: &Self| p.at_end_word() || p.at_kw(K::Else) || p.at_kw(K::ElseIf);
        loop {
            let test = self.unless()?;
            tests.push(test);
            self.expect_kw(K::Then)?;
            self.statements(is_end)?;
            if self.at_end_word() {
                self.builder().land(test);
                break;
            }
            let builder = self.builder();
            ends.push(builder.emit(Instr::Jump(0)));
            builder.land(test);
            if self.accept_kw(K::ElseIf) {
                continue;
            }
            self.bump();
            self.statements(Self::at_end_word)?;
            break;
        }
        self.bump();
        self.expect_kw(K::If)?;
        self.end_branches(&tests, &ends);
        Ok(())
    }

    fn end_branches(&mut self, tests: &[u32], ends: &[u32]) {
        let builder = self.builder();
        tests.iter().for_each(|test| builder.land_after(*test));
        ends.iter().for_each(|jump| builder.land(*jump));
    }

    fn case_statement(&mut self) -> Result<()> {
        self.bump();
        let (mut tests, mut ends) = (Vec::new(), Vec::new());
        let mut operand = None;
        if !self.at_kw(K::When) {
            let value = self.expression()?;
            let builder = self.builder();
            let slot = builder.slot("", SlotType::Operand);
            tests.push(builder.emit(Instr::Set { slot, value, after: None }));
            operand = Some(Expr::Local { slot, name: "" });
        }
        loop {
            self.expect_kw(K::When)?;
            let mut condition = self.expression()?;
            if let Some(operand) = operand {
                let (left, right) = (self.arena.node(operand), self.arena.node(condition.tree));
                condition.tree = Expr::Binary { op: BinaryOp::Equal, left, right };
            }
            let builder = self.builder();
            let test = builder.emit(Instr::JumpUnless { condition, target: 0, after: 0 });
            tests.push(test);
            self.expect_kw(K::Then)?;
            self.statements(|p| p.at_end_word() || p.at_kw(K::Else) || p.at_kw(K::When))?;
            let builder = self.builder();
            ends.push(builder.emit(Instr::Jump(0)));
            builder.land(test);
            if !self.at_kw(K::When) {
                break;
            }
        }
        if self.accept_kw(K::Else) {
            self.statements(Self::at_end_word)?;
        } else {
            self.builder().emit(Instr::CaseMissing);
        }
        self.expect_word("END")?;
        self.expect_kw(K::Case)?;
        self.end_branches(&tests, &ends);
        Ok(())
    }

    fn loop_statement(&mut self, label: Option<&'a str>) -> Result<()> {
        self.bump();
        self.open_label(label, true);
        let start = self.builder().here();
        self.statements(Self::at_end_word)?;
        self.bump();
        self.expect_kw(K::Loop)?;
        self.builder().emit(Instr::Jump(start));
        self.close_label(label)
    }

    fn while_statement(&mut self, label: Option<&'a str>) -> Result<()> {
        self.bump();
        self.open_label(label, true);
        let start = self.builder().here();
        let test = self.unless()?;
        self.expect_word("DO")?;
        self.statements(Self::at_end_word)?;
        self.bump();
        self.expect_kw(K::While)?;
        let builder = self.builder();
        builder.emit(Instr::Jump(start));
        builder.land(test);
        builder.land_after(test);
        self.close_label(label)
    }

    fn repeat_statement(&mut self, label: Option<&'a str>) -> Result<()> {
        self.bump();
        self.open_label(label, true);
        let start = self.builder().here();
        self.statements(|p| p.at_word("UNTIL"))?;
        self.bump();
        let condition = self.expression()?;
        let builder = self.builder();
        let after = builder.here() + 1;
        builder.emit(Instr::JumpUnless { condition, target: start, after });
        self.expect_word("END")?;
        self.expect_kw(K::Repeat)?;
        self.close_label(label)
    }

    // ---- cursors, variables, conditions ----

    fn open_or_close(&mut self) -> Result<()> {
        let opens = self.at_word("OPEN");
        self.bump();
        let name = self.ident()?;
        let builder = self.builder();
        let cursor = builder.cursor(name)?;
        builder.emit(if opens { Instr::Open(cursor) } else { Instr::Close(cursor) });
        Ok(())
    }

    fn fetch(&mut self) -> Result<()> {
        self.bump();
        if self.at_word("NEXT") && self.peek_kw(K::From) {
            self.bump();
        }
        self.accept_kw(K::From);
        let name = self.ident()?;
        let cursor = self.builder().cursor(name)?;
        self.expect_kw(K::Into)?;
        let into = self.list(|p| {
            let name = p.ident()?;
            p.names.find(name).ok_or_else(|| Error::Undeclared(name.to_owned()))
        })?;
        self.builder().emit(Instr::Fetch { cursor, into: into.to_vec() });
        Ok(())
    }

    fn return_value(&mut self) -> Result<()> {
        if self.builder().kind() != ProgramKind::Function {
            return Err(RoutineError::ReturnOutside.into());
        }
        self.bump();
        let value = self.expression()?;
        self.builder().emit(Instr::Return(value));
        Ok(())
    }
}

/// Refuses statements that are not allowed in a function or a trigger.
fn check_inner(statement: &Statement<'_>, inner: &'static str) -> Result<()> {
    let info = statement.info();
    match statement {
        Statement::Prepare { .. } | Statement::Execute { .. } | Statement::Deallocate { .. } => {
            Err(RoutineError::NotInside("Dynamic SQL").into())
        }
        Statement::Flush { .. } => Err(RoutineError::NotInside("FLUSH").into()),
        Statement::Commit(_) | Statement::Rollback(_) => Err(RoutineError::CommitInside.into()),
        _ if info.returns_rows => Err(RoutineError::ResultSet(inner).into()),
        _ if info.implicit_commit => Err(RoutineError::CommitInside.into()),
        _ => Ok(()),
    }
}

mod actions;
mod diagnostics;
#[cfg(test)]
mod tests;
