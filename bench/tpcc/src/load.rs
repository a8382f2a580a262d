//! Fills the tables as clause 4.3.3.1 says, one warehouse a connection at a time.

use crate::database::{Database, block_on};
use crate::error::Error;
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

/// `tpcc load`, which tells how far it is. Rows take long to make up, so each loader has a thread.
pub fn run(server: &Server, loaders: u32, tell: impl Fn(String) + Sync) -> Result<(), Error> {
    let began = Instant::now();
    let name = &server.database;
    block_on(create_tables(server))?;
    tell(format!("{ITEMS} items, {:.1} s", began.elapsed().as_secs_f64()));
    // Relaxed: the number is all that is shared.
    let next = AtomicU32::new(1);
    let work = async || {
        let mut db = Database::connect(server, true, Protocol::Text)?;
        loop {
            let warehouse = next.fetch_add(1, Ordering::Relaxed);
            if warehouse > server.warehouses {
                return Ok(());
            }
            fill(&mut db, warehouse).await?;
            tell(format!("warehouse {warehouse} of {}, {:.1} s", server.warehouses, began.elapsed().as_secs_f64()));
        }
    };
    std::thread::scope(|scope| {
        let loader = || block_on(work());
        let all: Vec<_> = (0..loaders.min(server.warehouses)).map(|_| scope.spawn(loader)).collect();
        all.into_iter().try_for_each(|one| one.join().expect("a loader does not panic"))
    })?;
    block_on(analyze(server))?;
    tell(format!("{} warehouses in `{name}`, {:.1} s", server.warehouses, began.elapsed().as_secs_f64()));
    Ok(())
}

/// The database anew, with its procedures, and with the items, which no warehouse owns.
async fn create_tables(server: &Server) -> Result<(), Error> {
    let mut db = Database::connect(server, false, Protocol::Text)?;
    let name = &server.database;
    db.batch(&format!("DROP DATABASE IF EXISTS `{name}`")).await?;
    db.batch(&format!("CREATE DATABASE `{name}` CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")).await?;
    db.batch(&format!("USE `{name}`")).await?;
    for (table, columns) in TABLES {
        db.batch(&create(table, columns)).await?;
    }
    for procedure in procedures::ALL {
        db.batch(procedure).await?;
    }
    items(&mut db).await
}

async fn analyze(server: &Server) -> Result<(), Error> {
    let mut db = Database::connect(server, true, Protocol::Text)?;
    let names: Vec<&str> = TABLES.iter().map(|(table, _)| *table).collect();
    db.batch(&format!("ANALYZE TABLE {}", names.join(", "))).await
}

/// Rows of one table, sent many at a time.
struct Rows<'a> {
    db: &'a mut Database,
    table: &'static str,
    text: String,
    uncommitted: u32,
}

impl<'a> Rows<'a> {
    async fn new(db: &'a mut Database, table: &'static str) -> Result<Self, Error> {
        db.batch("START TRANSACTION").await?;
        Ok(Self { db, table, text: String::new(), uncommitted: 0 })
    }

    /// Adds a row, whose values are written as SQL has them.
    async fn add(&mut self, values: std::fmt::Arguments<'_>) -> Result<(), Error> {
        if self.text.is_empty() {
            write!(self.text, "INSERT INTO {} VALUES ", self.table).expect("text takes all");
        } else {
            self.text.push(',');
        }
        write!(self.text, "({values})").expect("text takes all");
        self.uncommitted += 1;
        if self.text.len() > STATEMENT_BYTES {
            self.send().await?;
        }
        Ok(())
    }

    async fn send(&mut self) -> Result<(), Error> {
        if !self.text.is_empty() {
            self.db.batch(&self.text).await?;
            self.text.clear();
        }
        if self.uncommitted > TRANSACTION_ROWS {
            self.db.batch("COMMIT").await?;
            self.db.batch("START TRANSACTION").await?;
            self.uncommitted = 0;
        }
        Ok(())
    }

    async fn finish(mut self) -> Result<(), Error> {
        self.send().await?;
        self.db.batch("COMMIT").await
    }
}

async fn items(db: &mut Database) -> Result<(), Error> {
    let mut random = Random::new(0);
    let mut rows = Rows::new(db, "item").await?;
    for id in 1..=ITEMS {
        let (image, name, price, data) =
            (random.number(1, 10_000), random.text(14, 24), random.amount(100, 10_000), random.data());
        rows.add(format_args!("{id},{image},'{name}',{price},'{data}'")).await?;
    }
    rows.finish().await
}

