//! Conditions: which handler handles a condition that a statement raises; SIGNAL, RESIGNAL and GET DIAGNOSTICS.
//!
//! H1: the innermost block with a matching handler wins. Within it, an error number precedes an SQLSTATE, and that
//!     precedes a class.
//! H2: while the body of a handler runs, the handlers of its own block are not active (the body is a child of the
//!     block's parent).

use super::Routine;
use crate::error::{Description, Error, Result};
use crate::session::State;
use conditions::{Condition, SignalItem};
use exec::Strictness;
use expr::{Level, Raised, Warning};
use sql::ast::{Expr, Literal};
use sql::routine::{Diagnostics, DiagnosticsOf, Handler, HandlerCondition, Place, Program, Signal};
use std::rc::Rc;
use types::{ColumnType, TypeKind, Value};

/// The condition that an error is.
pub fn raised(error: &Error) -> Raised {
    match error {
        Error::Exec(error) => condition(error, Level::Error),
        error => of_description(error.describe(), Level::Error),
    }
}

fn condition(error: &expr::Error, level: Level) -> Raised {
    match error {
        expr::Error::Raised(raised) => Raised::clone(raised),
        error => of_description(Error::describe_exec(error), level),
    }
}

fn of_description(described: Description, level: Level) -> Raised {
    let Description { number, state, message } = described;
    Raised { number, state, message, level, items: Vec::new() }
}

/// How well a handler's condition fits: more is better, 0 is not at all.
fn fit(raised: &Raised, condition: HandlerCondition) -> u8 {
    let class = &raised.state[..2];
    match condition {
        HandlerCondition::Number(number) if number == raised.number => 3,
        HandlerCondition::State(state) if state == raised.state => 2,
        // SELECT ... INTO without a row raises a condition that is both a warning and NOT FOUND.
        HandlerCondition::Warning if class == b"01" || raised.level == Level::Warning => 1,
        HandlerCondition::NotFound if class == b"02" => 1,
        HandlerCondition::Exception if raised.level == Level::Error && !matches!(class, b"00" | b"01" | b"02") => 1,
        _ => 0,
    }
}

/// The value of a condition's item in GET DIAGNOSTICS.
fn item_of(raised: &Raised, item: SignalItem) -> Value<'static> {
    let class = &raised.state[..2];
    let text = match item {
        SignalItem::MysqlErrno => return Value::Int(raised.number.into()),
        SignalItem::ReturnedState => String::from_utf8_lossy(&raised.state).into_owned(),
        SignalItem::MessageText => raised.message.clone(),
        item => match raised.items.iter().find(|(known, _)| *known == item) {
            Some((_, text)) => text.clone(),
            None if item == SignalItem::ClassOrigin || item == SignalItem::SubclassOrigin => {
                let is_standard = class[0] <= b'4' && class[0].is_ascii_digit() || (b'A'..=b'H').contains(&class[0]);
                match (item, is_standard) {
                    (SignalItem::ClassOrigin, true) => "ISO 9075".to_owned(),
                    (_, true) if &raised.state[2..] == b"000" => "ISO 9075".to_owned(),
                    (SignalItem::SubclassOrigin, true) => "ISO 9075".to_owned(),
                    _ => "MySQL".to_owned(),
                }
            }
            None => String::new(),
        },
    };
    Value::Bytes(text.into_bytes().into())
}

/// A handler whose body is running.
pub struct Handling {
    /// The block that it belongs to.
    pub block: u32,
    pub raised: Raised,
    /// All that its statement has left, for GET STACKED DIAGNOSTICS.
    pub conditions: Vec<Raised>,
    /// How often the list of conditions had been cleared when it began.
    pub cleared: u32,
    /// Where a CONTINUE handler resumes.
    pub resume: usize,
}

impl Handling {
    /// Ends the body: removes the handled conditions; those of the body's last statement stay.
    pub fn end(&self, state: &mut State<'_>) {
        let conditions = state.execution.vars.warnings.get_mut();
        if conditions.cleared() == self.cleared {
            conditions.drop_first(self.conditions.len());
        }
    }
}

