//! What is said of expressions over rows that definitions cannot have.

use sql::{KeyPartProblem, RowExprProblem, RowExprUse};

/// An expression that a definition cannot have.
pub(super) fn row_expr_error(usage: &RowExprUse, problem: &RowExprProblem) -> (u16, String) {
    use RowExprProblem as P;
    use RowExprUse::{Check, Default, Generated, Index, Partition};
    match (usage, problem) {
        (Partition, P::UnknownColumn(column)) => (1054, format!("Unknown column '{column}' in 'partition function'")),
        (Partition, _) => super::partition::partition_error(&types::partition::PartitionError::Function),
        (Generated(name), P::Function(function)) => {
            (3763, format!("Expression of generated column '{name}' contains a disallowed function: {function}."))
        }
        (Default(name), P::Function(function)) => {
            (3770, format!("Default value expression of column '{name}' contains a disallowed function: {function}."))
        }
        (Check(name), P::Function(function)) => {
            (3814, format!("An expression of a check constraint '{name}' contains disallowed function: {function}."))
        }
        (Generated(name), P::Unnamed | P::DefaultFunction | P::NotBoolean | P::OtherColumn) => {
            (3102, format!("Expression of generated column '{name}' contains a disallowed function."))
        }
        (Default(name), P::Unnamed | P::NotBoolean | P::OtherColumn) => {
            (3769, format!("Default value expression of column '{name}' contains a disallowed function."))
        }
        (Check(name), P::Unnamed | P::DefaultFunction | P::NotPrior) => {
            (3815, format!("An expression of a check constraint '{name}' contains disallowed function."))
        }
        (Generated(name) | Default(name), P::Variable) => {
            (3772, format!("Default value expression of column '{name}' cannot refer user or system variables."))
        }
        (Check(name), P::Variable) => {
            (3816, format!("An expression of a check constraint '{name}' cannot refer to a user or system variable."))
        }
        (Generated(name), P::RowValue) => (3764, format!("Expression of generated column '{name}' cannot refer to a row value.")),
        (Default(name), P::RowValue) => {
            (3771, format!("Default value expression of column '{name}' cannot refer to a row value."))
        }
        (Check(name), P::RowValue) => (3817, format!("Check constraint '{name}' cannot refer to a row value.")),
        (Default(_), P::DefaultFunction) => (3773, "DEFAULT function cannot be used with default value expressions".into()),
        (Check(name), P::NotBoolean) => {
            (3812, format!("An expression of non-boolean type specified to a check constraint '{name}'."))
        }
        (Check(name), P::OtherColumn) => (3813, format!("Column check constraint '{name}' references other column.")),
        (Generated(_), P::UnknownColumn(column)) => (1054, format!("Unknown column '{column}' in 'generated column function'")),
        (Default(_), P::UnknownColumn(column)) => (1054, format!("Unknown column '{column}' in 'default value expression'")),
        (Check(name), P::UnknownColumn(column)) => {
            (3820, format!("Check constraint '{name}' refers to non-existing column '{column}'."))
        }
        (Generated(name), P::AutoIncrement) => {
            (3109, format!("Generated column '{name}' cannot refer to auto-increment column."))
        }
        (Default(name), P::AutoIncrement) => {
            (3768, format!("Default value expression of column '{name}' cannot refer to an auto-increment column."))
        }
        (Check(name), P::AutoIncrement) => (3818, format!("Check constraint '{name}' cannot refer to an auto-increment column.")),
        (Generated(_), P::NotPrior) => (3107, "Generated column can refer only to generated columns defined prior to it.".into()),
        (Index(name), problem) => index_expr_error(name, problem),
        (Default(name), P::NotPrior) => (
            3767,
            format!(
                "Default value expression of column '{name}' cannot refer to a column defined after it if that column is a generated \
                 column or has an expression as default value."
            ),
        ),
    }
}

/// An expression whose value an index cannot have.
fn index_expr_error(name: &str, problem: &RowExprProblem) -> (u16, String) {
    match problem {
        RowExprProblem::AutoIncrement => (3754, format!("Functional index '{name}' cannot refer to an auto-increment column.")),
        RowExprProblem::RowValue => (3800, format!("Expression of functional index '{name}' cannot refer to a row value.")),
        RowExprProblem::UnknownColumn(column) => (1054, format!("Unknown column '{column}' in 'functional index'")),
        RowExprProblem::Variable => {
            (3772, format!("Default value expression of column '{name}' cannot refer user or system variables."))
        }
        _ => (3758, format!("Expression of functional index '{name}' contains a disallowed function.")),
    }
}

/// A functional key part that cannot be one.
pub(super) fn key_part_error(problem: KeyPartProblem) -> (u16, String) {
    use KeyPartProblem as P;
    let (number, message) = match problem {
        P::Json => (3753, "Cannot create a functional index on a function that returns a JSON or GEOMETRY value."),
        P::Primary => (3756, "The primary key cannot be a functional index"),
        P::Lob => {
            (3757, "Cannot create a functional index on an expression that returns a BLOB or TEXT. Please consider using CAST.")
        }
        P::FullText => (3759, "Fulltext functional index is not supported."),
        P::Spatial => (3760, "Spatial functional index is not supported."),
        P::Null => (3761, "The used storage engine cannot index the expression 'NULL'."),
        P::Column => (3762, "Functional index on a column is not supported. Consider using a regular index instead."),
    };
    (number, message.to_owned())
}
