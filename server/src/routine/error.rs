//! MySQL's numbers and words for what is wrong with a routine.

use sql::routine::RoutineError as E;

/// Number and message.
pub fn message(error: &E) -> (u16, String) {
    match error {
        E::NestedCreate(what) => (1303, format!("Can't create a {what} from within another stored routine")),
        E::NestedDrop(what) => (1357, format!("Can't drop or alter a {what} from within another stored routine")),
        E::NestedEvent => (1576, "Recursion of EVENT DDL statements is forbidden when body is present".to_owned()),
        E::NoLabel(what, label) => (1308, format!("{what} with no matching label: {label}")),
        E::LabelTwice(label) => (1309, format!("Redefining label {label}")),
        E::EndLabel(label) => (1310, format!("End-label {label} without match")),
        E::ArgumentCount { name, expected, got } => {
            (1318, format!("Incorrect number of arguments for FUNCTION {name}; expected {expected}, got {got}"))
        }
        E::ReturnOutside => (1313, "RETURN is only allowed in a FUNCTION".to_owned()),
        E::NotAllowed(what) => (1314, format!("{what} is not allowed in stored procedures")),
        E::NoReturn(name) => (1320, format!("No RETURN found in FUNCTION {name}")),
        E::NotInside(what) => (1336, format!("{what} is not allowed in stored function or trigger")),
        E::RowFixed(row, timing) => (1362, format!("Updating of {row} row is not allowed in {timing}trigger")),
        E::NoRow(row, event) => (1363, format!("There is no {row} row in on {} trigger", event.name())),
        E::ExecuteDenied(message) => (1370, message.clone()),
        E::ResultSet(place) => (1415, format!("Not allowed to return a result set from a {place}")),
        E::CommitInside => (1422, "Explicit or implicit commit is not allowed in stored function or trigger.".to_owned()),
        E::AutocommitInside => (1445, "Not allowed to set autocommit from a stored function or trigger".to_owned()),
        E::NoCondition(name) => (1319, format!("Undefined CONDITION: {name}")),
        E::NoCursor(name) => (1324, format!("Undefined CURSOR: {name}")),
        E::ParameterTwice(name) => (1330, format!("Duplicate parameter: {name}")),
        E::VariableTwice(name) => (1331, format!("Duplicate variable: {name}")),
        E::ConditionTwice(name) => (1332, format!("Duplicate condition: {name}")),
        E::CursorTwice(name) => (1333, format!("Duplicate cursor: {name}")),
        E::VariableLate => (1337, "Variable or condition declaration after cursor or handler declaration".to_owned()),
        E::CursorLate => (1338, "Cursor declaration after handler declaration".to_owned()),
        E::BadState(state) => (1407, format!("Bad SQLSTATE: '{state}'")),
        E::HandlerTwice => (1413, "Duplicate handler declared in the same block".to_owned()),
        E::ItemTwice(item) => (1641, format!("Duplicate condition information item '{item}'")),
        E::SignalByNumber => (1646, "SIGNAL/RESIGNAL can only use a CONDITION defined with SQLSTATE".to_owned()),
    }
}
