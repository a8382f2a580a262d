//! The five transactions as statements of the client (clauses 2.4.2 to 2.8.2).

use crate::answer::column;
use crate::database::{Database, Value};
use crate::error::Error;
use crate::random::DISTRICTS;
use crate::terminal::{Customer, End, Input, Line};

/// Bytes of `c_data` (1.3.1).
const DATA_BYTES: usize = 500;

/// Runs one transaction of the terminal at `home`, a warehouse and one of its districts.
pub async fn run(db: &mut Database, home: (u32, u32), input: &Input) -> Result<End, Error> {
    let (w, home_district) = home;
    db.batch("START TRANSACTION").await?;
    let end = match input {
        Input::NewOrder { district, customer, lines } => new_order(db, w, *district, *customer, lines).await?,
        Input::Payment { district, at, customer, amount } => payment(db, (w, *district), *at, customer, amount).await?,
        Input::OrderStatus { district, customer } => order_status(db, w, *district, customer).await?,
        Input::Delivery { carrier } => delivery(db, w, *carrier).await?,
        Input::StockLevel { threshold } => stock_level(db, w, home_district, *threshold).await?,
    };
    db.batch(if end == End::Committed { "COMMIT" } else { "ROLLBACK" }).await?;
    Ok(end)
}

/// What a line of an order takes from the stock row: `s_dist_01` and so on by district.
const STOCK: [&str; DISTRICTS as usize] = [
    "SELECT s_quantity, s_data, s_dist_01 FROM stock WHERE s_w_id = ? AND s_i_id = ? FOR UPDATE",
    "SELECT s_quantity, s_data, s_dist_02 FROM stock WHERE s_w_id = ? AND s_i_id = ? FOR UPDATE",
    "SELECT s_quantity, s_data, s_dist_03 FROM stock WHERE s_w_id = ? AND s_i_id = ? FOR UPDATE",
    "SELECT s_quantity, s_data, s_dist_04 FROM stock WHERE s_w_id = ? AND s_i_id = ? FOR UPDATE",
    "SELECT s_quantity, s_data, s_dist_05 FROM stock WHERE s_w_id = ? AND s_i_id = ? FOR UPDATE",
    "SELECT s_quantity, s_data, s_dist_06 FROM stock WHERE s_w_id = ? AND s_i_id = ? FOR UPDATE",
    "SELECT s_quantity, s_data, s_dist_07 FROM stock WHERE s_w_id = ? AND s_i_id = ? FOR UPDATE",
    "SELECT s_quantity, s_data, s_dist_08 FROM stock WHERE s_w_id = ? AND s_i_id = ? FOR UPDATE",
    "SELECT s_quantity, s_data, s_dist_09 FROM stock WHERE s_w_id = ? AND s_i_id = ? FOR UPDATE",
    "SELECT s_quantity, s_data, s_dist_10 FROM stock WHERE s_w_id = ? AND s_i_id = ? FOR UPDATE",
];

