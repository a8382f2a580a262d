//! Trials of every function and operator.
//!
//! The names of the functions are those of the table in `docs/COMPATIBILITY.md`, which a test of `expr` keeps the same as its catalogue: a
//! new function is tried without a change here. How many arguments a function takes is asked of the server. Each place of each function gets
//! each family of values, beside several kinds of small arguments.

use crate::trial::{Court, Made, Trial};
use crate::values::{FEW, Family, MORE};

const PAGE: &str = include_str!("../../../../docs/COMPATIBILITY.md");
const BEGIN: &str = "| area | functions |";
const END: &str = "<!-- end of the table of expr -->";

/// Breaches that are known: the beginning of the function's name, the bound, and why.
const KNOWN: &[(&str, &str, &str)] = &[
    ("INSTR", "B1", "compares part by part under collations, as MySQL does; KILL and the limit of time end it"),
    ("LOCATE", "B1", "as INSTR"),
    ("POSITION", "B1", "as INSTR"),
    ("REGEXP", "B1", "a search costs pattern times text"),
    ("@v REGEXP", "B1", "as above"),
    ("CONCAT(@v, 'b') REGEXP", "B1", "as above"),
    ("REPEAT('a', 1000) REGEXP", "B1", "as above"),
];
/// A search of a pattern costs pattern times text, and goes on behind a KILL (`docs/RELIABILITY.md`): such values are shorter.
const PATTERN_PART: usize = 64;

/// There are many collations, and comparing by them takes long.
const COLLATED_PART: usize = 8;

/// What takes as long as it is told to; `statements` tries whether they heed KILL.
const ASKED_FOR: &[&str] = &["SLEEP", "BENCHMARK"];
/// Arguments at most, for functions that take any number.
const ARGUMENTS_MAX: usize = 5;
const WRONG_COUNT: &[u16] = &[1582, 1064];

/// Small arguments beside the large one.
const FILLERS: &[[&str; 4]] = &[
    ["'ab'", "'ab'", "'ab'", "'ab'"],
    ["2", "3", "2", "1"],
    ["'[1, {\"a\": [2]}]'", "'$[1].a'", "'$[1].b'", "'$'"],
    ["'2024-02-29 01:02:03'", "'one'", "'$**.a'", "NULL"],
];

/// The functions' names.
pub fn names() -> Result<Vec<String>, String> {
    let table = PAGE.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(END)).map(|(table, _)| table);
    let table = table.ok_or("docs/COMPATIBILITY.md has no table of functions")?;
    let is_name = |word: &&str| word.len() > 1 && word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    let mut names = Vec::new();
    for line in table.lines() {
        let Some(functions) = line.split('|').nth(2) else { continue };
        for entry in functions.split([',', '(', ')', ' ']) {
            names.extend(Some(entry.trim()).filter(is_name).map(str::to_owned));
        }
    }
    names.sort();
    names.dedup();
    // Words of notes.
    names.retain(|name| !["NULL", "SHA", "HKDF", "PBKDF2"].contains(&name.as_str()) || name == "SHA");
    if names.len() > 200 { Ok(names) } else { Err(format!("only {} functions are in docs/COMPATIBILITY.md", names.len())) }
}

/// How many arguments a function may have.
fn counts(court: &mut Court<'_>, name: &str) -> Result<Vec<usize>, String> {
    let mut counts = Vec::new();
    for count in 0..=ARGUMENTS_MAX {
        let error = court.error(&format!("SELECT {name}({})", vec!["NULL"; count].join(", ")))?;
        if !error.is_some_and(|error| WRONG_COUNT.contains(&error)) {
            counts.push(count);
        }
    }
    Ok(counts)
}

/// An expression, in which `@v` stands for the value, and whether the value is written in its place.
struct Form {
    name: String,
    expression: String,
    is_inline: bool,
}

fn forms_of(name: &str, count: usize, fillers: &[[&str; 4]]) -> Vec<Form> {
    let mut forms = Vec::new();
    for place in 0..count {
        for filler in fillers {
            let arguments: Vec<&str> = (0..count).map(|n| if n == place { "@v" } else { filler[n % 4] }).collect();
            forms.push(format!("{name}({})", arguments.join(", ")));
            if count == 1 {
                break;
            }
        }
    }
    if count > 1 {
        forms.push(format!("{name}({})", vec!["@v"; count].join(", ")));
        // A long needle that is nearly there, everywhere.
        let rest = ", 1".repeat(count - 2);
        forms.push(format!("{name}(@v, CONCAT(LEFT(@v, CHAR_LENGTH(@v) DIV 2), 'b'){rest})"));
        forms.push(format!("{name}(CONCAT(LEFT(@v, CHAR_LENGTH(@v) DIV 2), 'b'), @v{rest})"));
        forms.push(format!("{name}(@v, LEFT(@v, 1){})", ", LEFT(@v, 2)".repeat(count - 2)));
    }
    let form = |expression: String| Form { name: expression.clone(), expression, is_inline: false };
    let mut forms: Vec<Form> = forms.into_iter().map(form).collect();
    if count > 0 {
        let expression = format!("{name}({})", vec!["@v"; count].join(", "));
        forms.push(Form { name: format!("{expression}, as a constant"), expression, is_inline: true });
    }
    forms
}

