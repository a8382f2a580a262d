//! Collations of one language: UCA 4.0.0 with some letters moved.
//!
//! The weights are those that MySQL's WEIGHT_STRING answers. Only languages whose letters are single characters are here: `ch`, `dz` or `aa`
//! as one letter would be weights of several characters.

/// A letter and its weights; 0: it has one.
pub(crate) type Moved = (char, u16, u16);

/// The letters that a collation moves, in their order.
pub(super) const fn letters(collation: u16) -> &'static [Moved] {
    match collation {
        225 => ICELANDIC,
        226 => LATVIAN,
        227 => ROMANIAN,
        228 => SLOVENIAN,
        229 => POLISH,
        230 => ESTONIAN,
        231 => SPANISH,
        232 => SWEDISH,
        233 => TURKISH,
        241 => ESPERANTO,
        244 => GERMAN2,
        _ => &[],
    }
}

#[rustfmt::skip]
static ICELANDIC: &[Moved] = &[
    ('Á', 0x0e34, 0), ('Ä', 0x106c, 0), ('Å', 0x106e, 0), ('Æ', 0x106c, 0), ('É', 0x0e8c, 0), ('Í', 0x0efc, 0),
    ('Ð', 0x0e6e, 0), ('Ó', 0x0f83, 0), ('Ö', 0x106d, 0), ('Ø', 0x106d, 0), ('Ú', 0x1020, 0), ('Ý', 0x105f, 0),
    ('Þ', 0x106b, 0), ('á', 0x0e34, 0), ('ä', 0x106c, 0), ('å', 0x106e, 0), ('æ', 0x106c, 0), ('é', 0x0e8c, 0),
    ('í', 0x0efc, 0), ('ð', 0x0e6e, 0), ('ó', 0x0f83, 0), ('ö', 0x106d, 0), ('ø', 0x106d, 0), ('ú', 0x1020, 0),
    ('ý', 0x105f, 0), ('þ', 0x106b, 0),
];

#[rustfmt::skip]
static LATVIAN: &[Moved] = &[
    ('Y', 0x0efc, 0), ('y', 0x0efc, 0), ('Č', 0x0e61, 0), ('č', 0x0e61, 0), ('Ģ', 0x0ec2, 0), ('ģ', 0x0ec2, 0),
    ('Ķ', 0x0f22, 0), ('ķ', 0x0f22, 0), ('Ļ', 0x0f2f, 0), ('ļ', 0x0f2f, 0), ('Ņ', 0x0f65, 0), ('ņ', 0x0f65, 0),
    ('Ŗ', 0x0fc1, 0), ('ŗ', 0x0fc1, 0), ('Š', 0x0feb, 0), ('š', 0x0feb, 0), ('Ž', 0x106b, 0), ('ž', 0x106b, 0),
];

#[rustfmt::skip]
static ROMANIAN: &[Moved] = &[
    ('Â', 0x0e35, 0), ('Î', 0x0efc, 0), ('â', 0x0e35, 0), ('î', 0x0efc, 0), ('Ă', 0x0e34, 0), ('ă', 0x0e34, 0),
    ('Ş', 0x0feb, 0), ('ş', 0x0feb, 0), ('Ţ', 0x1003, 0), ('ţ', 0x1003, 0), ('Ș', 0x0feb, 0), ('ș', 0x0feb, 0),
    ('Ț', 0x1003, 0), ('ț', 0x1003, 0),
];

#[rustfmt::skip]
static SLOVENIAN: &[Moved] = &[
    ('Č', 0x0e61, 0), ('č', 0x0e61, 0), ('Š', 0x0feb, 0), ('š', 0x0feb, 0), ('Ž', 0x106b, 0), ('ž', 0x106b, 0),
];

#[rustfmt::skip]
static POLISH: &[Moved] = &[
    ('Ó', 0x0f83, 0), ('ó', 0x0f83, 0), ('Ą', 0x0e34, 0), ('ą', 0x0e34, 0), ('Ć', 0x0e61, 0), ('ć', 0x0e61, 0),
    ('Ę', 0x0e8c, 0), ('ę', 0x0e8c, 0), ('Ł', 0x0f2f, 0), ('ł', 0x0f2f, 0), ('Ń', 0x0f65, 0), ('ń', 0x0f65, 0),
    ('Ś', 0x0feb, 0), ('ś', 0x0feb, 0), ('Ź', 0x106b, 0), ('ź', 0x106b, 0), ('Ż', 0x106c, 0), ('ż', 0x106c, 0),
];

#[rustfmt::skip]
static ESTONIAN: &[Moved] = &[
    ('Z', 0x0fec, 0), ('z', 0x0fec, 0), ('Ä', 0x1053, 0), ('Õ', 0x1052, 0), ('Ö', 0x1054, 0), ('Ü', 0x1055, 0),
    ('ä', 0x1053, 0), ('õ', 0x1052, 0), ('ö', 0x1054, 0), ('ü', 0x1055, 0), ('Š', 0x0feb, 0), ('š', 0x0feb, 0),
    ('Ž', 0x0fed, 0), ('ž', 0x0fed, 0),
];

#[rustfmt::skip]
static SPANISH: &[Moved] = &[
    ('Ñ', 0x0f65, 0), ('ñ', 0x0f65, 0),
];

#[rustfmt::skip]
static SWEDISH: &[Moved] = &[
    ('Ä', 0x106c, 0), ('Å', 0x106b, 0), ('Æ', 0x106c, 0), ('Ö', 0x106d, 0), ('Ø', 0x106d, 0), ('Ü', 0x105e, 0),
    ('ä', 0x106c, 0), ('å', 0x106b, 0), ('æ', 0x106c, 0), ('ö', 0x106d, 0), ('ø', 0x106d, 0), ('ü', 0x105e, 0),
];

#[rustfmt::skip]
static TURKISH: &[Moved] = &[
    ('I', 0x0ee2, 0), ('Ç', 0x0e61, 0), ('Ö', 0x0f83, 0), ('Ü', 0x1020, 0), ('ç', 0x0e61, 0), ('ö', 0x0f83, 0),
    ('ü', 0x1020, 0), ('Ğ', 0x0ec2, 0), ('ğ', 0x0ec2, 0), ('ı', 0x0ee2, 0), ('Ş', 0x0feb, 0), ('ş', 0x0feb, 0),
];

#[rustfmt::skip]
static ESPERANTO: &[Moved] = &[
    ('Ĉ', 0x0e61, 0), ('ĉ', 0x0e61, 0), ('Ĝ', 0x0ec2, 0), ('ĝ', 0x0ec2, 0), ('Ĥ', 0x0ee2, 0), ('ĥ', 0x0ee2, 0),
    ('Ĵ', 0x0f11, 0), ('ĵ', 0x0f11, 0), ('Ŝ', 0x0feb, 0), ('ŝ', 0x0feb, 0), ('Ŭ', 0x1020, 0), ('ŭ', 0x1020, 0),
];

#[rustfmt::skip]
static GERMAN2: &[Moved] = &[
    ('Ä', 0x0e33, 0x0e8b), ('Æ', 0x0e33, 0x0e8b), ('Ö', 0x0f82, 0x0e8b), ('Ü', 0x101f, 0x0e8b), ('ä', 0x0e33, 0x0e8b),
    ('æ', 0x0e33, 0x0e8b), ('ö', 0x0f82, 0x0e8b), ('ü', 0x101f, 0x0e8b),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_in_order() {
        for collation in 0..512 {
            assert!(letters(collation).is_sorted_by(|a, b| a.0 < b.0), "{collation}");
        }
    }
}