/// The handler of a condition that the code of `block` raises, and the block that it is of.
pub fn find<'p>(program: &'p Program<'_>, block: u32, raised: &Raised) -> Option<(u32, &'p Handler)> {
    let mut next = Some(block);
    while let Some(id) = next {
        let block = &program.blocks[id as usize];
        let fitting = block.handlers.iter().map(|h| (h, h.conditions.iter().map(|c| fit(raised, *c)).max().unwrap_or(0)));
        let best = fitting.filter(|(_, fit)| *fit > 0).reduce(|best, other| if other.1 > best.1 { other } else { best });
        if let Some((handler, _)) = best {
            return Some((id, handler));
        }
        next = block.parent;
    }
    None
}

/// Is `block` equal to `around`, or nested in it?
pub fn is_within(program: &Program<'_>, block: u32, around: u32) -> bool {
    let mut next = Some(block);
    while let Some(id) = next {
        if id == around {
            return true;
        }
        next = program.blocks[id as usize].parent;
    }
    false
}

/// SIGNAL and RESIGNAL: the condition that they raise. `Ok`: a warning, which is noted.
pub async fn signal(routine: &Rc<Routine>, state: &mut State<'_>, signal: &Signal<'_>, handled: Option<&Handling>) -> Result<()> {
    let mut raised = match (signal.resignal, handled) {
        (true, None) => {
            return Err(Error::from(Condition::ResignalWithoutActiveHandler));
        }
        (true, Some(handled)) => handled.raised.clone(),
        (false, _) => Raised { number: 0, state: *b"45000", message: String::new(), level: Level::Error, items: Vec::new() },
    };
    if let Some(state) = signal.state {
        let (condition, level) = match &state[..2] {
            b"01" => (Condition::SignalWarn, Level::Warning),
            b"02" => (Condition::SignalNotFound, Level::Error),
            _ => (Condition::SignalException, Level::Error),
        };
        (raised.state, raised.level, raised.number) = (state, level, condition.number());
        if !signal.resignal {
            raised.message = condition.to_string();
        }
    }
    let mut cut = Vec::new();
    for (item, code) in &signal.items {
        let (value, _) = routine.value(state, code, Strictness::Arguments).await?;
        if value.is_null() {
            return Err(Error::from(Condition::WrongValueForVar { name: item.name().into(), value: "NULL".into() }));
        }
        let mut text = text_of(state, &value)?;
        let chars_max = if *item == SignalItem::MessageText { 128 } else { 64 };
        if let Some((end, _)) = text.char_indices().nth(chars_max) {
            if Strictness::Everywhere.is_full(&state.execution.vars) {
                return Err(Error::from(Condition::CondItemTooLong { item: item.name().into() }));
            }
            text.truncate(end);
            cut.push(item.name());
        }
        match item {
            SignalItem::MysqlErrno => match u16::try_from(integer_of(&code.tree, &value)) {
                Ok(number) if number > 0 => raised.number = number,
                _ => {
                    return Err(Error::from(Condition::WrongValueForVar { name: "MYSQL_ERRNO".into(), value: text.into() }));
                }
            },
            SignalItem::MessageText => raised.message = text,
            item => {
                raised.items.retain(|(known, _)| known != item);
                raised.items.push((*item, text));
            }
        }
    }
    state.clear_warnings();
    if let (true, Some(handled)) = (signal.resignal, handled) {
        // It follows the conditions of the statement. Unless RESIGNAL sets a state of its own, it replaces the handled
        // condition.
        let is_handled = |condition: &Raised| signal.state.is_none() && *condition == handled.raised;
        let own = handled.conditions.iter().rposition(is_handled);
        let others = handled.conditions.iter().enumerate().filter(|(n, _)| Some(*n) != own);
        // The oldest ones make room for it.
        let room = state.execution.vars.warnings.borrow().kept_max.saturating_sub(1);
        let count = handled.conditions.len() - usize::from(own.is_some());
        others
            .skip(count.saturating_sub(room))
            .for_each(|(_, condition)| state.note(condition.level, expr::Error::Raised(Box::new(condition.clone()))));
    }
    for item in cut {
        state.warn(Level::Warning, Condition::WarnCondItemTruncated { item: item.into() });
    }
    let (level, raised) = (raised.level, expr::Error::Raised(Box::new(raised)));
    if level == Level::Error {
        state.session.is_stacked = signal.resignal;
        return Err(raised.into());
    }
    state.note(level, raised);
    Ok(())
}

