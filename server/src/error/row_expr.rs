//! Errors in expressions over rows in definitions.

use conditions::Condition;
use sql::{KeyPartProblem, RowExprProblem, RowExprUse};

/// An expression that a definition cannot have.
pub(super) fn row_expr_error(usage: &RowExprUse, problem: &RowExprProblem) -> Condition {
    use RowExprProblem as P;
    use RowExprUse::{Check, Default, Generated, Index, Partition};
    match (usage, problem) {
        (Partition, P::UnknownColumn(column)) => {
            Condition::BadFieldError { column: column.into(), clause: "partition function".into() }
        }
        (Partition, _) => super::partition::partition_error(&types::partition::PartitionError::Function),
        (Generated(name), P::Function(function)) => {
            Condition::GeneratedColumnNamedFunctionIsNotAllowed { name: name.into(), function: function.into() }
        }
        (Default(name), P::Function(function)) => {
            Condition::DefaultValGeneratedNamedFunctionIsNotAllowed { name: name.into(), function: function.into() }
        }
        (Check(name), P::Function(function)) => {
            Condition::CheckConstraintNamedFunctionIsNotAllowed { name: name.into(), function: function.into() }
        }
        (Generated(name), P::Unnamed | P::DefaultFunction | P::NotBoolean | P::OtherColumn) => {
            Condition::GeneratedColumnFunctionIsNotAllowed { name: name.into() }
        }
        (Default(name), P::Unnamed | P::NotBoolean | P::OtherColumn) => {
            Condition::DefaultValGeneratedFunctionIsNotAllowed { name: name.into() }
        }
        (Check(name), P::Unnamed | P::DefaultFunction | P::NotPrior) => {
            Condition::CheckConstraintFunctionIsNotAllowed { name: name.into() }
        }
        (Generated(name) | Default(name), P::Variable) => Condition::DefaultValGeneratedVariables { name: name.into() },
        (Check(name), P::Variable) => Condition::CheckConstraintVariables { name: name.into() },
        (Generated(name), P::RowValue) => Condition::GeneratedColumnRowValue { name: name.into() },
        (Default(name), P::RowValue) => Condition::DefaultValGeneratedRowValue { name: name.into() },
        (Check(name), P::RowValue) => Condition::CheckConstraintRowValue { name: name.into() },
        (Default(_), P::DefaultFunction) => Condition::DefaultAsValGenerated,
        (Check(name), P::NotBoolean) => Condition::NonBooleanExprForCheckConstraint { name: name.into() },
        (Check(name), P::OtherColumn) => Condition::ColumnCheckConstraintReferencesOtherColumn { name: name.into() },
        (Generated(_), P::UnknownColumn(column)) => {
            Condition::BadFieldError { column: column.into(), clause: "generated column function".into() }
        }
        (Default(_), P::UnknownColumn(column)) => {
            Condition::BadFieldError { column: column.into(), clause: "default value expression".into() }
        }
        (Check(name), P::UnknownColumn(column)) => {
            Condition::CheckConstraintRefersUnknownColumn { name: name.into(), column: column.into() }
        }
        (Generated(name), P::AutoIncrement) => Condition::GeneratedColumnRefAutoInc { name: name.into() },
        (Default(name), P::AutoIncrement) => Condition::DefaultValGeneratedRefAutoInc { name: name.into() },
        (Check(name), P::AutoIncrement) => Condition::CheckConstraintRefersAutoIncrementColumn { name: name.into() },
        (Generated(_), P::NotPrior) => Condition::GeneratedColumnNonPrior,
        (Index(name), problem) => index_expr_error(name, problem),
        (Default(name), P::NotPrior) => Condition::DefaultValGeneratedNonPrior { name: name.into() },
    }
}

/// An expression whose value an index cannot have.
fn index_expr_error(name: &str, problem: &RowExprProblem) -> Condition {
    match problem {
        RowExprProblem::AutoIncrement => Condition::FunctionalIndexRefAutoIncrement { name: name.into() },
        RowExprProblem::RowValue => Condition::FunctionalIndexRowValueIsNotAllowed { name: name.into() },
        RowExprProblem::UnknownColumn(column) => {
            Condition::BadFieldError { column: column.into(), clause: "functional index".into() }
        }
        RowExprProblem::Variable => Condition::DefaultValGeneratedVariables { name: name.into() },
        _ => Condition::FunctionalIndexFunctionIsNotAllowed { name: name.into() },
    }
}

/// A functional key part that cannot be one.
pub(super) fn key_part_error(problem: KeyPartProblem) -> Condition {
    use KeyPartProblem as P;
    match problem {
        P::Json => Condition::FunctionalIndexOnJsonOrGeometryFunction,
        P::Primary => Condition::FunctionalIndexPrimaryKey,
        P::Lob => Condition::FunctionalIndexOnLob,
        P::FullText => Condition::FulltextFunctionalIndex,
        P::Spatial => Condition::SpatialFunctionalIndex,
        P::Null => Condition::WrongKeyColumnFunctionalIndex,
        P::Column => Condition::FunctionalIndexOnField,
    }
}
