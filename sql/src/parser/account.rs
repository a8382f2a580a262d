//! CREATE USER, GRANT and the other statements about accounts, roles and privileges.
//!
//! The list after GRANT or REVOKE holds roles or privileges. Only the word after the list decides (`ON`, or `TO` and
//! `FROM`), so each item is kept in both readings until then.

use super::Parser;
use crate::arena::ArenaVec;
use crate::ast::*;
use crate::error::{Error, Result};
use crate::keyword::Keyword as K;
use crate::lexer::Token;

/// MySQL's bounds, in characters.
const USER_CHARS_MAX: usize = 32;
const HOST_CHARS_MAX: usize = 255;

/// An item of GRANT's list: a role, or a privilege.
#[derive(Clone, Copy)]
struct Item<'a> {
    role: Option<AccountName<'a>>,
    privilege: PrivilegeSpec<'a>,
}

impl<'a> Parser<'a> {
    fn account(&mut self, statement: AccountStatement<'a>) -> Result<Statement<'a>> {
        Ok(Statement::Account(self.arena.node(statement)))
    }

    /// `name`, `name@host`, `'name'@'host'`, CURRENT_USER(), USER()
    pub(super) fn account_name(&mut self) -> Result<AccountName<'a>> {
        let is_user_call = self.at_word("USER") && self.peek() == Token::LeftParen;
        if self.at_kw(K::CurrentUser) || is_user_call {
            self.bump();
            if self.accept(Token::LeftParen) {
                self.expect(Token::RightParen)?;
            }
            return Ok(AccountName::Current);
        }
        let user = self.ident_or_string()?;
        self.with_host(user)
    }

    /// The `@host` after a name.
    fn with_host(&mut self, user: &'a str) -> Result<AccountName<'a>> {
        let host = match self.token {
            Token::Variable(name) => {
                self.bump();
                self.utf8(name)?
            }
            Token::QuotedVariable { name, quote, escaped } => {
                let name = self.resolve(name, quote, escaped);
                self.bump();
                self.utf8(name)?
            }
            _ => "%",
        };
        let (user, host) = (user.trim(), host.trim());
        if user.chars().count() > USER_CHARS_MAX {
            return Err(Error::AccountNameTooLong { name: user.to_owned(), what: "user name", most: USER_CHARS_MAX });
        }
        if host.chars().count() > HOST_CHARS_MAX {
            return Err(Error::AccountNameTooLong { name: host.to_owned(), what: "host name", most: HOST_CHARS_MAX });
        }
        let mut lower: ArenaVec<'a, u8> = self.arena.list();
        lower.extend(host.bytes().map(|byte| byte.to_ascii_lowercase()));
        Ok(AccountName::Named { user, host: self.utf8(lower.into_bump_slice())? })
    }

    fn account_names(&mut self) -> Result<&'a [AccountName<'a>]> {
        self.list(|p| p.account_name())
    }

    /// CREATE USER; the first word is taken.
    pub(super) fn create_user(&mut self) -> Result<Statement<'a>> {
        self.expect_word("USER")?;
        let if_not_exists = self.if_not_exists()?;
        let users = self.list(|p| p.user_spec(true))?;
        let mut default_roles: &[AccountName<'a>] = &[];
        if self.accept_kw(K::Default) {
            self.expect_word("ROLE")?;
            default_roles = self.account_names()?;
        }
        let options = self.account_options()?;
        self.account(AccountStatement::CreateUser { if_not_exists, users, default_roles, options })
    }

