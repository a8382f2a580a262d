//! The syntax tree of statements about accounts, roles and privileges.

use super::ObjectName;

/// `user[@host]`, or the account of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountName<'a> {
    /// CURRENT_USER(), USER()
    Current,
    /// The host is `%` if none is written.
    Named { user: &'a str, host: &'a str },
}

/// The password clause of CREATE USER and ALTER USER.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authentication<'a> {
    /// Nothing.
    Kept,
    /// IDENTIFIED WITH plugin
    Plugin(&'a str),
    /// IDENTIFIED [WITH plugin] BY 'password'
    Password { plugin: Option<&'a str>, password: &'a [u8] },
    /// IDENTIFIED WITH plugin AS 'hash'
    Hash { plugin: &'a str, hash: &'a [u8] },
    /// IDENTIFIED [WITH plugin] BY RANDOM PASSWORD
    Random { plugin: Option<&'a str> },
    /// DISCARD OLD PASSWORD
    DiscardOld,
}

/// One account of CREATE USER or ALTER USER.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserSpec<'a> {
    pub name: AccountName<'a>,
    pub authentication: Authentication<'a>,
    /// REPLACE 'current password'
    pub replaces: Option<&'a [u8]>,
    /// RETAIN CURRENT PASSWORD
    pub retains: bool,
}

/// REQUIRE
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requirement<'a> {
    pub ssl: bool,
    pub x509: bool,
    pub subject: Option<&'a [u8]>,
    pub issuer: Option<&'a [u8]>,
    pub cipher: Option<&'a [u8]>,
}

/// PASSWORD EXPIRE
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    Now,
    Default,
    Never,
    Days(u64),
}

/// A limit of the WITH clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    Queries,
    Updates,
    Connections,
    UserConnections,
}

/// The clauses of CREATE USER and ALTER USER that apply to all their accounts. `None` is DEFAULT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountOption<'a> {
    Require(Requirement<'a>),
    Limit(Resource, u64),
    Expire(Expiry),
    History(Option<u64>),
    ReuseDays(Option<u64>),
    RequireCurrent(Option<bool>),
    FailedLogins(u64),
    /// `None`: UNBOUNDED
    LockDays(Option<u64>),
    Lock(bool),
    Comment(&'a [u8]),
    Attribute(&'a [u8]),
}

/// The roles of SET ROLE and SET DEFAULT ROLE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleChoice<'a> {
    None,
    Default,
    All,
    AllExcept(&'a [AccountName<'a>]),
    These(&'a [AccountName<'a>]),
}

/// A privilege, with the columns that it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrivilegeSpec<'a> {
    /// In capitals: `SELECT`, `CREATE TEMPORARY TABLES`, `ALL`.
    pub name: &'a str,
    pub columns: &'a [&'a str],
}

/// ON
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantLevel<'a> {
    /// `*.*`
    Global,
    /// `db.*`; `None` for `*`.
    Database(Option<&'a str>),
    Table(ObjectName<'a>),
    Routine {
        function: bool,
        name: ObjectName<'a>,
    },
}

/// The accounts of REVOKE, and its IF EXISTS and IGNORE UNKNOWN USER.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RevokeFrom<'a> {
    pub names: &'a [AccountName<'a>],
    /// IF EXISTS: a missing privilege raises a warning.
    pub if_exists: bool,
    /// IGNORE UNKNOWN USER
    pub ignore_unknown: bool,
}

/// A statement about accounts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AccountStatement<'a> {
    CreateUser {
        if_not_exists: bool,
        users: &'a [UserSpec<'a>],
        default_roles: &'a [AccountName<'a>],
        options: &'a [AccountOption<'a>],
    },
    AlterUser {
        if_exists: bool,
        users: &'a [UserSpec<'a>],
        options: &'a [AccountOption<'a>],
    },
    DropUser {
        if_exists: bool,
        names: &'a [AccountName<'a>],
    },
    RenameUser {
        pairs: &'a [(AccountName<'a>, AccountName<'a>)],
    },
    CreateRole {
        if_not_exists: bool,
        names: &'a [AccountName<'a>],
    },
    DropRole {
        if_exists: bool,
        names: &'a [AccountName<'a>],
    },
    SetPassword(UserSpec<'a>),
    Grant {
        privileges: &'a [PrivilegeSpec<'a>],
        level: GrantLevel<'a>,
        to: &'a [AccountName<'a>],
        grant_option: bool,
        /// AS user [WITH ROLE ...]
        grantor: Option<(AccountName<'a>, RoleChoice<'a>)>,
    },
    Revoke {
        privileges: &'a [PrivilegeSpec<'a>],
        level: GrantLevel<'a>,
        from: RevokeFrom<'a>,
    },
    /// REVOKE ALL PRIVILEGES, GRANT OPTION FROM
    RevokeAll {
        from: RevokeFrom<'a>,
    },
    /// GRANT PROXY ON user TO
    GrantProxy {
        on: AccountName<'a>,
        to: &'a [AccountName<'a>],
        grant_option: bool,
    },
    RevokeProxy {
        on: AccountName<'a>,
        from: RevokeFrom<'a>,
    },
    GrantRoles {
        roles: &'a [AccountName<'a>],
        to: &'a [AccountName<'a>],
        admin_option: bool,
    },
    RevokeRoles {
        roles: &'a [AccountName<'a>],
        from: RevokeFrom<'a>,
    },
    SetDefaultRole {
        roles: RoleChoice<'a>,
        users: &'a [AccountName<'a>],
    },
    SetRole(RoleChoice<'a>),
}
