//! Compares character sets and collations with a real MySQL.
//!
//! For each collation both servers are asked the same about pairs of texts: their order, their weights, their cases, LIKE, and the bytes of the set. Texts are random
//! characters of all planes, letters that languages treat as one, accents, spaces at the end, and none.
//!
//! X1: the texts follow from the seed alone, so a difference can be repeated.

use clap::Parser;
use mysql::prelude::Queryable;
use mysql::{Conn, Row, Value};
use std::fmt::Write;
use std::process::ExitCode;
use tests::{Address, Report, Server, ServerOptions};

#[derive(Parser)]
#[command(about = "Compares character sets and collations with a real MySQL")]
struct Arguments {
    /// The real MySQL, HOST:PORT
    #[arg(long)]
    against: String,
    #[arg(long, default_value = "root")]
    user: String,
    #[arg(long, default_value = "")]
    password: String,
    /// A running Heddle, HOST:PORT, instead of one started for this
    #[arg(long)]
    heddle: Option<String>,
    /// Pairs of texts for each collation
    #[arg(long, default_value_t = 500)]
    pairs: usize,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only collations whose names contain this
    #[arg(long, default_value = "")]
    only: String,
}

/// Pairs of one statement.
const PAIRS_TOGETHER: usize = 50;

const RANGES: &[(u32, u32)] = &[
    (0x20, 0x5b),
    (0x5d, 0x7f),
    (0x61, 0x7b),
    (0x41, 0x5b),
    (0xa0, 0x250),
    (0x300, 0x307),
    (0x370, 0x530),
    (0x5d0, 0x5f0),
    (0x620, 0x650),
    (0xe01, 0xe5c),
    (0x1e00, 0x1f00),
    (0x2500, 0x2600),
    (0x3041, 0x3097),
    (0x30a1, 0x30fb),
    (0x4e00, 0xa000),
    (0xac00, 0xd7a4),
    (0xff01, 0xff9e),
    (0x1f600, 0x1f640),
    (0x20000, 0x2a000),
];
const PIECES: &[&str] = &[
    "a", "A", "ch", "Ch", "CH", "ll", "aa", "AA", "dz", "dž", "DŽ", "lj", "Nj", "cs", "ccs", "ddzs", "gy", "ssz", "ß", "ss", "æ",
    "ae", "ä", "ø", "å", "ñ", "ı", "İ", "ž", "ö", "ü", " ", "  ", "-", "\t", "あー", "ア", "一", "丁", "й", "я", "Я", "é", "É",
    "%", "_",
];

/// A small generator (splitmix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % end as u64) as usize
    }

    /// One of a set: characters of its repertoire are likelier.
    fn text(&mut self, repertoire: &[char]) -> String {
        let mut text = String::new();
        for _ in 0..self.below(6) {
            match self.below(10) {
                0..4 => text.push_str(PIECES[self.below(PIECES.len())]),
                4..8 if !repertoire.is_empty() => text.push(repertoire[self.below(repertoire.len())]),
                _ => {
                    let (from, to) = RANGES[self.below(RANGES.len())];
                    text.extend(char::from_u32(from + self.below((to - from) as usize) as u32));
                }
            }
        }
        text
    }

    /// A text that is often the same, or nearly.
    fn near(&mut self, text: &str, repertoire: &[char]) -> String {
        match self.below(6) {
            0 => text.to_uppercase(),
            1 => text.to_lowercase(),
            2 => format!("{text} "),
            3 => text.chars().map(|c| if self.below(3) == 0 { c.to_ascii_uppercase() } else { c }).collect(),
            4 => format!("{text}{}", self.text(repertoire)),
            _ => self.text(repertoire),
        }
    }

    fn pattern(&mut self, text: &str) -> String {
        let mut pattern = String::new();
        for c in text.chars() {
            match self.below(8) {
                0 => pattern.push('_'),
                1 => pattern.push('%'),
                2 => pattern.extend(c.to_uppercase()),
                _ => pattern.push(c),
            }
        }
        pattern
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut report = Report::new();
    if let Err(why) = run(&arguments, &mut report) {
        report.fail("charsets", why);
    }
    report.finish()
}

fn run(arguments: &Arguments, report: &mut Report) -> Result<(), String> {
    let directory = std::env::temp_dir().join(format!("heddle-charsets-{}", std::process::id()));
    let started = match &arguments.heddle {
        Some(_) => None,
        None => Some(Server::start(&ServerOptions::new(&directory))?),
    };
    let ours = match (&arguments.heddle, &started) {
        (Some(at), _) => Address::parse(at, "root", "")?,
        (None, Some(server)) => server.address.clone(),
        (None, None) => return Err("no server".into()),
    };
    let theirs = Address::parse(&arguments.against, &arguments.user, &arguments.password)?;
    let mut ours = connect(&ours)?;
    let mut theirs = connect(&theirs)?;
    let listed = "SELECT collation_name, character_set_name FROM information_schema.collations ORDER BY id";
    let collations: Vec<(String, String)> = theirs.query(listed).map_err(|e| e.to_string())?;
    for (collation, set) in collations {
        if !collation.contains(&arguments.only) || set == "binary" {
            continue;
        }
        let repertoire = repertoire(&mut theirs, &set)?;
        let mut dice = Dice(arguments.seed);
        report.case(&collation, || compare(&mut ours, &mut theirs, &set, &collation, &repertoire, &mut dice, arguments.pairs));
    }
    drop(started);
    let _ = std::fs::remove_dir_all(&directory);
    Ok(())
}

