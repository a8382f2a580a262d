//! The statements about accounts, roles and privileges, and the privileges that each statement needs. The crate
//! `accounts` has the model.
//!
//! - `check`: the privileges of each statement; `needs`: those of a plan; `statement`, `grant`: the statements; `show`:
//!   SHOW GRANTS and the like.
//!
//! A2: a statement that is refused has read and written nothing.

mod check;
mod grant;
mod needs;
mod show;
mod statement;

pub use grant::{forget_routine, grant_to_maker};
pub use needs::{Definers, Gathering, Needs, is_free};
pub use show::{create_user, grants, json_text};
pub use statement::{change, run};
