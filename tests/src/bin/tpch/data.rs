//! The eight tables, made from a seed: rows as the TPC-H specification (revision 3, clause 4.2) describes them, in our own words.
//!
//! Numbers of rows, keys, prices, dates and their dependencies follow the specification; texts are of a small vocabulary, with the words
//! that queries look for in the same shares. The same seed gives the same rows.

use std::fmt::Write;

/// A stream of random numbers (SplitMix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From `low` to `high`, both possible.
    fn between(&mut self, low: i64, high: i64) -> i64 {
        low + (self.next() % (high - low + 1) as u64) as i64
    }

    fn one<'w>(&mut self, words: &[&'w str]) -> &'w str {
        words[self.between(0, words.len() as i64 - 1) as usize]
    }
}

pub const SCHEMA: &[&str] = &[
    "CREATE TABLE region (r_regionkey INT NOT NULL PRIMARY KEY, r_name CHAR(25) NOT NULL, r_comment VARCHAR(152))",
    "CREATE TABLE nation (n_nationkey INT NOT NULL PRIMARY KEY, n_name CHAR(25) NOT NULL, n_regionkey INT NOT NULL, \
     n_comment VARCHAR(152), KEY n_region (n_regionkey))",
    "CREATE TABLE part (p_partkey INT NOT NULL PRIMARY KEY, p_name VARCHAR(55) NOT NULL, p_mfgr CHAR(25) NOT NULL, \
     p_brand CHAR(10) NOT NULL, p_type VARCHAR(25) NOT NULL, p_size INT NOT NULL, p_container CHAR(10) NOT NULL, \
     p_retailprice DECIMAL(15,2) NOT NULL, p_comment VARCHAR(23) NOT NULL)",
    "CREATE TABLE supplier (s_suppkey INT NOT NULL PRIMARY KEY, s_name CHAR(25) NOT NULL, s_address VARCHAR(40) NOT NULL, \
     s_nationkey INT NOT NULL, s_phone CHAR(15) NOT NULL, s_acctbal DECIMAL(15,2) NOT NULL, s_comment VARCHAR(101) NOT NULL, \
     KEY s_nation (s_nationkey))",
    "CREATE TABLE partsupp (ps_partkey INT NOT NULL, ps_suppkey INT NOT NULL, ps_availqty INT NOT NULL, \
     ps_supplycost DECIMAL(15,2) NOT NULL, ps_comment VARCHAR(199) NOT NULL, PRIMARY KEY (ps_partkey, ps_suppkey), \
     KEY ps_supp (ps_suppkey))",
    "CREATE TABLE customer (c_custkey INT NOT NULL PRIMARY KEY, c_name VARCHAR(25) NOT NULL, c_address VARCHAR(40) NOT NULL, \
     c_nationkey INT NOT NULL, c_phone CHAR(15) NOT NULL, c_acctbal DECIMAL(15,2) NOT NULL, c_mktsegment CHAR(10) NOT NULL, \
     c_comment VARCHAR(117) NOT NULL, KEY c_nation (c_nationkey))",
    "CREATE TABLE orders (o_orderkey INT NOT NULL PRIMARY KEY, o_custkey INT NOT NULL, o_orderstatus CHAR(1) NOT NULL, \
     o_totalprice DECIMAL(15,2) NOT NULL, o_orderdate DATE NOT NULL, o_orderpriority CHAR(15) NOT NULL, o_clerk CHAR(15) NOT NULL, \
     o_shippriority INT NOT NULL, o_comment VARCHAR(79) NOT NULL, KEY o_cust (o_custkey))",
    "CREATE TABLE lineitem (l_orderkey INT NOT NULL, l_partkey INT NOT NULL, l_suppkey INT NOT NULL, l_linenumber INT NOT NULL, \
     l_quantity DECIMAL(15,2) NOT NULL, l_extendedprice DECIMAL(15,2) NOT NULL, l_discount DECIMAL(15,2) NOT NULL, \
     l_tax DECIMAL(15,2) NOT NULL, l_returnflag CHAR(1) NOT NULL, l_linestatus CHAR(1) NOT NULL, l_shipdate DATE NOT NULL, \
     l_commitdate DATE NOT NULL, l_receiptdate DATE NOT NULL, l_shipinstruct CHAR(25) NOT NULL, l_shipmode CHAR(10) NOT NULL, \
     l_comment VARCHAR(44) NOT NULL, PRIMARY KEY (l_orderkey, l_linenumber), KEY l_part_supp (l_partkey, l_suppkey), \
     KEY l_supp (l_suppkey))",
];