/// What has a grammar of its own.
fn grammar(court: &mut Court<'_>) -> Result<Vec<Form>, String> {
    let mut all: Vec<String> = Vec::new();
    for operator in [
        "=",
        "<=>",
        "<",
        "!=",
        "+",
        "-",
        "*",
        "/",
        "DIV",
        "%",
        "&",
        "|",
        "^",
        "<<",
        ">>",
        "AND",
        "OR",
        "XOR",
        "LIKE",
        "REGEXP",
        "SOUNDS LIKE",
    ] {
        all.push(format!("@v {operator} @v"));
        all.push(format!("CONCAT(@v, 'b') {operator} CONCAT(@v, 'c')"));
        all.push(format!("@v {operator} 3"));
        all.push(format!("3 {operator} @v"));
        all.push(format!("REPEAT('a', 1000) {operator} @v"));
    }
    for unary in ["-", "~", "!", "NOT", "BINARY"] {
        all.push(format!("{unary} @v"));
    }
    for target in [
        "BINARY",
        "CHAR",
        "CHAR(10)",
        "CHAR CHARACTER SET latin1",
        "DATE",
        "DATETIME(6)",
        "DECIMAL(65, 30)",
        "DOUBLE",
        "FLOAT",
        "JSON",
        "REAL",
        "SIGNED",
        "TIME(6)",
        "UNSIGNED",
        "YEAR",
        "BINARY(10)",
        "NCHAR",
    ] {
        all.push(format!("CAST(@v AS {target})"));
    }
    for unit in ["MICROSECOND", "SECOND", "DAY", "MONTH", "YEAR", "DAY_MICROSECOND", "YEAR_MONTH"] {
        all.push(format!("EXTRACT({unit} FROM @v)"));
        all.push(format!("DATE_ADD(@v, INTERVAL 1 {unit})"));
        all.push(format!("DATE_SUB('2020-01-01', INTERVAL @v {unit})"));
        all.push(format!("TIMESTAMPADD({}, 1, @v)", if unit.contains('_') { "DAY" } else { unit }));
        all.push(format!("TIMESTAMPDIFF({}, @v, @v)", if unit.contains('_') { "DAY" } else { unit }));
    }
    for pattern in ["%a%a%a%a%a%a%b", "%%%%%%%%%%%%%b", "_%_%_%_%_%_%b", "%ab%ab%ac"] {
        all.push(format!("@v LIKE '{pattern}'"));
    }
    for pattern in [
        "(a*)*b",
        "(a|aa)+$",
        "(.*)(.*)(.*)(.*)b",
        "(?=(a+))a*b",
        "(a+)\\\\1b",
        "a{1,100}{1,100}",
        ".*.*=.*",
        "^(([a-z])+.)+[A-Z]$",
    ] {
        all.push(format!("@v REGEXP '{pattern}'"));
        all.push(format!("REGEXP_REPLACE(@v, '{pattern}', 'x')"));
        all.push(format!("REGEXP_INSTR(@v, '{pattern}', 1, 3)"));
        all.push(format!("REGEXP_SUBSTR(@v, '{pattern}', 5)"));
    }
    all.extend(
        [
            "TRIM(@v)",
            "TRIM(LEADING 'a' FROM @v)",
            "TRIM(TRAILING 'ab' FROM @v)",
            "TRIM(BOTH @v FROM @v)",
            "TRIM(TRAILING @v FROM CONCAT(@v, @v))",
            "POSITION('b' IN @v)",
            "SUBSTRING(@v FROM 5 FOR 100)",
            "MID(@v, -5)",
            "@v IN (@v, 'a', CONCAT(@v, 'b'))",
            "@v IN (1, 2, 3)",
            "@v BETWEEN 'a' AND @v",
            "(@v, 1) = (@v, 1)",
            "(@v, 1) IN ((@v, 2), (@v, 1))",
            "CASE @v WHEN CONCAT(@v, 'x') THEN 1 WHEN @v THEN @v END",
            "'a' MEMBER OF (@v)",
            "JSON_VALUE(@v, '$[1]' RETURNING SIGNED)",
            "JSON_VALUE(@v, '$.a' DEFAULT 'x' ON EMPTY DEFAULT 'y' ON ERROR)",
            "CAST(@v AS JSON) = CAST(@v AS JSON)",
            "CAST(@v AS JSON) < CAST(CONCAT('[', @v, ']') AS JSON)",
            "JSON_EXTRACT(@v, '$**.a')",
            "JSON_EXTRACT(@v, '$[*][*]', '$.*.*')",
            "JSON_SEARCH(@v, 'all', '%1%')",
            "JSON_SET(@v, '$.zz', 1, '$.yy', 2, '$[1]', 3)",
            "JSON_REMOVE(@v, '$[0]', '$[0]', '$.a')",
            "JSON_TABLE_COUNT",
            "WEIGHT_STRING(@v AS CHAR(1000))",
            "CHAR(@v, @v USING utf8mb4)",
            "CONVERT(@v USING utf16)",
            "CONVERT(CONVERT(@v USING latin1) USING binary)",
            "COUNT(@v)",
            "SUM(@v)",
            "MAX(@v)",
            "STD(@v)",
            "BIT_AND(@v)",
            "GROUP_CONCAT(@v)",
            "JSON_ARRAYAGG(@v)",
            "JSON_OBJECTAGG(@v, @v)",
            "COUNT(DISTINCT @v, @v)",
        ]
        .map(str::to_owned),
    );
    all.retain(|form| form != "JSON_TABLE_COUNT");
    for collation in court.texts("SELECT COLLATION_NAME FROM information_schema.COLLATIONS ORDER BY COLLATION_NAME")? {
        let set = collation.split('_').next().unwrap_or_default().to_owned();
        let text = |value: &str| format!("CONVERT({value} USING {set}) COLLATE {collation}");
        let (value, longer) = (text("@v"), text("CONCAT(@v, 'b')"));
        all.push(format!("{value} = {longer}"));
        all.push(format!("{value} LIKE CONCAT('%', {longer}, '%')"));
        all.push(format!("LOCATE({longer}, CONCAT({value}, {value}))"));
        all.push(format!("LOCATE('xy', {value})"));
        all.push(format!("WEIGHT_STRING({value})"));
        all.push(format!("UPPER({value})"));
        all.push(format!("REPLACE({value}, 'a', 'b')"));
    }
    let form = |expression: String| Form { name: expression.clone(), expression, is_inline: false };
    Ok(all.into_iter().map(form).collect())
}

