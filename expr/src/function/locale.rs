//! How numbers are written in the locales that FORMAT knows: the separators that MySQL has for each.

/// A locale's way of writing numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style {
    /// Between groups of digits.
    pub separator: Option<char>,
    pub point: char,
    /// After the first group of three, groups have two digits.
    pub pairs: bool,
}

pub(super) const ENGLISH: Style = style(Some(','), '.');

const fn style(separator: Option<char>, point: char) -> Style {
    Style { separator, point, pairs: false }
}

/// Locales that write numbers as English does.
#[rustfmt::skip]
const LIKE_ENGLISH: &[&str] = &[
    "ar_AE", "ar_BH", "ar_DZ", "ar_EG", "ar_IN", "ar_IQ", "ar_JO", "ar_KW", "ar_LB", "ar_LY", "ar_MA", "ar_OM", "ar_QA", "ar_SD",
    "ar_SY", "ar_TN", "ar_YE", "en_AU", "en_CA", "en_GB", "en_NZ", "en_PH", "en_US", "en_ZA", "en_ZW", "es_DO", "es_GT", "es_HN",
    "es_MX", "es_NI", "es_PA", "es_PE", "es_PR", "es_SV", "es_US", "gu_IN", "he_IL", "hi_IN", "ja_JP", "ko_KR", "ms_MY", "th_TH",
    "ur_PK", "zh_CN", "zh_HK", "zh_TW",
];
/// 12.345,6
#[rustfmt::skip]
const POINTS: &[&str] = &[
    "be_BY", "da_DK", "de_BE", "de_DE", "de_LU", "es_AR", "es_BO", "es_CL", "es_CO", "es_EC", "es_ES", "es_PY", "es_UY", "es_VE",
    "fo_FO", "hu_HU", "id_ID", "is_IS", "lt_LT", "mn_MN", "nb_NO", "no_NO", "ro_RO", "ru_UA", "sq_AL", "tr_TR", "uk_UA", "vi_VN",
];
/// 12345,6
#[rustfmt::skip]
const NOTHING: &[&str] = &[
    "ca_ES", "de_AT", "el_GR", "eu_ES", "fr_BE", "fr_CA", "fr_CH", "fr_FR", "fr_LU", "gl_ES", "hr_HR", "it_IT", "nl_BE", "nl_NL",
    "pl_PL", "pt_BR", "pt_PT", "sl_SI",
];
/// 12 345,6
const SPACES: &[&str] = &["cs_CZ", "es_CR", "et_EE", "fi_FI", "lv_LV", "mk_MK", "ru_RU", "sk_SK", "sv_FI", "sv_SE"];

/// The style of a locale by its name, in any case.
pub(super) fn find(name: &str) -> Option<Style> {
    let within = |list: &[&str]| list.iter().any(|known| known.eq_ignore_ascii_case(name));
    Some(match () {
        () if within(LIKE_ENGLISH) => ENGLISH,
        () if within(POINTS) => style(Some('.'), ','),
        () if within(NOTHING) => style(None, ','),
        () if within(SPACES) => style(Some(' '), ','),
        () if within(&["ar_SA", "sr_RS"]) => style(None, '.'),
        () if within(&["bg_BG"]) => style(Some('\0'), ','),
        () if within(&["de_CH"]) => style(Some('\''), '.'),
        () if within(&["it_CH", "rm_CH"]) => style(Some('\''), ','),
        () if within(&["en_IN", "ta_IN", "te_IN"]) => Style { pairs: true, ..ENGLISH },
        () => return None,
    })
}
