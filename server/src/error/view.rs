//! Errors about views.

use conditions::Condition;
use sql::ViewProblem;

pub(super) fn view_error(why: &ViewProblem, view: &str) -> Condition {
    match why {
        ViewProblem::Invalid => Condition::ViewInvalid { view: view.into() },
        ViewProblem::Recursion => Condition::ViewRecursive { view: format!("`{}`", view.replacen('.', "`.`", 1)).into() },
        ViewProblem::Into => Condition::ViewSelectClause,
        ViewProblem::Variable => Condition::ViewSelectVariable,
        ViewProblem::CheckWithoutUpdates => Condition::ViewNonUpdatableCheck { view: view.into() },
        ViewProblem::SeveralTables => Condition::ViewMultiupdate { view: view.into() },
        ViewProblem::WithoutColumns => Condition::ViewNoInsertFieldList { view: view.into() },
        ViewProblem::DeleteFromJoin => Condition::ViewDeleteMergeView { view: view.into() },
        ViewProblem::NoDefault => Condition::NoDefaultForViewField { view: view.into() },
        ViewProblem::NoDefiner { user, host } => Condition::NoSuchUser { user: user.into(), host: host.into() },
        ViewProblem::NoAccess { user, host, using_password } => Condition::AccessDeniedError {
            user: user.into(),
            host: host.into(),
            using: (if *using_password { "YES" } else { "NO" }).into(),
        },
        ViewProblem::Prevents { statement, table } => {
            Condition::ViewPreventUpdate { view: view.into(), statement: statement.into(), table: table.into() }
        }
    }
}
