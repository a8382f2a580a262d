//! The statements about accounts, roles and privileges, and what each statement needs. What accounts are is the crate `accounts`.
//!
//! - `check`: what each statement needs; `needs`: what a plan needs; `statement`, `grant`: the statements; `show`: SHOW GRANTS and its kin.
//!
//! A2: what is refused is refused before anything is read or written.

mod check;
mod grant;
mod needs;
mod show;
mod statement;

pub use grant::{forget_routine, grant_to_maker};
pub use needs::{Gathering, Needs, is_free};
pub use show::{create_user, grants, json_text};
pub use statement::{change, run};
