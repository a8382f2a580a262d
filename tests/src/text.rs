//! Values as the scripts write them.
//!
//! T1: a value is one line that shows exactly what it is: NULL is `NULL`, the empty string is `(empty)`, and bytes that are not UTF-8 are
//! `0x..`. A string that could be mistaken for one of these, or whose spaces matter, stands in quotes with escapes.
//! T2: a value of the binary protocol is written as the text protocol would have sent it.

use mysql::Value;
use mysql::consts::ColumnType as Wire;
use std::fmt::Write;

/// One value of a result.
pub fn render(value: &Value, column: &mysql::Column) -> String {
    match value {
        Value::NULL => "NULL".into(),
        Value::Bytes(bytes) => render_bytes(bytes),
        Value::Int(n) => zero_filled(n.to_string(), column),
        Value::UInt(n) => zero_filled(n.to_string(), column),
        Value::Float(x) => render_double(f64::from(*x), 6, column.decimals()),
        Value::Double(x) => render_double(*x, 17, column.decimals()),
        Value::Date(..) | Value::Time(..) => render_temporal(value, column),
    }
}

fn zero_filled(digits: String, column: &mysql::Column) -> String {
    if !column.flags().contains(mysql::consts::ColumnFlags::ZEROFILL_FLAG) {
        return digits;
    }
    format!("{digits:0>width$}", width = column.column_length() as usize)
}

fn render_bytes(bytes: &[u8]) -> String {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return bytes.iter().fold(String::from("0x"), |mut out, b| {
            write!(out, "{b:02X}").expect("a String takes all that is written");
            out
        });
    };
    if text.is_empty() {
        return "(empty)".into();
    }
    let spaced = text.starts_with(' ') || text.ends_with(' ') || text.contains("  ");
    if spaced || text == "NULL" || text == "(empty)" || text == "----" || text.chars().any(char::is_control) {
        format!("'{}'", text.escape_debug().to_string().replace("\\\"", "\"").replace("\\'", "'"))
    } else {
        text.into()
    }
}

/// As MySQL prints a FLOAT or DOUBLE: shortest digits that read back, exponent form outside 1e-15 .. 1e15.
fn render_double(x: f64, digits: usize, decimals: u8) -> String {
    if decimals < 31 {
        return format!("{x:.*}", usize::from(decimals));
    }
    let shortest = if digits == 6 { shortest_float(x as f32) } else { format!("{x:e}") };
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if x == 0.0 || (-15..=14).contains(&exponent) {
        let plain: f64 = shortest.parse().unwrap_or(x);
        return format!("{plain}");
    }
    format!("{mantissa}e{exponent}")
}

/// FLOAT shows six digits.
fn shortest_float(x: f32) -> String {
    let text = format!("{x:.5e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mantissa = if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
    format!("{mantissa}e{exponent}")
}

fn render_temporal(value: &Value, column: &mysql::Column) -> String {
    let decimals = usize::from(column.decimals().min(6));
    let fraction = |micros: u32| {
        if decimals == 0 { String::new() } else { format!(".{}", &format!("{micros:06}")[..decimals]) }
    };
    match *value {
        Value::Date(y, m, d, ..) if column.column_type() == Wire::MYSQL_TYPE_DATE => format!("{y:04}-{m:02}-{d:02}"),
        Value::Date(y, m, d, hour, minute, second, micros) => {
            format!("{y:04}-{m:02}-{d:02} {hour:02}:{minute:02}:{second:02}{}", fraction(micros))
        }
        Value::Time(negative, days, hours, minute, second, micros) => {
            let hours = days * 24 + u32::from(hours);
            format!("{}{hours:02}:{minute:02}:{second:02}{}", if negative { "-" } else { "" }, fraction(micros))
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_show_what_they_are() {
        let cases: [(&[u8], &str); 8] = [
            (b"plain text", "plain text"),
            (b"", "(empty)"),
            (b"NULL", "'NULL'"),
            (b"a ", "'a '"),
            (b"a\nb", "'a\\nb'"),
            (b"it's", "it's"),
            (b"a  \"b\"", "'a  \"b\"'"),
            (&[0xff, 0x00], "0xFF00"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(render_bytes(bytes), expected);
        }
    }

    #[test]
    fn doubles_print_as_mysql_prints_them() {
        for (x, expected) in
            [(1.5, "1.5"), (0.0, "0"), (1e15, "1e15"), (1e14, "100000000000000"), (1e-16, "1e-16"), (-2.5e300, "-2.5e300")]
        {
            assert_eq!(render_double(x, 17, 31), expected);
        }
        assert_eq!(render_double(f64::from(3.402_823_5e38_f32), 6, 31), "3.40282e38");
        assert_eq!(render_double(2.0, 17, 2), "2.00");
    }
}