async fn new_order(db: &mut Database, w: u32, d: u32, c: u32, lines: &[Line]) -> Result<End, Error> {
    let row = db
        .row(
            "SELECT c_discount, c_last, c_credit, w_tax FROM customer JOIN warehouse ON w_id = c_w_id \
         WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
            &[w.into(), d.into(), c.into()],
        )
        .await?;
    let (discount, warehouse_tax): (f64, f64) = (column(&row, 0)?, column(&row, 3)?);
    let row =
        db.row("SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = ? AND d_id = ? FOR UPDATE", &[w.into(), d.into()]).await?;
    let (o, district_tax): (u32, f64) = (column(&row, 0)?, column(&row, 1)?);
    db.change("UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = ? AND d_id = ?", &[w.into(), d.into()]).await?;
    let local = lines.iter().all(|line| line.warehouse == w);
    db.change(
        "INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) VALUES (?, ?, ?, ?, NOW(), ?, ?)",
        &[w.into(), d.into(), o.into(), c.into(), lines.len().into(), u32::from(local).into()],
    )
    .await?;
    db.change("INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (?, ?, ?)", &[w.into(), d.into(), o.into()]).await?;
    let mut total = 0.0;
    for (number, line) in (1_u32..).zip(lines) {
        let found = db.rows("SELECT i_price, i_name, i_data FROM item WHERE i_id = ?", &[line.item.into()]).await?;
        let Some(item) = found.first() else {
            return Ok(End::RolledBack);
        };
        let price: f64 = column(&item, 0)?;
        let stock = db.row(STOCK[d as usize - 1], &[line.warehouse.into(), line.item.into()]).await?;
        let (quantity, info): (i64, String) = (column(&stock, 0)?, column(&stock, 2)?);
        let ordered = i64::from(line.quantity);
        let left = if quantity >= ordered + 10 { quantity - ordered } else { quantity - ordered + 91 };
        db.change(
            "UPDATE stock SET s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + ? \
             WHERE s_w_id = ? AND s_i_id = ?",
            &[left.into(), ordered.into(), u32::from(line.warehouse != w).into(), line.warehouse.into(), line.item.into()],
        )
        .await?;
        let amount = f64::from(line.quantity) * price;
        total += amount;
        db.change(
            "INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            &[
                w.into(),
                d.into(),
                o.into(),
                number.into(),
                line.item.into(),
                line.warehouse.into(),
                ordered.into(),
                (&format!("{amount:.2}")).into(),
                (&info).into(),
            ],
        ).await?;
    }
    std::hint::black_box(total * (1.0 - discount) * (1.0 + warehouse_tax + district_tax));
    Ok(End::Committed)
}

/// The number of a customer: of several of one name the middle one by first name, rounded up (2.5.2.2).
async fn find_customer(db: &mut Database, w: u32, d: u32, customer: &Customer) -> Result<u32, Error> {
    match customer {
        Customer::Number(number) => Ok(*number),
        Customer::LastName(name) => {
            let found = db
                .rows(
                    "SELECT c_id FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first",
                    &[w.into(), d.into(), name.as_str().into()],
                )
                .await?;
            let middle = found.len().div_ceil(2).checked_sub(1);
            let middle = middle.and_then(|at| found.get(at));
            let row = middle.ok_or_else(|| Error::Answer(format!("nobody is called {name} in {w}, {d}")))?;
            column(&row, 0)
        }
    }
}