/// The value of an expression as an integer: fractions are rounded, of a text the integer at its beginning counts. NULL is 0.
fn integer_of(expr: &Expr<'_>, value: &Value<'_>) -> i128 {
    if let Expr::Literal(Literal::Bits(bytes)) = expr {
        return bytes.iter().fold(0, |number: i128, byte| number.saturating_mul(256).saturating_add((*byte).into()));
    }
    match value {
        Value::Int(n) => (*n).into(),
        Value::UInt(n) => (*n).into(),
        Value::Decimal(n) => n.to_i64().unwrap_or_else(|end| end).into(),
        Value::Double(n) => n.round() as i128,
        Value::Bytes(text) => {
            let text = text.trim_ascii_start();
            let sign = usize::from(matches!(text.first(), Some(b'-' | b'+')));
            let digits = text[sign..].iter().take_while(|c| c.is_ascii_digit()).count();
            let number = std::str::from_utf8(&text[..sign + digits]).unwrap_or_default();
            number.parse::<i128>().unwrap_or(if digits == 0 { 0 } else { i64::MAX.into() })
        }
        _ => 0,
    }
}

fn text_of(state: &State<'_>, value: &Value<'_>) -> Result<String> {
    let text = ColumnType::new(TypeKind::Text(types::LobSize::Long));
    let text =
        exec::program::assign(&state.execution.vars, value.borrowed().into_owned(), &ColumnType::new(TypeKind::Null), &text, "")?;
    Ok(match text {
        Value::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        _ => String::new(),
    })
}

/// The conditions that statements have left.
pub fn conditions(state: &State<'_>) -> Vec<Raised> {
    state.execution.vars.warnings.borrow().list().iter().map(condition_of).collect()
}

/// The last of them that is `wanted`, but for the first `skip` conditions. Of an error that has not ended its statement no handler hears.
pub fn last_condition(state: &State<'_>, skip: usize, wanted: impl Fn(&Raised) -> bool) -> Option<Raised> {
    let warnings = state.execution.vars.warnings.borrow();
    let heard = warnings.list().iter().skip(skip).rev().filter(|warning| warning.level != Level::Error);
    heard.map(condition_of).find(wanted)
}

fn condition_of(warning: &Warning) -> Raised {
    condition(&warning.error, warning.level)
}

/// GET DIAGNOSTICS: the values for places.
pub async fn diagnostics(
    routine: &Rc<Routine>,
    state: &mut State<'_>,
    what: &Diagnostics<'_>,
    handled: Option<&Handling>,
) -> Result<Vec<(Place, Value<'static>, ColumnType)>> {
    let known = match (what.stacked, handled) {
        (false, _) => conditions(state),
        (true, Some(handled)) => handled.conditions.clone(),
        (true, None) => {
            return Err(Error::from(Condition::GetStackedDaWithoutActiveHandler));
        }
    };
    let number = ColumnType::new(TypeKind::BigInt);
    let text = ColumnType::new(TypeKind::VarChar { length: 512 });
    match &what.what {
        DiagnosticsOf::Statement(items) => Ok(items
            .iter()
            .map(|(place, is_number)| {
                let value = if *is_number { known.len() as i64 } else { state.execution.vars.row_count };
                (place.clone(), Value::Int(value), number.clone())
            })
            .collect()),
        DiagnosticsOf::Condition(code, items) => {
            let (value, _) = routine.value(state, code, Strictness::Arguments).await?;
            let index = usize::try_from(integer_of(&code.tree, &value)).ok();
            let raised = index.and_then(|n| n.checked_sub(1)).and_then(|n| known.get(n));
            let Some(raised) = raised else {
                // It joins the conditions that are there, and no handler hears of it.
                state.warn(Level::Error, Condition::DaInvalidConditionNumber);
                return Ok(Vec::new());
            };
            let ty = |item: SignalItem| if item == SignalItem::MysqlErrno { number.clone() } else { text.clone() };
            Ok(items.iter().map(|(place, item)| (place.clone(), item_of(raised, *item), ty(*item))).collect())
        }
    }
}
