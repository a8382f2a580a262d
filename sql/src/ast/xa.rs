//! Statements about branches of distributed transactions (manual, section 15.3.8).

/// Bytes of each of the two texts of an identifier.
pub const XID_TEXT_MAX: usize = 64;

/// The identifier of a branch: global transaction, branch qualifier, format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Xid<'a> {
    pub gtrid: &'a [u8],
    pub bqual: &'a [u8],
    pub format: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Xa<'a> {
    /// `resumes`: with JOIN or RESUME, which MySQL refuses.
    Start {
        xid: Xid<'a>,
        resumes: bool,
    },
    /// `suspends`: with SUSPEND, which MySQL refuses.
    End {
        xid: Xid<'a>,
        suspends: bool,
    },
    Prepare(Xid<'a>),
    Commit {
        xid: Xid<'a>,
        one_phase: bool,
    },
    Rollback(Xid<'a>),
    /// `converts`: identifiers are shown as hexadecimal numbers.
    Recover {
        converts: bool,
    },
}
