//! Fills the tables as clause 4.3.3.1 says, one warehouse a connection at a time.

use crate::database::{Database, Error};
use crate::random::{CUSTOMERS, DISTRICTS, ITEMS, Random, last_name};
use crate::schema::{TABLES, create};
use crate::{Protocol, Server, procedures};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

/// Bytes of one INSERT; well below what any server takes as one packet.
const STATEMENT_BYTES: usize = 256 << 10;
/// Rows of one transaction, about.
const TRANSACTION_ROWS: u32 = 30_000;
/// Orders from here on are new: not delivered yet.
const FIRST_NEW_ORDER: u32 = 2_101;

/// `tpcc load`.
pub fn run(server: &Server, loaders: u32) -> Result<(), Error> {
    let began = Instant::now();
    let mut first = Database::connect(server, false, Protocol::Text)?;
    let name = &server.database;
    first.batch(&format!("DROP DATABASE IF EXISTS `{name}`"))?;
    first.batch(&format!("CREATE DATABASE `{name}` CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"))?;
    first.batch(&format!("USE `{name}`"))?;
    for (table, columns) in TABLES {
        first.batch(&create(table, columns))?;
    }
    for procedure in procedures::ALL {
        first.batch(procedure)?;
    }
    items(&mut first)?;
    println!("{ITEMS} items, {:.1} s", began.elapsed().as_secs_f64());
    // Relaxed: the number is all that is shared.
    let next = AtomicU32::new(1);
    std::thread::scope(|scope| {
        let work = || -> Result<(), Error> {
            let mut db = Database::connect(server, true, Protocol::Text)?;
            loop {
                let warehouse = next.fetch_add(1, Ordering::Relaxed);
                if warehouse > server.warehouses {
                    return Ok(());
                }
                fill(&mut db, warehouse)?;
                println!("warehouse {warehouse} of {}, {:.1} s", server.warehouses, began.elapsed().as_secs_f64());
            }
        };
        let all: Vec<_> = (0..loaders.min(server.warehouses)).map(|_| scope.spawn(work)).collect();
        all.into_iter().try_for_each(|one| one.join().expect("a loader does not panic"))
    })?;
    let names: Vec<&str> = TABLES.iter().map(|(table, _)| *table).collect();
    first.query(&format!("ANALYZE TABLE {}", names.join(", ")))?;
    println!("{} warehouses in `{name}`, {:.1} s", server.warehouses, began.elapsed().as_secs_f64());
    Ok(())
}

/// Rows of one table, sent many at a time.
struct Rows<'a> {
    db: &'a mut Database,
    table: &'static str,
    text: String,
    uncommitted: u32,
}

impl<'a> Rows<'a> {
    fn new(db: &'a mut Database, table: &'static str) -> Result<Self, Error> {
        db.batch("START TRANSACTION")?;
        Ok(Self { db, table, text: String::new(), uncommitted: 0 })
    }

    /// Adds a row, whose values are written as SQL has them.
    fn add(&mut self, values: std::fmt::Arguments<'_>) -> Result<(), Error> {
        if self.text.is_empty() {
            write!(self.text, "INSERT INTO {} VALUES ", self.table).expect("text takes all");
        } else {
            self.text.push(',');
        }
        write!(self.text, "({values})").expect("text takes all");
        self.uncommitted += 1;
        if self.text.len() > STATEMENT_BYTES {
            self.send()?;
        }
        Ok(())
    }

