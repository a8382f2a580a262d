//! Judges a settled history by the declared contract, which is InnoDB's as its manual describes it ("InnoDB Transaction Model").
//!
//! | level            | plain reads                                  | locking reads, changes                                      |
//! |------------------|----------------------------------------------|-------------------------------------------------------------|
//! | READ UNCOMMITTED | whatever is there                            | the newest committed version, locked until the end          |
//! | READ COMMITTED   | one snapshot for each statement              | as above; rows that are not there are not locked            |
//! | REPEATABLE READ  | one snapshot, taken by the first plain read  | as above, and what is not there stays so: gaps are locked   |
//! | SERIALIZABLE     | are locking reads                            | as above                                                    |
//!
//! Everybody sees their own changes. So at REPEATABLE READ a change may follow a version that the transaction's plain reads do not see:
//! a change decided on a plain read may lose another's update. That is the contract, not an anomaly; a change never loses an update of the row
//! it replaces, because it starts from the newest version.
//!
//! 1. `moments` uses the times of the calls: each snapshot is one moment, what is locked does not change, nothing is read that was not
//!    committed. 2. `cycles` uses only what was read and written, as Elle does (Kingsbury, Alvaro: "Elle: Inferring Isolation Anomalies from
//!    Experimental Observations", VLDB 2020): lists give the order of versions, and no cycle may come of it.

mod cycles;
mod moments;
mod versions;

use crate::history::History;

/// How much was judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    pub reads: u64,
    pub dependencies: u64,
}

/// # Errors
/// The first anomaly, for people.
pub fn check(history: &History) -> Result<Judged, String> {
    let versions = versions::collect(history);
    versions::follow_each_other(&versions, history)?;
    let reads = moments::check(history, &versions)?;
    let dependencies = cycles::check(history)?;
    Ok(Judged { reads, dependencies })
}

#[cfg(test)]
mod tests;