const REGIONS: &[&str] = &["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"];
/// Names with their regions.
const NATIONS: &[(&str, u8)] = &[
    ("ALGERIA", 0),
    ("ARGENTINA", 1),
    ("BRAZIL", 1),
    ("CANADA", 1),
    ("EGYPT", 4),
    ("ETHIOPIA", 0),
    ("FRANCE", 3),
    ("GERMANY", 3),
    ("INDIA", 2),
    ("INDONESIA", 2),
    ("IRAN", 4),
    ("IRAQ", 4),
    ("JAPAN", 2),
    ("JORDAN", 4),
    ("KENYA", 0),
    ("MOROCCO", 0),
    ("MOZAMBIQUE", 0),
    ("PERU", 1),
    ("CHINA", 2),
    ("ROMANIA", 3),
    ("SAUDI ARABIA", 4),
    ("VIETNAM", 2),
    ("RUSSIA", 3),
    ("UNITED KINGDOM", 3),
    ("UNITED STATES", 1),
];
const COLORS: &[&str] = &[
    "almond",
    "antique",
    "azure",
    "beige",
    "bisque",
    "black",
    "blue",
    "brown",
    "chocolate",
    "coral",
    "cream",
    "cyan",
    "dark",
    "forest",
    "frosted",
    "ghost",
    "gold",
    "green",
    "grey",
    "honeydew",
    "hot",
    "indian",
    "ivory",
    "khaki",
    "lace",
    "lemon",
    "lime",
    "linen",
    "magenta",
    "maroon",
    "metallic",
    "mint",
    "misty",
    "navy",
    "olive",
    "orange",
    "orchid",
    "pale",
    "peach",
    "pink",
    "plum",
    "purple",
    "red",
    "rose",
    "royal",
    "salmon",
    "sandy",
    "sienna",
    "sky",
    "snow",
    "steel",
    "tan",
    "thistle",
    "tomato",
    "violet",
    "wheat",
    "white",
    "yellow",
];
const TYPES: [&[&str]; 3] = [
    &["STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"],
    &["ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"],
    &["TIN", "NICKEL", "BRASS", "STEEL", "COPPER"],
];
const CONTAINERS: [&[&str]; 2] =
    [&["SM", "LG", "MED", "JUMBO", "WRAP"], &["CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"]];
const SEGMENTS: &[&str] = &["AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD"];
const PRIORITIES: &[&str] = &["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"];
const INSTRUCTIONS: &[&str] = &["DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"];
const MODES: &[&str] = &["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"];
const WORDS: &[&str] = &[
    "packages",
    "requests",
    "accounts",
    "deposits",
    "foxes",
    "ideas",
    "theodolites",
    "pinto",
    "beans",
    "instructions",
    "special",
    "pending",
    "regular",
    "express",
    "final",
    "bold",
    "even",
    "silent",
    "quickly",
    "slowly",
    "carefully",
    "furiously",
    "sleep",
    "wake",
    "haggle",
    "nag",
    "above",
    "among",
    "after",
    "the",
    "about",
    "across",
];

/// Days from 1992-01-01; the last order comes on 1998-08-02.
const ORDER_DAYS: i64 = 2405;
/// 1995-06-17
const TODAY: i64 = 1263;

pub struct Scale {
    pub suppliers: i64,
    pub parts: i64,
    pub customers: i64,
    pub orders: i64,
}

impl Scale {
    pub fn new(factor: f64) -> Self {
        let rows = |full: f64| (full * factor).round().max(1.0) as i64;
        Self { suppliers: rows(10_000.0), parts: rows(200_000.0), customers: rows(150_000.0), orders: rows(1_500_000.0) }
    }