async fn payment(db: &mut Database, here: (u32, u32), at: (u32, u32), customer: &Customer, amount: &str) -> Result<End, Error> {
    let (w, d) = here;
    let (cw, cd) = at;
    db.change("UPDATE warehouse SET w_ytd = w_ytd + ? WHERE w_id = ?", &[amount.into(), w.into()]).await?;
    let row = db
        .row("SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse WHERE w_id = ?", &[w.into()])
        .await?;
    let warehouse: String = column(&row, 0)?;
    db.change("UPDATE district SET d_ytd = d_ytd + ? WHERE d_w_id = ? AND d_id = ?", &[amount.into(), w.into(), d.into()])
        .await?;
    let row = db
        .row(
            "SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district WHERE d_w_id = ? AND d_id = ?",
            &[w.into(), d.into()],
        )
        .await?;
    let district: String = column(&row, 0)?;
    let c = find_customer(db, cw, cd, customer).await?;
    let key: [Value<'_>; 3] = [cw.into(), cd.into(), c.into()];
    let row = db.row(
        "SELECT c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_credit, c_credit_lim, c_discount, \
         c_balance, c_since FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ? FOR UPDATE",
        &key,
    ).await?;
    let credit: String = column(&row, 9)?;
    if credit == "BC" {
        let row = db.row("SELECT c_data FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?", &key).await?;
        let old: String = column(&row, 0)?;
        let mut data = format!("{c} {cd} {cw} {d} {w} {amount} {old}");
        data.truncate(DATA_BYTES);
        db.change(
            "UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, c_payment_cnt = c_payment_cnt + 1, c_data = ? \
             WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
            &[amount.into(), amount.into(), (&data).into(), cw.into(), cd.into(), c.into()],
        ).await?;
    } else {
        db.change(
            "UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, c_payment_cnt = c_payment_cnt + 1 \
             WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
            &[amount.into(), amount.into(), cw.into(), cd.into(), c.into()],
        )
        .await?;
    }
    db.change(
        "INSERT INTO history (h_c_d_id, h_c_w_id, h_c_id, h_d_id, h_w_id, h_date, h_amount, h_data) VALUES (?, ?, ?, ?, ?, NOW(), ?, ?)",
        &[cd.into(), cw.into(), c.into(), d.into(), w.into(), amount.into(), (&format!("{warehouse}    {district}")).into()],
    ).await?;
    Ok(End::Committed)
}

async fn order_status(db: &mut Database, w: u32, d: u32, customer: &Customer) -> Result<End, Error> {
    let c = find_customer(db, w, d, customer).await?;
    let key: [Value<'_>; 3] = [w.into(), d.into(), c.into()];
    db.row("SELECT c_balance, c_first, c_middle, c_last FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?", &key)
        .await?;
    let row = db.row(
        "SELECT o_id, o_carrier_id, o_entry_d FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ? ORDER BY o_id DESC LIMIT 1",
        &key,
    ).await?;
    let o: u32 = column(&row, 0)?;
    let lines = db
        .rows(
            "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line \
         WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?",
            &[w.into(), d.into(), o.into()],
        )
        .await?;
    if lines.is_empty() {
        return Err(Error::Answer(format!("order {o} of {w}, {d} has no lines")));
    }
    Ok(End::Committed)
}

async fn delivery(db: &mut Database, w: u32, carrier: u32) -> Result<End, Error> {
    for d in 1..=DISTRICTS {
        let found = db
            .rows(
                "SELECT no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ? ORDER BY no_o_id LIMIT 1 FOR UPDATE",
                &[w.into(), d.into()],
            )
            .await?;
        let Some(first) = found.first() else {
            continue; // 2.7.4.2: a district without new orders is left out
        };
        let o: u32 = column(&first, 0)?;
        let key: [Value<'_>; 3] = [w.into(), d.into(), o.into()];
        db.change("DELETE FROM new_order WHERE no_w_id = ? AND no_d_id = ? AND no_o_id = ?", &key).await?;
        // The oldest new order may be younger than this transaction's snapshot. The sum below sees its lines, as they are changed here.
        let row = db.row("SELECT o_c_id FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_id = ? FOR UPDATE", &key).await?;
        let c: u32 = column(&row, 0)?;
        db.change(
            "UPDATE orders SET o_carrier_id = ? WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?",
            &[carrier.into(), w.into(), d.into(), o.into()],
        )
        .await?;
        db.change("UPDATE order_line SET ol_delivery_d = NOW() WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?", &key).await?;
        let row = db.row("SELECT SUM(ol_amount) FROM order_line WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?", &key).await?;
        let amount: String = column(&row, 0)?;
        db.change(
            "UPDATE customer SET c_balance = c_balance + ?, c_delivery_cnt = c_delivery_cnt + 1 \
             WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
            &[(&amount).into(), w.into(), d.into(), c.into()],
        )
        .await?;
    }
    Ok(End::Committed)
}

async fn stock_level(db: &mut Database, w: u32, d: u32, threshold: u32) -> Result<End, Error> {
    let row = db.row("SELECT d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ?", &[w.into(), d.into()]).await?;
    let next: u32 = column(&row, 0)?;
    db.row(
        "SELECT COUNT(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id \
         WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id >= ? AND ol_o_id < ? AND s_quantity < ?",
        &[w.into(), d.into(), next.saturating_sub(20).into(), next.into(), threshold.into()],
    )
    .await?;
    Ok(End::Committed)
}
