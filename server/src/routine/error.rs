//! Errors about routines.

use conditions::Condition;
use sql::routine::RoutineError as E;

/// Number and message.
pub fn message(error: &E) -> Condition {
    match error {
        E::NestedCreate(what) => Condition::SpNoRecursiveCreate { what: what.into() },
        E::NestedDrop(what) => Condition::SpNoDropSp { what: what.into() },
        E::NestedEvent => Condition::EventRecursionForbidden,
        E::NoLabel(what, label) => Condition::SpLabelNotFound { what: what.into(), label: label.into() },
        E::LabelTwice(label) => Condition::SpLabelRedefine { label: label.into() },
        E::EndLabel(label) => Condition::SpLabelMismatch { label: label.into() },
        E::ArgumentCount { name, expected, got } => {
            Condition::SpWrongNoOfArgs { kind: "FUNCTION".into(), name: name.into(), expected: expected.into(), got: got.into() }
        }
        E::ReturnOutside => Condition::SpBadReturn,
        E::NotAllowed(what) => Condition::SpBadStatement { what: what.into() },
        E::Shadowed(name) => Condition::SpBadVarShadow { name: name.into() },
        E::NoReturn(name) => Condition::SpNoReturn { name: name.into() },
        E::NotInside(what) => Condition::StmtNotAllowedInSfOrTrg { what: what.into() },
        E::RowFixed(row, timing) => Condition::TrgCantChangeRow { row: row.into(), timing: timing.into() },
        E::NoRow(row, event) => Condition::TrgNoSuchRowInTrg { row: row.into(), event: event.name().into() },
        E::ResultSet(place) => Condition::SpNoResultSet { place: place.into() },
        E::CommitInside => Condition::CommitNotAllowedInSfOrTrg,
        E::AutocommitInside => Condition::SpCantSetAutocommit,
        E::NoCondition(name) => Condition::SpConditionMismatch { name: name.into() },
        E::NoCursor(name) => Condition::SpCursorMismatch { name: name.into() },
        E::ParameterTwice(name) => Condition::SpDupParam { name: name.into() },
        E::VariableTwice(name) => Condition::SpDupVar { name: name.into() },
        E::ConditionTwice(name) => Condition::SpDupCondition { name: name.into() },
        E::CursorTwice(name) => Condition::SpDupCursor { name: name.into() },
        E::VariableLate => Condition::SpVariableAfterCursor,
        E::CursorLate => Condition::SpCursorAfterHandler,
        E::BadState(state) => Condition::SpBadSqlstate { state: state.into() },
        E::HandlerTwice => Condition::SpDupHandler,
        E::ItemTwice(item) => Condition::DupSignalSet { item: item.into() },
        E::SignalByNumber => Condition::SignalBadConditionType,
    }
}
