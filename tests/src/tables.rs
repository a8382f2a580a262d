//! Are the tables of two servers the same?

use mysql::prelude::Queryable;

/// The characters of a row that a message shows.
const SHOWN_MAX: usize = 400;

/// Have both servers the same tables in these databases, with the same rows? Both are at rest.
///
/// # Errors
/// What differs; a server's error.
pub fn same_rows(here: &mut mysql::Conn, there: &mut mysql::Conn, databases: &[&str]) -> Result<(), String> {
    let databases: Vec<String> = databases.iter().map(|name| format!("'{name}'")).collect();
    let names = format!(
        "SELECT CONCAT('`', table_schema, '`.`', table_name, '`') FROM information_schema.tables WHERE table_schema IN ({}) ORDER BY 1",
        databases.join(", ")
    );
    let text = |error: mysql::Error| error.to_string();
    let (tables, others): (Vec<String>, Vec<String>) = (here.query(&names).map_err(text)?, there.query(&names).map_err(text)?);
    if tables != others {
        return Err(format!("tables {tables:?} here, {others:?} there"));
    }
    for table in tables {
        let rows = |client: &mut mysql::Conn| -> Result<Vec<String>, String> {
            let rows: Vec<mysql::Row> =
                client.query(format!("SELECT * FROM {table}")).map_err(|error| format!("{table}: {error}"))?;
            let mut rows: Vec<String> = rows.into_iter().map(|row| format!("{:?}", row.unwrap())).collect();
            rows.sort_unstable();
            Ok(rows)
        };
        let (one, other) = (rows(here)?, rows(there)?);
        if one != other {
            let differ = one.iter().zip(&other).find(|(a, b)| a != b);
            let cut = |row: &String| row.chars().take(SHOWN_MAX).collect::<String>();
            let differ = differ.map(|(a, b)| (cut(a), cut(b)));
            return Err(format!("{table}: {} rows here, {} there; {differ:?}", one.len(), other.len()));
        }
    }
    Ok(())
}
