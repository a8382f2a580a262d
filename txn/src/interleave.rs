//! Hooks for tests that run another session's action between two steps of a call. In test builds only.

use std::cell::RefCell;

type Step = Box<dyn FnOnce()>;

thread_local! {
    static STEP: RefCell<Option<Step>> = const { RefCell::new(None) };
}

/// Runs `step` when this thread reaches [`here`] the next time.
pub(crate) fn at_next(step: impl FnOnce() + 'static) {
    STEP.set(Some(Box::new(step)));
}

/// The place between the two steps.
pub(crate) fn here() {
    if let Some(step) = STEP.take() {
        step();
    }
}