fn connect(address: &Address) -> Result<Conn, String> {
    let mut conn = Conn::new(address.options()).map_err(|e| e.to_string())?;
    conn.query_drop("SET NAMES utf8mb4, sql_mode = '', cte_max_recursion_depth = 70000").map_err(|e| e.to_string())?;
    Ok(conn)
}

/// The characters of a set that is not Unicode's; none of one that is.
fn repertoire(mysql: &mut Conn, set: &str) -> Result<Vec<char>, String> {
    if set.starts_with("utf") || set == "ucs2" {
        return Ok(Vec::new());
    }
    let there_and_back = format!("HEX(CONVERT(CONVERT(CONVERT(UNHEX(LPAD(HEX(n), 4, '0')) USING ucs2) USING {set}) USING ucs2))");
    let codes: Vec<u32> = mysql
        .query(format!(
            "WITH RECURSIVE n AS (SELECT 32 AS n UNION ALL SELECT n + 1 FROM n WHERE n < 65000) SELECT n FROM n \
             WHERE n NOT BETWEEN 55296 AND 57343 AND n <> 92 AND {there_and_back} = LPAD(HEX(n), 4, '0')"
        ))
        .map_err(|e| e.to_string())?;
    Ok(codes.into_iter().filter_map(char::from_u32).collect())
}

fn compare(
    ours: &mut Conn,
    theirs: &mut Conn,
    set: &str,
    collation: &str,
    repertoire: &[char],
    dice: &mut Dice,
    pairs: usize,
) -> Result<(), String> {
    let mut wrong = Vec::new();
    for _ in 0..pairs.div_ceil(PAIRS_TOGETHER) {
        let mut rows = Vec::new();
        for n in 0..PAIRS_TOGETHER {
            let a = dice.text(repertoire);
            let b = dice.near(&a, repertoire);
            let pattern = dice.pattern(&b);
            rows.push((n, a, b, pattern));
        }
        let mut source = String::new();
        for (n, a, b, pattern) in &rows {
            let join = if source.is_empty() { "" } else { " UNION ALL " };
            let hex = |text: &str| text.bytes().fold(String::new(), |out, byte| out + &format!("{byte:02x}"));
            let (a, b, pattern) = (hex(a), hex(b), hex(pattern));
            write!(source, "{join}SELECT {n} AS n, _utf8mb4 x'{a}' AS a, _utf8mb4 x'{b}' AS b, _utf8mb4 x'{pattern}' AS p")
                .expect("a String takes all");
        }
        let text = |name: &str| format!("CONVERT({name} USING {set}) COLLATE {collation}");
        let (a, b, p) = (text("a"), text("b"), text("p"));
        let query = format!(
            "SELECT n, STRCMP({a}, {b}), {a} = {b}, {b} LIKE {p}, HEX({a}), HEX(WEIGHT_STRING({a})), HEX(UPPER({a})), HEX(LOWER({a})), \
             CHAR_LENGTH({a}), LENGTH({a}), HEX(REVERSE({a})), ORD({a}), HEX(CONVERT({a} USING utf8mb4)) FROM ({source}) AS t ORDER BY n"
        );
        let mut answers = [Vec::new(), Vec::new()];
        for (conn, answers) in [&mut *ours, &mut *theirs].into_iter().zip(&mut answers) {
            *answers = conn.query::<Row, _>(&query).map_err(|e| e.to_string())?;
        }
        let [ours, theirs] = answers;
        for (ours, theirs) in ours.into_iter().zip(theirs) {
            let (ours, theirs) = (ours.unwrap(), theirs.unwrap());
            if ours != theirs {
                let show = |row: &[Value]| row.iter().map(|value| value.as_sql(true)).collect::<Vec<_>>();
                let (ours, theirs) = (show(&ours), show(&theirs));
                let differ: Vec<String> = ours
                    .iter()
                    .zip(&theirs)
                    .enumerate()
                    .filter(|(_, (a, b))| a != b)
                    .map(|(i, (a, b))| format!("{i}: {a} not {b}"))
                    .collect();
                let row = rows.iter().find(|row| theirs.first().is_some_and(|n| n.trim_matches('\'') == row.0.to_string()));
                wrong.push(format!("{row:?}\n       {}", differ.join("\n       ")));
            }
        }
    }
    match wrong.len() {
        0 => Ok(()),
        n => Err(format!("{n} differ, such as\n     {}", wrong[..n.min(3)].join("\n     "))),
    }
}