    /// The `n`th supplier of a part, of four.
    fn supplier_of(&self, part: i64, n: i64) -> i64 {
        let s = self.suppliers;
        (part + n * (s / 4 + (part - 1) / s)) % s + 1
    }
}

/// Calls `take` with a table's name and each of its rows, as the inside of `VALUES (...)`.
pub fn rows(scale: &Scale, take: &mut dyn FnMut(&'static str, &str) -> Result<(), String>) -> Result<(), String> {
    let mut row = String::new();
    let mut random = Random::new(1);
    for (n, name) in REGIONS.iter().enumerate() {
        line(&mut row, format_args!("{n},'{name}','{}'", text(&mut random, 6)));
        take("region", &row)?;
    }
    for (n, (name, region)) in NATIONS.iter().enumerate() {
        line(&mut row, format_args!("{n},'{name}',{region},'{}'", text(&mut random, 6)));
        take("nation", &row)?;
    }
    parts(scale, take)?;
    suppliers(scale, take)?;
    customers(scale, take)?;
    orders(scale, take)
}

type Take<'t> = &'t mut dyn FnMut(&'static str, &str) -> Result<(), String>;

fn line(row: &mut String, arguments: std::fmt::Arguments<'_>) {
    row.clear();
    row.write_fmt(arguments).expect("a string takes everything");
}

fn text(random: &mut Random, words: usize) -> String {
    (0..words).map(|_| random.one(WORDS)).collect::<Vec<_>>().join(" ")
}

fn cents(amount: i64) -> String {
    let sign = if amount < 0 { "-" } else { "" };
    format!("{sign}{}.{:02}", amount.abs() / 100, amount.abs() % 100)
}

fn phone(random: &mut Random, nation: i64) -> String {
    let (a, b, c) = (random.between(100, 999), random.between(100, 999), random.between(1000, 9999));
    format!("{}-{a}-{b}-{c}", nation + 10)
}

fn retail_price(part: i64) -> i64 {
    90_000 + (part / 10) % 20_001 + 100 * (part % 1000)
}

fn parts(scale: &Scale, take: Take<'_>) -> Result<(), String> {
    let mut random = Random::new(2);
    let mut row = String::new();
    for part in 1..=scale.parts {
        let mut names: Vec<&str> = Vec::with_capacity(5);
        while names.len() < 5 {
            let color = random.one(COLORS);
            if !names.contains(&color) {
                names.push(color);
            }
        }
        let maker = random.between(1, 5);
        let brand = maker * 10 + random.between(1, 5);
        let [a, b, c] = TYPES.map(|words| random.one(words));
        let [size, pack] = CONTAINERS.map(|words| random.one(words));
        let (inches, price, comment) = (random.between(1, 50), cents(retail_price(part)), text(&mut random, 1));
        line(
            &mut row,
            format_args!(
                "{part},'{}','Manufacturer#{maker}','Brand#{brand}','{a} {b} {c}',{inches},'{size} {pack}',{price},'{comment}'",
                names.join(" ")
            ),
        );
        take("part", &row)?;
    }
    for part in 1..=scale.parts {
        for n in 0..4 {
            let (supplier, quantity) = (scale.supplier_of(part, n), random.between(1, 9999));
            let cost = cents(random.between(100, 100_000));
            line(&mut row, format_args!("{part},{supplier},{quantity},{cost},'{}'", text(&mut random, 12)));
            take("partsupp", &row)?;
        }
    }
    Ok(())
}

fn suppliers(scale: &Scale, take: Take<'_>) -> Result<(), String> {
    let mut random = Random::new(3);
    let mut row = String::new();
    for supplier in 1..=scale.suppliers {
        let nation = random.between(0, 24);
        let comment = match random.between(1, 2000) {
            1 => "blithely Customer even Complaints".to_owned(),
            2 => "blithely Customer even Recommends".to_owned(),
            _ => text(&mut random, 7),
        };
        let (address, phone, balance) = (text(&mut random, 2), phone(&mut random, nation), random.between(-99_999, 999_999));
        line(
            &mut row,
            format_args!("{supplier},'Supplier#{supplier:09}','{address}',{nation},'{phone}',{},'{comment}'", cents(balance)),
        );
        take("supplier", &row)?;
    }
    Ok(())
}

fn customers(scale: &Scale, take: Take<'_>) -> Result<(), String> {
    let mut random = Random::new(4);
    let mut row = String::new();
    for customer in 1..=scale.customers {
        let nation = random.between(0, 24);
        let (address, phone, balance) = (text(&mut random, 2), phone(&mut random, nation), random.between(-99_999, 999_999));
        let (segment, comment) = (random.one(SEGMENTS), text(&mut random, 9));
        line(
            &mut row,
            format_args!(
                "{customer},'Customer#{customer:09}','{address}',{nation},'{phone}',{},'{segment}','{comment}'",
                cents(balance)
            ),
        );
        take("customer", &row)?;
    }
    Ok(())
}

fn orders(scale: &Scale, take: Take<'_>) -> Result<(), String> {
    let mut random = Random::new(5);
    let (mut row, mut lines) = (String::new(), Vec::new());
    for number in 0..scale.orders {
        // Eight keys of each 32 are used.
        let order = number / 8 * 32 + number % 8 + 1;
        // A third of the customers has no orders.
        let mut customer = random.between(1, scale.customers);
        while customer % 3 == 0 && scale.customers > 2 {
            customer = random.between(1, scale.customers);
        }
        let day = random.between(0, ORDER_DAYS);
        let mut total = 0;
        let mut open = 0;
        let count = random.between(1, 7);
        lines.clear();
        for n in 1..=count {
            let part = random.between(1, scale.parts);
            let which = random.between(0, 3);
            let supplier = scale.supplier_of(part, which);
            let (quantity, discount, tax) = (random.between(1, 50), random.between(0, 10), random.between(0, 8));
            let price = quantity * retail_price(part);
            let ship = day + random.between(1, 121);
            let (commit, receipt) = (day + random.between(30, 90), ship + random.between(1, 30));
            let returned = if receipt <= TODAY { random.one(&["R", "A"]) } else { "N" };
            let status = if ship > TODAY { "O" } else { "F" };
            open += i64::from(ship > TODAY);
            total += price * (100 + tax) * (100 - discount) / 10_000;
            let (instruction, mode) = (random.one(INSTRUCTIONS), random.one(MODES));
            line(
                &mut row,
                format_args!(
                    "{order},{part},{supplier},{n},{quantity},{},0.{discount:02},0.{tax:02},'{returned}','{status}','{}','{}','{}',\
                     '{instruction}','{mode}','{}'",
                    cents(price),
                    date(ship),
                    date(commit),
                    date(receipt),
                    text(&mut random, 3)
                ),
            );
            lines.push(row.clone());
        }
        let status = match open {
            0 => "F",
            open if open == count => "O",
            _ => "P",
        };
        let (priority, clerk) = (random.one(PRIORITIES), random.between(1, (scale.orders / 1500).max(1)));
        let comment = text(&mut random, 6);
        line(
            &mut row,
            format_args!(
                "{order},{customer},'{status}',{},'{}','{priority}','Clerk#{clerk:09}',0,'{comment}'",
                cents(total),
                date(day)
            ),
        );
        take("orders", &row)?;
        lines.iter().try_for_each(|line| take("lineitem", line))?;
    }
    Ok(())
}

/// The day so many days after 1992-01-01.
fn date(days: i64) -> String {
    let mut left = days;
    let mut year = 1992;
    loop {
        let length = if year % 4 == 0 { 366 } else { 365 };
        if left < length {
            break;
        }
        left -= length;
        year += 1;
    }
    let february = if year % 4 == 0 { 29 } else { 28 };
    for (month, length) in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].into_iter().enumerate() {
        if left < length {
            return format!("{year}-{:02}-{:02}", month + 1, left + 1);
        }
        left -= length;
    }
    unreachable!("a year has twelve months")
}
