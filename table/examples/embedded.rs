//! A table in this process: insert, read, change and delete rows by key, without a server.
//!
//! `cargo run -p table --example embedded`

use table::embedded::{Acknowledge, Embedded, Error, LockMode, NewTable, Options, Update, Value};
use table::embedded::{ColumnType, TypeKind};

fn main() -> Result<(), Error> {
    let folder = std::env::temp_dir().join(format!("heddle-example-{}", std::process::id()));
    let embedded = Embedded::open(&Options::new(&folder))?;
    let accounts = embedded.ensure_table(
        NewTable::new("bank", "accounts")
            .column("id", ColumnType::new(TypeKind::BigInt))
            .column("owner", ColumnType::new(TypeKind::VarChar { length: 60 }))
            .column("cents", ColumnType::new(TypeKind::BigInt))
            .primary_key(&["id"])
            .key("by_owner", &["owner"]),
    )?;
    // One session per thread.
    let mut session = embedded.session()?;

    let account = |id, owner: &'static str| [Value::Int(id), Value::text(owner.as_bytes()), Value::Int(10_000)];
    let rows = [account(1, "Ada"), account(2, "Grace"), account(1, "Alan")];
    for (row, outcome) in rows.iter().zip(session.insert(&accounts, &rows, Acknowledge::Durable)?) {
        println!("insert {:?}: {outcome:?}", row[0]);
    }

    // Several batches as one transaction: 25.00 go from one account to the other.
    let (from, to) = ([Value::Int(1)], [Value::Int(2)]);
    let mut cents = [0; 2];
    let mut transaction = session.begin();
    transaction.lock(&accounts, &[&from, &to], LockMode::Exclusive, |position, row| {
        if let Some(Ok(Value::Int(number))) = row.map(|row| row.get(2)) {
            cents[position] = number;
        }
    })?;
    let changes = [[(2, Value::Int(cents[0] - 2_500))], [(2, Value::Int(cents[1] + 2_500))]];
    transaction.update(&accounts, &[Update { key: &from, changes: &changes[0] }, Update { key: &to, changes: &changes[1] }])?;
    transaction.commit(Acknowledge::Durable)?;

    session.read(&accounts, &[[Value::Int(1)], [Value::Int(2)], [Value::Int(3)]], |position, row| match row {
        Some(row) => println!("key {}: {:?} has {:?}", position + 1, row.get(1), row.get(2)),
        None => println!("key {}: no row", position + 1),
    })?;
    let deleted = session.delete(&accounts, &[[Value::Int(2)]], Acknowledge::NotDurable)?;
    println!("delete: {deleted:?}");

    drop(session);
    embedded.close()?;
    std::fs::remove_dir_all(&folder).ok();
    Ok(())
}
