//! ALTER TABLE ... EXCHANGE PARTITION.

use super::{job, qualify};
use crate::error::{Error, Result};
use crate::session::State;
use conditions::Condition;
use sql::ast::ObjectName;
use types::partition::PartitionError;

/// ALTER TABLE ... EXCHANGE PARTITION. Rows are checked also WITHOUT VALIDATION: a partition has no place for others.
pub async fn exchange(state: &mut State<'_>, table: &ObjectName<'_>, name: &str, other: &ObjectName<'_>) -> Result<()> {
    let (whole_name, other_name) = (qualify(state, table)?, qualify(state, other)?);
    if whole_name == other_name {
        return Err(Error::from(Condition::NonUniqTable { table: other.name.into() }));
    }
    let other_def = state.find_table(other)?;
    if other_def.view.is_some() {
        return Err(Error::from(Condition::CheckNoSuchTable));
    }
    if other_def.id.is_temporary() {
        return Err(partition_error(PartitionError::ExchangeTemporary { table: other.name.to_owned() }));
    }
    let (names, name) = ([whole_name, other_name], name.to_owned());
    job(state, move |tables, worker, options| tables.exchange_partition(worker, names, &name, options)).await
}

pub(super) fn partition_error(error: PartitionError) -> Error {
    Error::Sql(sql::Error::Partition(error))
}