/// Tries all functions; the number of functions and of trials.
pub fn run(court: &mut Court<'_>, plan: &crate::Plan, report: &mut tests::Report) -> Result<(), String> {
    // The short form tries half of the families beside each other expression.
    let families: Vec<Family> = if plan.is_long { [FEW, MORE].concat() } else { FEW.to_vec() };
    let fillers = if plan.is_long { FILLERS } else { &FILLERS[..3] };
    let mut work: Vec<(String, Vec<Form>)> = Vec::new();
    let names = names()?;
    for name in names.iter().filter(|name| !ASKED_FOR.contains(&name.as_str())) {
        let counts = counts(court, name)?;
        let forms: Vec<Form> = counts.iter().flat_map(|count| forms_of(name, *count, fillers)).collect();
        work.push((format!("{name}()"), forms));
    }
    work.push(("operators and forms with a grammar of their own".to_owned(), grammar(court)?));
    for (name, forms) in work.iter().filter(|(name, _)| plan.wants(name)) {
        let mut breaches = Vec::new();
        for (number, form) in forms.iter().enumerate() {
            for (place, (family, value)) in families.iter().enumerate() {
                if !plan.is_long && number % 2 != place % 2 {
                    continue;
                }
                breaches.extend(try_form(court, form, family, *value, plan.size)?);
            }
        }
        report.case(name, || if breaches.is_empty() { Ok(()) } else { Err(breaches.join("; ")) });
    }
    println!("{} functions", names.len());
    Ok(())
}

fn try_form(
    court: &mut Court<'_>,
    form: &Form,
    family: &str,
    value: fn(usize) -> String,
    size: usize,
) -> Result<Vec<String>, String> {
    let made = |size: usize| {
        let (before, expression) = if form.is_inline {
            (Vec::new(), form.expression.replace("@v", &value(size)))
        } else {
            (vec![format!("SET @v = {}", value(size))], form.expression.clone())
        };
        Made { before, statement: format!("SELECT CHAR_LENGTH({expression})"), after: Vec::new() }
    };
    let size = match &form.expression {
        pattern if pattern.contains("REGEXP") => size / PATTERN_PART,
        // One expression for each collation.
        collated if collated.contains("COLLATE") => size / COLLATED_PART,
        _ => size,
    };
    let trial = Trial { name: format!("{} of {family}", form.name), made: &made, size, grows: false };
    let breaches = court.judge(&trial)?;
    let is_known = |bound: &str| KNOWN.iter().any(|(name, known, _)| *known == bound && form.expression.starts_with(name));
    let breaches = breaches.into_iter().filter(|(bound, _)| !is_known(bound));
    Ok(breaches.map(|(_, breach)| format!("{}: {breach}", trial.name)).collect())
}