    fn send(&mut self) -> Result<(), Error> {
        if !self.text.is_empty() {
            self.db.batch(&self.text)?;
            self.text.clear();
        }
        if self.uncommitted > TRANSACTION_ROWS {
            self.db.batch("COMMIT")?;
            self.db.batch("START TRANSACTION")?;
            self.uncommitted = 0;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<(), Error> {
        self.send()?;
        self.db.batch("COMMIT")
    }
}

fn items(db: &mut Database) -> Result<(), Error> {
    let mut random = Random::new(0);
    let mut rows = Rows::new(db, "item")?;
    for id in 1..=ITEMS {
        let (image, name, price, data) =
            (random.number(1, 10_000), random.text(14, 24), random.amount(100, 10_000), random.data());
        rows.add(format_args!("{id},{image},'{name}',{price},'{data}'"))?;
    }
    rows.finish()
}

fn fill(db: &mut Database, w: u32) -> Result<(), Error> {
    let mut random = Random::new(u64::from(w));
    let mut rows = Rows::new(db, "warehouse")?;
    let place = place(&mut random);
    rows.add(format_args!("{w},'{}',{place},0.{:04},300000.00", random.text(6, 10), random.number(0, 2_000)))?;
    rows.finish()?;
    stock(db, &mut random, w)?;
    let mut rows = Rows::new(db, "district")?;
    for d in 1..=DISTRICTS {
        let place = self::place(&mut random);
        let (name, tax) = (random.text(6, 10), random.number(0, 2_000));
        rows.add(format_args!("{w},{d},'{name}',{place},0.{tax:04},30000.00,{}", CUSTOMERS + 1))?;
    }
    rows.finish()?;
    for d in 1..=DISTRICTS {
        customers(db, &mut random, w, d)?;
        orders(db, &mut random, w, d)?;
    }
    Ok(())
}

/// Two streets, city, state and zip code.
fn place(random: &mut Random) -> String {
    let [one, two, city] = [(); 3].map(|()| random.text(10, 20));
    format!("'{one}','{two}','{city}','{}','{}'", random.text(2, 2), random.zip())
}

fn stock(db: &mut Database, random: &mut Random, w: u32) -> Result<(), Error> {
    let mut rows = Rows::new(db, "stock")?;
    for item in 1..=ITEMS {
        let quantity = random.number(10, 100);
        let districts = [(); DISTRICTS as usize].map(|()| random.text(24, 24)).join("','");
        rows.add(format_args!("{w},{item},{quantity},'{districts}',0,0,0,'{}'", random.data()))?;
    }
    rows.finish()
}

fn customers(db: &mut Database, random: &mut Random, w: u32, d: u32) -> Result<(), Error> {
    let mut rows = Rows::new(db, "customer")?;
    for c in 1..=CUSTOMERS {
        let last = if c <= 1_000 { last_name(c - 1) } else { random.last_name_to_load() };
        let (first, place, phone) = (random.text(8, 16), place(random), random.digits(16));
        let credit = if random.percent(10) { "BC" } else { "GC" };
        let (discount, data) = (random.number(0, 5_000), random.text(300, 500));
        rows.add(format_args!(
            "{w},{d},{c},'{first}','OE','{last}',{place},'{phone}',NOW(),'{credit}',50000.00,0.{discount:04},-10.00,10.00,1,0,'{data}'"
        ))?;
    }
    rows.finish()?;
    let mut rows = Rows::new(db, "history")?;
    for c in 1..=CUSTOMERS {
        rows.add(format_args!("{c},{d},{w},{d},{w},NOW(),10.00,'{}'", random.text(12, 24)))?;
    }
    rows.finish()
}

fn orders(db: &mut Database, random: &mut Random, w: u32, d: u32) -> Result<(), Error> {
    let counts: Vec<u32> = (0..CUSTOMERS).map(|_| random.number(5, 15)).collect();
    let mut rows = Rows::new(db, "orders")?;
    for ((o, c), lines) in (1..).zip(random.permutation(CUSTOMERS)).zip(&counts) {
        let carrier = if o < FIRST_NEW_ORDER { random.number(1, 10).to_string() } else { "NULL".into() };
        rows.add(format_args!("{w},{d},{o},{c},NOW(),{carrier},{lines},1"))?;
    }
    rows.finish()?;
    let mut rows = Rows::new(db, "order_line")?;
    for (o, &lines) in (1..).zip(&counts) {
        for line in 1..=lines {
            let (item, info) = (random.number(1, ITEMS), random.text(24, 24));
            let delivered = o < FIRST_NEW_ORDER;
            let (when, amount) = if delivered { ("NOW()", "0.00".into()) } else { ("NULL", random.amount(1, 999_999)) };
            rows.add(format_args!("{w},{d},{o},{line},{item},{w},{when},5,{amount},'{info}'"))?;
        }
    }
    rows.finish()?;
    let mut rows = Rows::new(db, "new_order")?;
    for o in FIRST_NEW_ORDER..=CUSTOMERS {
        rows.add(format_args!("{w},{d},{o}"))?;
    }
    rows.finish()
}
