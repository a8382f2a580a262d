//! Numbers and messages of what can be wrong with views.

use sql::ViewProblem;

/// 1449
pub fn no_definer(user: &str, host: &str) -> String {
    format!("The user specified as a definer ('{user}'@'{host}') does not exist")
}

pub(super) fn view_error(why: &ViewProblem, view: &str) -> (u16, String) {
    match why {
        ViewProblem::Invalid => (
            1356,
            format!(
                "View '{view}' references invalid table(s) or column(s) or function(s) or definer/invoker of view lack rights to use them"
            ),
        ),
        ViewProblem::Recursion => (1462, format!("`{}` contains view recursion", view.replacen('.', "`.`", 1))),
        ViewProblem::Into => (1350, "View's SELECT contains a 'INTO' clause".into()),
        ViewProblem::Variable => (1351, "View's SELECT contains a variable or parameter".into()),
        ViewProblem::CheckWithoutUpdates => (1368, format!("CHECK OPTION on non-updatable view '{view}'")),
        ViewProblem::SeveralTables => (1393, format!("Can not modify more than one base table through a join view '{view}'")),
        ViewProblem::WithoutColumns => (1394, format!("Can not insert into join view '{view}' without fields list")),
        ViewProblem::DeleteFromJoin => (1395, format!("Can not delete from join view '{view}'")),
        ViewProblem::NoDefault => (1423, format!("Field of view '{view}' underlying table doesn't have a default value")),
        ViewProblem::NoDefiner { user, host } => (1449, no_definer(user, host)),
        ViewProblem::NoAccess { user, host, using_password } => (1045, super::no_access(user, host, *using_password)),
        ViewProblem::Prevents { statement, table } => {
            (1443, format!("The definition of table '{view}' prevents operation {statement} on table '{table}'."))
        }
    }
}
