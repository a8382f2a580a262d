//! Tests of what happens between two steps of a call: something of another session is done just there. In test builds only.

use std::cell::RefCell;

type Step = Box<dyn FnOnce()>;

thread_local! {
    static STEP: RefCell<Option<Step>> = const { RefCell::new(None) };
}

/// Has `step` done when this thread comes to [`here`] for the next time.
pub(crate) fn at_next(step: impl FnOnce() + 'static) {
    STEP.set(Some(Box::new(step)));
}

/// The place between the two steps.
pub(crate) fn here() {
    if let Some(step) = STEP.take() {
        step();
    }
}
