//! Who else is busy: what tells a thread whether to spin, to sleep, or to do a thing itself.

/// Which sessions are busy, besides one of a thread: who flushes its commits depends on that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Company {
    /// None: the thread flushes its commits itself, and nobody is woken for it.
    Nobody,
    /// Sessions of other threads, and none of this one: the thread flushes itself where commits are rare.
    OtherThreads,
    /// Another session of the same thread, for all it knows: it goes on with that.
    #[default]
    ThisThread,
}
