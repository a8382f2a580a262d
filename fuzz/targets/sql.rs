//! Any bytes as SQL: statement after statement, as a client with multi-statements sends them.
//!
//! The first byte chooses the parts of sql_mode that change how text is read. Checked beyond "no panic": parsing makes progress, and an
//! arena can be used again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use types::SqlMode;

fuzz_target!(|data: &[u8]| {
    let Some((&choice, mut text)) = data.split_first() else { return };
    let mode = mode(choice);
    let mut arena = sql::Arena::new();
    while !text.is_empty() {
        arena.reset();
        let Ok(parsed) = sql::parse(&arena, text, &mode) else { break };
        let end = parsed.end;
        assert!(end > 0 && end <= text.len());
        text = &text[end..];
    }
    let _ = sql::parse_expression(&arena, &data[1..], &mode);
});

fn mode(choice: u8) -> SqlMode {
    let bit = |bit: u8| choice & 1 << bit != 0;
    SqlMode {
        strict: true,
        ansi_quotes: bit(0),
        pipes_as_concat: bit(1),
        no_backslash_escapes: bit(2),
        only_full_group_by: true,
        no_zero_date: true,
        no_zero_in_date: true,
        error_for_division_by_zero: true,
        no_auto_value_on_zero: false,
        no_unsigned_subtraction: false,
        high_not_precedence: bit(3),
        ignore_space: bit(4),
        real_as_float: bit(5),
        pad_char_to_full_length: false,
        allow_invalid_dates: false,
        time_truncate_fractional: false,
    }
}
