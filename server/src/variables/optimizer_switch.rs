//! `optimizer_switch`: flags that SET changes one by one. Planning reads some of them.

use sql::plan::Switches;

/// The switches with the given changes, or the invalid word.
pub fn merged(present: &str, start: &str, given: &str) -> Result<String, String> {
    let mut flags: Vec<(&str, bool)> = flags(present).collect();
    for word in given.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        if word.eq_ignore_ascii_case("default") {
            flags = self::flags(start).collect();
            continue;
        }
        let wrong = || word.to_owned();
        let (name, state) = word.split_once('=').ok_or_else(wrong)?;
        let on = match state {
            _ if state.eq_ignore_ascii_case("on") => Some(true),
            _ if state.eq_ignore_ascii_case("off") => Some(false),
            _ if state.eq_ignore_ascii_case("default") => None,
            _ => return Err(wrong()),
        };
        let flag = flags.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(name.trim())).ok_or_else(wrong)?;
        let before = || self::flags(start).find(|(known, _)| *known == flag.0).is_some_and(|(_, on)| on);
        flag.1 = on.unwrap_or_else(before);
    }
    let words = flags.iter().map(|(name, on)| format!("{name}={}", if *on { "on" } else { "off" }));
    Ok(words.collect::<Vec<_>>().join(","))
}

fn flags(text: &str) -> impl Iterator<Item = (&str, bool)> {
    text.split(',').filter_map(|word| word.split_once('=')).map(|(name, state)| (name, state == "on"))
}

/// The flags that planning reads; flags that are not named are as by default.
pub fn switches(text: &str) -> Switches {
    let mut all = Switches::default();
    let (mut nested_loops, mut merge) = (true, true);
    for (name, on) in flags(text) {
        let flag = match name {
            "semijoin" => &mut all.semijoin,
            "hash_join" => &mut all.hash_join,
            "block_nested_loop" => &mut nested_loops,
            "materialization" => &mut all.materialization,
            "derived_merge" => &mut all.derived_merge,
            "condition_fanout_filter" => &mut all.condition_fanout_filter,
            "subquery_to_derived" => &mut all.subquery_to_derived,
            "skip_scan" => &mut all.skip_scan,
            "index_condition_pushdown" => &mut all.index_condition_pushdown,
            "index_merge" => &mut merge,
            "index_merge_union" => &mut all.index_merge_union,
            "index_merge_sort_union" => &mut all.index_merge_sort_union,
            "index_merge_intersection" => &mut all.index_merge_intersection,
            "derived_condition_pushdown" => &mut all.derived_condition_pushdown,
            "use_invisible_indexes" => &mut all.use_invisible_indexes,
            _ => continue,
        };
        *flag = on;
    }
    all.hash_join &= nested_loops;
    all.index_merge_union &= merge;
    all.index_merge_sort_union &= merge;
    all.index_merge_intersection &= merge;
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_change_one_by_one() {
        let start = "a=on,semijoin=on,hash_join=off";
        let check = |given: &str| merged("a=off,semijoin=on,hash_join=on", start, given);
        assert_eq!(check("semijoin=off").as_deref(), Ok("a=off,semijoin=off,hash_join=on"));
        assert_eq!(check("SEMIJOIN=OFF, hash_join=default").as_deref(), Ok("a=off,semijoin=off,hash_join=off"));
        assert_eq!(check("default").as_deref(), Ok(start));
        assert_eq!(check("default,a=off").as_deref(), Ok("a=off,semijoin=on,hash_join=off"));
        assert_eq!(check("nope=on"), Err("nope=on".to_owned()));
        assert_eq!(check("semijoin"), Err("semijoin".to_owned()));
        assert!(!switches("semijoin=off").semijoin);
        assert!(switches("semijoin=off").hash_join);
    }
}