    /// ALTER USER; the first word is taken.
    pub(super) fn alter_user(&mut self) -> Result<Statement<'a>> {
        self.expect_word("USER")?;
        let if_exists = self.if_exists()?;
        let users = self.list(|p| p.user_spec(false))?;
        if self.accept_kw(K::Default) {
            self.expect_word("ROLE")?;
            let roles = self.role_choice()?;
            let mut names: ArenaVec<'a, AccountName<'a>> = self.arena.list();
            names.extend(users.iter().map(|user| user.name));
            return self.account(AccountStatement::SetDefaultRole { roles, users: names.into_bump_slice() });
        }
        let options = self.account_options()?;
        self.account(AccountStatement::AlterUser { if_exists, users, options })
    }

    /// `new`: it has no password yet.
    fn user_spec(&mut self, new: bool) -> Result<UserSpec<'a>> {
        let name = self.account_name()?;
        let mut spec = UserSpec { name, authentication: Authentication::Kept, replaces: None, retains: false };
        if self.at_word("ADD") || self.at_kw(K::Add) || self.at_kw(K::Drop) || self.at_word("MODIFY") {
            return Err(Error::NotSupported("second authentication factors".to_owned()));
        }
        if !new && self.accept_word("DISCARD") {
            self.expect_word("OLD")?;
            self.expect_word("PASSWORD")?;
            spec.authentication = Authentication::DiscardOld;
            return Ok(spec);
        }
        if !self.accept_word("IDENTIFIED") {
            return Ok(spec);
        }
        let plugin = if self.accept_kw(K::With) { Some(self.ident_or_string()?) } else { None };
        spec.authentication = if self.accept_kw(K::By) {
            if self.accept_word("RANDOM") {
                self.expect_word("PASSWORD")?;
                Authentication::Random { plugin }
            } else {
                Authentication::Password { plugin, password: self.string()? }
            }
        } else if let (Some(plugin), true) = (plugin, self.accept_kw(K::As)) {
            let hash = match self.token {
                Token::Hex(digits) => self.hex_bytes(digits)?,
                _ => self.string()?,
            };
            Authentication::Hash { plugin, hash }
        } else if let Some(plugin) = plugin {
            Authentication::Plugin(plugin)
        } else {
            return Err(self.error());
        };
        if !new {
            self.replaced_password(&mut spec)?;
        }
        if self.at_kw(K::And) {
            return Err(Error::NotSupported("second authentication factors".to_owned()));
        }
        Ok(spec)
    }

    /// `[REPLACE 'current'] [RETAIN CURRENT PASSWORD]`
    fn replaced_password(&mut self, spec: &mut UserSpec<'a>) -> Result<()> {
        if self.accept_kw(K::Replace) {
            spec.replaces = Some(self.string()?);
        }
        spec.retains = self.accept_word("RETAIN");
        if spec.retains {
            self.expect_word("CURRENT")?;
            self.expect_word("PASSWORD")?;
        }
        Ok(())
    }

    fn hex_bytes(&mut self, digits: &'a [u8]) -> Result<&'a [u8]> {
        let mut bytes: ArenaVec<'a, u8> = self.arena.list();
        let value = |digit: u8| char::from(digit).to_digit(16).unwrap_or(0) as u8;
        if digits.len() % 2 == 1 {
            return Err(self.error());
        }
        bytes.extend(digits.chunks(2).map(|pair| value(pair[0]) << 4 | value(pair[1])));
        self.bump();
        Ok(bytes.into_bump_slice())
    }

    /// REQUIRE, WITH, then the rest in any order.
    fn account_options(&mut self) -> Result<&'a [AccountOption<'a>]> {
        let mut options: ArenaVec<'a, AccountOption<'a>> = self.arena.list();
        if self.accept_kw(K::Require) {
            options.push(AccountOption::Require(self.requirement()?));
        }
        if self.accept_kw(K::With) {
            loop {
                let resource = match () {
                    () if self.accept_word("MAX_QUERIES_PER_HOUR") => Resource::Queries,
                    () if self.accept_word("MAX_UPDATES_PER_HOUR") => Resource::Updates,
                    () if self.accept_word("MAX_CONNECTIONS_PER_HOUR") => Resource::Connections,
                    () if self.accept_word("MAX_USER_CONNECTIONS") => Resource::UserConnections,
                    () => return Err(self.error()),
                };
                options.push(AccountOption::Limit(resource, self.number()?));
                if !matches!(self.token, Token::Word(word) if word.len() > 4 && word[..4].eq_ignore_ascii_case(b"MAX_")) {
                    break;
                }
            }
        }
        while let Some(option) = self.account_option()? {
            options.push(option);
        }
        Ok(options.into_bump_slice())
    }

    fn account_option(&mut self) -> Result<Option<AccountOption<'a>>> {
        if self.accept_word("PASSWORD") {
            return self.password_option().map(Some);
        }
        if self.accept_word("ACCOUNT") {
            let lock = self.accept_kw(K::Lock);
            if !lock {
                self.expect_kw(K::Unlock)?;
            }
            return Ok(Some(AccountOption::Lock(lock)));
        }
        if self.accept_word("FAILED_LOGIN_ATTEMPTS") {
            return Ok(Some(AccountOption::FailedLogins(self.number()?)));
        }
        if self.accept_word("PASSWORD_LOCK_TIME") {
            let days = if self.accept_word("UNBOUNDED") { None } else { Some(self.number()?) };
            return Ok(Some(AccountOption::LockDays(days)));
        }
        if self.accept_word("COMMENT") {
            return Ok(Some(AccountOption::Comment(self.string()?)));
        }
        if self.accept_word("ATTRIBUTE") {
            return Ok(Some(AccountOption::Attribute(self.string()?)));
        }
        Ok(None)
    }

    fn password_option(&mut self) -> Result<AccountOption<'a>> {
        if self.accept_word("EXPIRE") {
            let expiry = match () {
                () if self.accept_kw(K::Default) => Expiry::Default,
                () if self.accept_word("NEVER") => Expiry::Never,
                () if self.accept_kw(K::Interval) => {
                    let days = self.number()?;
                    self.expect_word("DAY")?;
                    Expiry::Days(days)
                }
                () => Expiry::Now,
            };
            return Ok(AccountOption::Expire(expiry));
        }
        if self.accept_word("HISTORY") {
            let count = if self.accept_kw(K::Default) { None } else { Some(self.number()?) };
            return Ok(AccountOption::History(count));
        }
        if self.accept_word("REUSE") {
            self.expect_kw(K::Interval)?;
            if self.accept_kw(K::Default) {
                return Ok(AccountOption::ReuseDays(None));
            }
            let days = self.number()?;
            self.expect_word("DAY")?;
            return Ok(AccountOption::ReuseDays(Some(days)));
        }
        self.expect_kw(K::Require)?;
        self.expect_word("CURRENT")?;
        Ok(AccountOption::RequireCurrent(match () {
            () if self.accept_kw(K::Default) => None,
            () if self.accept_word("OPTIONAL") => Some(false),
            () => Some(true),
        }))
    }

    fn requirement(&mut self) -> Result<Requirement<'a>> {
        let mut needed = Requirement::default();
        if self.accept_word("NONE") {
            return Ok(needed);
        }
        if self.accept_kw(K::Ssl) {
            needed.ssl = true;
            return Ok(needed);
        }
        if self.accept_word("X509") {
            needed.x509 = true;
            return Ok(needed);
        }
        loop {
            let field = match () {
                () if self.accept_word("SUBJECT") => &mut needed.subject,
                () if self.accept_word("ISSUER") => &mut needed.issuer,
                () if self.accept_word("CIPHER") => &mut needed.cipher,
                () => return Err(self.error()),
            };
            *field = Some(self.string()?);
            self.accept_kw(K::And);
            if !(self.at_word("SUBJECT") || self.at_word("ISSUER") || self.at_word("CIPHER")) {
                return Ok(needed);
            }
        }
    }

    /// DROP USER; the first word is taken.
    pub(super) fn drop_user(&mut self) -> Result<Statement<'a>> {
        self.expect_word("USER")?;
        let if_exists = self.if_exists()?;
        let names = self.account_names()?;
        self.account(AccountStatement::DropUser { if_exists, names })
    }

    /// RENAME USER; the first word is taken.
    pub(super) fn rename_user(&mut self) -> Result<Statement<'a>> {
        self.expect_word("USER")?;
        let pairs = self.list(|p| {
            let from = p.account_name()?;
            p.expect_kw(K::To)?;
            Ok((from, p.account_name()?))
        })?;
        self.account(AccountStatement::RenameUser { pairs })
    }

    /// CREATE ROLE; the first word is taken.
    pub(super) fn create_role(&mut self) -> Result<Statement<'a>> {
        self.expect_word("ROLE")?;
        let if_not_exists = self.if_not_exists()?;
        let names = self.account_names()?;
        self.account(AccountStatement::CreateRole { if_not_exists, names })
    }

    /// DROP ROLE; the first word is taken.
    pub(super) fn drop_role(&mut self) -> Result<Statement<'a>> {
        self.expect_word("ROLE")?;
        let if_exists = self.if_exists()?;
        let names = self.account_names()?;
        self.account(AccountStatement::DropRole { if_exists, names })
    }

    pub(super) fn grant(&mut self) -> Result<Statement<'a>> {
        self.bump();
        if self.accept_proxy()? {
            let on = self.account_name()?;
            self.expect_kw(K::To)?;
            let to = self.account_names()?;
            let grant_option = self.with_grant_option()?;
            return self.account(AccountStatement::GrantProxy { on, to, grant_option });
        }
        let items = self.list(|p| p.grant_item())?;
        if self.accept_kw(K::To) {
            let roles = self.roles_of(items)?;
            let to = self.account_names()?;
            let admin_option = self.accept_kw(K::With);
            if admin_option {
                self.expect_word("ADMIN")?;
                self.expect_kw(K::Option)?;
            }
            return self.account(AccountStatement::GrantRoles { roles, to, admin_option });
        }
        self.expect_kw(K::On)?;
        let level = self.grant_level()?;
        let privileges = self.privileges_of(items);
        self.expect_kw(K::To)?;
        let to = self.account_names()?;
        let grant_option = self.with_grant_option()?;
        let grantor = if self.accept_kw(K::As) { Some(self.grantor()?) } else { None };
        self.account(AccountStatement::Grant { privileges, level, to, grant_option, grantor })
    }

    fn with_grant_option(&mut self) -> Result<bool> {
        let is_given = self.accept_kw(K::With);
        if is_given {
            self.expect_kw(K::Grant)?;
            self.expect_kw(K::Option)?;
        }
        Ok(is_given)
    }

    /// `user [WITH ROLE ...]`
    fn grantor(&mut self) -> Result<(AccountName<'a>, RoleChoice<'a>)> {
        let name = self.account_name()?;
        if !self.accept_kw(K::With) {
            return Ok((name, RoleChoice::Default));
        }
        self.expect_word("ROLE")?;
        Ok((name, self.role_choice()?))
    }

    /// `PROXY ON`
    fn accept_proxy(&mut self) -> Result<bool> {
        let is_proxy = self.accept_word("PROXY");
        if is_proxy {
            self.expect_kw(K::On)?;
        }
        Ok(is_proxy)
    }

    pub(super) fn revoke(&mut self) -> Result<Statement<'a>> {
        self.bump();
        let if_exists = self.if_exists()?;
        if self.accept_proxy()? {
            let on = self.account_name()?;
            self.expect_kw(K::From)?;
            let from = self.revoke_from(if_exists)?;
            return self.account(AccountStatement::RevokeProxy { on, from });
        }
        let items = self.list(|p| p.grant_item())?;
        if self.accept_kw(K::From) {
            let from = self.revoke_from(if_exists)?;
            if let [first, second] = items
                && first.privilege.name == "ALL"
                && second.privilege.name == "GRANT OPTION"
            {
                return self.account(AccountStatement::RevokeAll { from });
            }
            let roles = self.roles_of(items)?;
            return self.account(AccountStatement::RevokeRoles { roles, from });
        }
        self.expect_kw(K::On)?;
        let level = self.grant_level()?;
        let privileges = self.privileges_of(items);
        self.expect_kw(K::From)?;
        let from = self.revoke_from(if_exists)?;
        self.account(AccountStatement::Revoke { privileges, level, from })
    }

    /// `users [IGNORE UNKNOWN USER]`
    fn revoke_from(&mut self, if_exists: bool) -> Result<RevokeFrom<'a>> {
        let names = self.account_names()?;
        let ignore_unknown = self.accept_kw(K::Ignore);
        if ignore_unknown {
            self.expect_word("UNKNOWN")?;
            self.expect_word("USER")?;
        }
        Ok(RevokeFrom { names, if_exists, ignore_unknown })
    }

    fn grant_item(&mut self) -> Result<Item<'a>> {
        let mut name: ArenaVec<'a, u8> = self.arena.list();
        let mut role = None;
        let mut words = 0;
        loop {
            match self.token {
                Token::Keyword(K::On | K::To | K::From) => break,
                Token::Word(word) => {
                    if words == 0 {
                        role = Some(self.utf8(word)?);
                    }
                    name.extend(word.iter().map(u8::to_ascii_uppercase));
                    self.bump();
                }
                Token::Keyword(_) => {
                    let word = &self.text[self.start..self.lexer.position()];
                    name.extend(word.iter().map(u8::to_ascii_uppercase));
                    self.bump();
                }
                Token::Quoted { .. } | Token::String { .. } | Token::Underscore(_) if words == 0 => {
                    let text = self.ident_or_string()?;
                    role = Some(text);
                    name.extend(text.bytes().map(|byte| byte.to_ascii_uppercase()));
                    words += 1;
                    break;
                }
                _ => break,
            }
            words += 1;
            name.push(b' ');
        }
        if words == 0 {
            return Err(self.error());
        }
        let role = match (role, words) {
            (Some(role), 1) => Some(self.with_host(role)?),
            _ => None,
        };
        let columns: &[&str] = if self.at(Token::LeftParen) { self.paren_list(|p| p.ident())? } else { &[] };
        let name = self.utf8(name.into_bump_slice())?.trim_end();
        let name = if name == "ALL PRIVILEGES" { "ALL" } else { name };
        Ok(Item { role, privilege: PrivilegeSpec { name, columns } })
    }

    fn roles_of(&self, items: &'a [Item<'a>]) -> Result<&'a [AccountName<'a>]> {
        let mut roles: ArenaVec<'a, AccountName<'a>> = self.arena.list();
        for item in items {
            roles.push(item.role.filter(|_| item.privilege.columns.is_empty()).ok_or_else(|| self.error())?);
        }
        Ok(roles.into_bump_slice())
    }

    fn privileges_of(&self, items: &'a [Item<'a>]) -> &'a [PrivilegeSpec<'a>] {
        let mut privileges: ArenaVec<'a, PrivilegeSpec<'a>> = self.arena.list();
        privileges.extend(items.iter().map(|item| item.privilege));
        privileges.into_bump_slice()
    }

    fn grant_level(&mut self) -> Result<GrantLevel<'a>> {
        if self.at_kw(K::Function) || self.at_kw(K::Procedure) {
            let function = self.at_kw(K::Function);
            self.bump();
            return Ok(GrantLevel::Routine { function, name: self.object_name()? });
        }
        let _ = self.at_kw(K::Table) && {
            self.bump();
            true
        };
        if self.accept(Token::Star) {
            if !self.accept(Token::Dot) {
                return Ok(GrantLevel::Database(None));
            }
            self.expect(Token::Star)?;
            return Ok(GrantLevel::Global);
        }
        let first = self.ident()?;
        if !self.accept(Token::Dot) {
            return Ok(GrantLevel::Table(ObjectName { database: None, name: first }));
        }
        if self.accept(Token::Star) {
            return Ok(GrantLevel::Database(Some(first)));
        }
        Ok(GrantLevel::Table(ObjectName { database: Some(first), name: self.ident()? }))
    }

    fn role_choice(&mut self) -> Result<RoleChoice<'a>> {
        if self.accept_word("NONE") {
            return Ok(RoleChoice::None);
        }
        if self.accept_kw(K::Default) {
            return Ok(RoleChoice::Default);
        }
        if self.accept_kw(K::All) {
            if self.accept_kw(K::Except) {
                return Ok(RoleChoice::AllExcept(self.account_names()?));
            }
            return Ok(RoleChoice::All);
        }
        Ok(RoleChoice::These(self.account_names()?))
    }

    /// SET ROLE; SET is taken.
    pub(super) fn set_role(&mut self) -> Result<Statement<'a>> {
        self.expect_word("ROLE")?;
        let choice = self.role_choice()?;
        self.account(AccountStatement::SetRole(choice))
    }

    /// SET DEFAULT ROLE; SET is taken.
    pub(super) fn set_default_role(&mut self) -> Result<Statement<'a>> {
        self.expect_kw(K::Default)?;
        self.expect_word("ROLE")?;
        let roles = self.role_choice()?;
        if matches!(roles, RoleChoice::Default | RoleChoice::AllExcept(_)) {
            return Err(self.error());
        }
        self.expect_kw(K::To)?;
        let users = self.account_names()?;
        self.account(AccountStatement::SetDefaultRole { roles, users })
    }

    /// SET PASSWORD; SET is taken.
    pub(super) fn set_password(&mut self) -> Result<Statement<'a>> {
        self.expect_word("PASSWORD")?;
        let user = if self.accept_kw(K::For) { self.account_name()? } else { AccountName::Current };
        let authentication = if self.accept_kw(K::To) {
            self.expect_word("RANDOM")?;
            Authentication::Random { plugin: None }
        } else {
            self.expect(Token::Equal)?;
            Authentication::Password { plugin: None, password: self.string()? }
        };
        let mut spec = UserSpec { name: user, authentication, replaces: None, retains: false };
        self.replaced_password(&mut spec)?;
        self.account(AccountStatement::SetPassword(spec))
    }
}