async fn fill(db: &mut Database, w: u32) -> Result<(), Error> {
    let mut random = Random::new(u64::from(w));
    let mut rows = Rows::new(db, "warehouse").await?;
    let place = place(&mut random);
    rows.add(format_args!("{w},'{}',{place},0.{:04},300000.00", random.text(6, 10), random.number(0, 2_000))).await?;
    rows.finish().await?;
    stock(db, &mut random, w).await?;
    let mut rows = Rows::new(db, "district").await?;
    for d in 1..=DISTRICTS {
        let place = self::place(&mut random);
        let (name, tax) = (random.text(6, 10), random.number(0, 2_000));
        rows.add(format_args!("{w},{d},'{name}',{place},0.{tax:04},30000.00,{}", CUSTOMERS + 1)).await?;
    }
    rows.finish().await?;
    for d in 1..=DISTRICTS {
        customers(db, &mut random, w, d).await?;
        orders(db, &mut random, w, d).await?;
    }
    Ok(())
}

/// Two streets, city, state and zip code.
fn place(random: &mut Random) -> String {
    let [one, two, city] = [(); 3].map(|()| random.text(10, 20));
    format!("'{one}','{two}','{city}','{}','{}'", random.text(2, 2), random.zip())
}

async fn stock(db: &mut Database, random: &mut Random, w: u32) -> Result<(), Error> {
    let mut rows = Rows::new(db, "stock").await?;
    for item in 1..=ITEMS {
        let quantity = random.number(10, 100);
        let districts = [(); DISTRICTS as usize].map(|()| random.text(24, 24)).join("','");
        rows.add(format_args!("{w},{item},{quantity},'{districts}',0,0,0,'{}'", random.data())).await?;
    }
    rows.finish().await
}

async fn customers(db: &mut Database, random: &mut Random, w: u32, d: u32) -> Result<(), Error> {
    let mut rows = Rows::new(db, "customer").await?;
    for c in 1..=CUSTOMERS {
        let last = if c <= 1_000 { last_name(c - 1) } else { random.last_name_to_load() };
        let (first, place, phone) = (random.text(8, 16), place(random), random.digits(16));
        let credit = if random.percent(10) { "BC" } else { "GC" };
        let (discount, data) = (random.number(0, 5_000), random.text(300, 500));
        rows.add(format_args!(
            "{w},{d},{c},'{first}','OE','{last}',{place},'{phone}',NOW(),'{credit}',50000.00,0.{discount:04},-10.00,10.00,1,0,'{data}'"
        )).await?;
    }
    rows.finish().await?;
    let mut rows = Rows::new(db, "history").await?;
    for c in 1..=CUSTOMERS {
        rows.add(format_args!("{c},{d},{w},{d},{w},NOW(),10.00,'{}'", random.text(12, 24))).await?;
    }
    rows.finish().await
}

async fn orders(db: &mut Database, random: &mut Random, w: u32, d: u32) -> Result<(), Error> {
    let counts: Vec<u32> = (0..CUSTOMERS).map(|_| random.number(5, 15)).collect();
    let mut rows = Rows::new(db, "orders").await?;
    for ((o, c), lines) in (1..).zip(random.permutation(CUSTOMERS)).zip(&counts) {
        let carrier = if o < FIRST_NEW_ORDER { random.number(1, 10).to_string() } else { "NULL".into() };
        rows.add(format_args!("{w},{d},{o},{c},NOW(),{carrier},{lines},1")).await?;
    }
    rows.finish().await?;
    let mut rows = Rows::new(db, "order_line").await?;
    for (o, &lines) in (1..).zip(&counts) {
        for line in 1..=lines {
            let (item, info) = (random.number(1, ITEMS), random.text(24, 24));
            let delivered = o < FIRST_NEW_ORDER;
            let (when, amount) = if delivered { ("NOW()", "0.00".into()) } else { ("NULL", random.amount(1, 999_999)) };
            rows.add(format_args!("{w},{d},{o},{line},{item},{w},{when},5,{amount},'{info}'")).await?;
        }
    }
    rows.finish().await?;
    let mut rows = Rows::new(db, "new_order").await?;
    for o in FIRST_NEW_ORDER..=CUSTOMERS {
        rows.add(format_args!("{w},{d},{o}")).await?;
    }
    rows.finish().await
}
