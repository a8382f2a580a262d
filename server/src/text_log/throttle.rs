//! `log_throttle_queries_not_using_indexes`: a limit per minute of statements that the slow log has only because they use
//! no index.

/// A minute, in microseconds.
const WINDOW_US: i64 = 60_000_000;

/// The statements that were left out in one minute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Suppressed {
    pub count: u64,
    pub taken_us: u64,
    pub lock_us: u64,
}

/// The current minute: it begins with the first statement after the last one.
#[derive(Debug, Default)]
pub struct Throttle {
    ends_us: i64,
    admitted: u64,
    suppressed: Suppressed,
}

impl Throttle {
    /// May a statement be written that took so long? And what was left out in the minute before, if that has ended with
    /// this statement.
    pub fn admit(&mut self, per_minute: u64, taken_us: u64, lock_us: u64, now_us: i64) -> (bool, Option<Suppressed>) {
        let mut summary = None;
        // A limit that was lifted ends the minute, and so does a clock that was set back.
        if per_minute == 0 || now_us >= self.ends_us || self.ends_us - now_us > WINDOW_US {
            let suppressed = std::mem::take(&mut self.suppressed);
            summary = (suppressed.count > 0).then_some(suppressed);
            self.ends_us = now_us.saturating_add(WINDOW_US);
            self.admitted = 0;
        }
        if per_minute == 0 || self.admitted < per_minute {
            self.admitted += 1;
            return (true, summary);
        }
        self.suppressed.count += 1;
        self.suppressed.taken_us += taken_us;
        self.suppressed.lock_us += lock_us;
        (false, summary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_has_a_limit_and_a_summary() {
        let mut throttle = Throttle::default();
        let at = |second: i64| second * 1_000_000;
        assert_eq!(throttle.admit(2, 5, 1, at(1000)), (true, None));
        assert_eq!(throttle.admit(2, 5, 1, at(1010)), (true, None));
        assert_eq!(throttle.admit(2, 5, 1, at(1020)), (false, None));
        assert_eq!(throttle.admit(2, 7, 2, at(1059)), (false, None));
        assert_eq!(throttle.admit(2, 5, 1, at(1060)), (true, Some(Suppressed { count: 2, taken_us: 12, lock_us: 3 })));
        assert_eq!(throttle.admit(1, 5, 1, at(1061)), (false, None));
        assert_eq!(throttle.admit(0, 5, 1, at(1062)), (true, Some(Suppressed { count: 1, taken_us: 5, lock_us: 1 })));
        assert_eq!(throttle.admit(0, 5, 1, at(1063)), (true, None));
    }
}
