//! Requests of a browser, from method to body, before a server that takes no connections: answers are known ones, nobody sees anything
//! without a login, and nothing panics.
#![no_main]

use console::harness::Harness;
use libfuzzer_sys::fuzz_target;

thread_local! {
    // Without a directory the curves are in memory.
    static HARNESS: Harness = Harness::new(std::path::Path::new("/nonexistent"));
}

fuzz_target!(|data: &[u8]| {
    HARNESS.with(|harness| harness.answer(data));
});
