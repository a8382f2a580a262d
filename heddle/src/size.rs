//! Sizes as people write them: `4G`, `512M`, `64k`, `1.5GiB`, `1048576`.

/// Bytes of a size, with powers of 1024; or what is wrong with it.
pub fn parse(text: &str) -> Result<u64, String> {
    let wrong = || format!("'{text}' is not a size such as 512M, 4G or 1.5G");
    let trimmed = text.trim();
    let digits = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(digits);
    let shift = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return Err(wrong()),
    };
    let too_large = || format!("'{text}' is too large");
    if let Some((whole, fraction)) = number.split_once('.') {
        let value: f64 = format!("{whole}.{fraction}").parse().map_err(|_| wrong())?;
        let bytes = value * (1u64 << shift) as f64;
        return if bytes < 9e18 { Ok(bytes as u64) } else { Err(too_large()) };
    }
    if number.is_empty() {
        return Err(wrong());
    }
    number.parse::<u64>().ok().and_then(|value| value.checked_mul(1 << shift)).ok_or_else(too_large)
}

/// The shortest exact text up to one decimal: `4 GiB`, `1.5 GiB`, `130 MiB`.
pub fn text(bytes: u64) -> String {
    let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.into_iter().find(|(shift, _)| bytes >> shift > 0) {
        None => format!("{bytes} bytes"),
        Some((shift, unit)) => {
            let tenths = (bytes as f64 / (1u64 << shift) as f64 * 10.0).round() / 10.0;
            format!("{tenths} {unit}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let check = |text: &str, expected: Option<u64>| assert_eq!(parse(text).ok(), expected, "{text}");
        check("0", Some(0));
        check("1048576", Some(1 << 20));
        check("64k", Some(64 << 10));
        check("512M", Some(512 << 20));
        check("4G", Some(4 << 30));
        check(" 4 GiB ", Some(4 << 30));
        check("1.5g", Some(3 << 29));
        check("2T", Some(2 << 40));
        for bad in ["", "G", "4X", "-1G", "four", "4GG", "1.2.3G", ".", "99999999999999999999", "99999999T", "9.9e9T", "1e9"] {
            check(bad, None);
        }
        assert_eq!(parse("4X").unwrap_err(), "'4X' is not a size such as 512M, 4G or 1.5G");
    }

    #[test]
    fn texts() {
        assert_eq!(text(4 << 30), "4 GiB");
        assert_eq!(text(3 << 29), "1.5 GiB");
        assert_eq!(text(100), "100 bytes");
    }
}
