//! The five transactions as statements of the client (clauses 2.4.2 to 2.8.2).

use crate::database::{Database, Error, column};
use crate::random::DISTRICTS;
use crate::terminal::{Customer, End, Input, Line};
use mysql::Value;

/// Bytes of `c_data` (1.3.1).
const DATA_BYTES: usize = 500;

/// Runs one transaction of the terminal at `home`, a warehouse and one of its districts.
pub fn run(db: &mut Database, home: (u32, u32), input: &Input) -> Result<End, Error> {
    let (w, home_district) = home;
    db.batch("START TRANSACTION")?;
    let end = match input {
        Input::NewOrder { district, customer, lines } => new_order(db, w, *district, *customer, lines)?,
        Input::Payment { district, at, customer, amount } => payment(db, (w, *district), *at, customer, amount)?,
        Input::OrderStatus { district, customer } => order_status(db, w, *district, customer)?,
        Input::Delivery { carrier } => delivery(db, w, *carrier)?,
        Input::StockLevel { threshold } => stock_level(db, w, home_district, *threshold)?,
    };
    db.batch(if end == End::Committed { "COMMIT" } else { "ROLLBACK" })?;
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

fn new_order(db: &mut Database, w: u32, d: u32, c: u32, lines: &[Line]) -> Result<End, Error> {
    let mut row = db.row(
        "SELECT c_discount, c_last, c_credit, w_tax FROM customer JOIN warehouse ON w_id = c_w_id \
         WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
        &[w.into(), d.into(), c.into()],
    )?;
    let (discount, warehouse_tax): (f64, f64) = (column(&mut row, 0)?, column(&mut row, 3)?);
    let mut row =
        db.row("SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = ? AND d_id = ? FOR UPDATE", &[w.into(), d.into()])?;
    let (o, district_tax): (u32, f64) = (column(&mut row, 0)?, column(&mut row, 1)?);
    db.change("UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = ? AND d_id = ?", &[w.into(), d.into()])?;
    let local = lines.iter().all(|line| line.warehouse == w);
    db.change(
        "INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) VALUES (?, ?, ?, ?, NOW(), ?, ?)",
        &[w.into(), d.into(), o.into(), c.into(), lines.len().into(), u32::from(local).into()],
    )?;
    db.change("INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (?, ?, ?)", &[w.into(), d.into(), o.into()])?;
    let mut total = 0.0;
    for (number, line) in (1_u32..).zip(lines) {
        let found = db.rows("SELECT i_price, i_name, i_data FROM item WHERE i_id = ?", &[line.item.into()])?;
        let Some(mut item) = found.into_iter().next() else {
            return Ok(End::RolledBack);
        };
        let price: f64 = column(&mut item, 0)?;
        let mut stock = db.row(STOCK[d as usize - 1], &[line.warehouse.into(), line.item.into()])?;
        let (quantity, info): (i64, String) = (column(&mut stock, 0)?, column(&mut stock, 2)?);
        let ordered = i64::from(line.quantity);
        let left = if quantity >= ordered + 10 { quantity - ordered } else { quantity - ordered + 91 };
        db.change(
            "UPDATE stock SET s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + ? \
             WHERE s_w_id = ? AND s_i_id = ?",
            &[left.into(), ordered.into(), u32::from(line.warehouse != w).into(), line.warehouse.into(), line.item.into()],
        )?;
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
                format!("{amount:.2}").into(),
                info.into(),
            ],
        )?;
    }
    std::hint::black_box(total * (1.0 - discount) * (1.0 + warehouse_tax + district_tax));
    Ok(End::Committed)
}

/// The number of a customer: of several of one name the middle one by first name, rounded up (2.5.2.2).
fn find_customer(db: &mut Database, w: u32, d: u32, customer: &Customer) -> Result<u32, Error> {
    match customer {
        Customer::Number(number) => Ok(*number),
        Customer::LastName(name) => {
            let mut found = db.rows(
                "SELECT c_id FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first",
                &[w.into(), d.into(), name.as_str().into()],
            )?;
            let middle = found.len().div_ceil(2).checked_sub(1);
            let middle = middle.ok_or_else(|| Error::Answer(format!("nobody is called {name} in {w}, {d}")))?;
            column(&mut found[middle], 0)
        }
    }
}

fn payment(db: &mut Database, here: (u32, u32), at: (u32, u32), customer: &Customer, amount: &str) -> Result<End, Error> {
    let (w, d) = here;
    let (cw, cd) = at;
    db.change("UPDATE warehouse SET w_ytd = w_ytd + ? WHERE w_id = ?", &[amount.into(), w.into()])?;
    let mut row =
        db.row("SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse WHERE w_id = ?", &[w.into()])?;
    let warehouse: String = column(&mut row, 0)?;
    db.change("UPDATE district SET d_ytd = d_ytd + ? WHERE d_w_id = ? AND d_id = ?", &[amount.into(), w.into(), d.into()])?;
    let mut row = db.row(
        "SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district WHERE d_w_id = ? AND d_id = ?",
        &[w.into(), d.into()],
    )?;
    let district: String = column(&mut row, 0)?;
    let c = find_customer(db, cw, cd, customer)?;
    let key: [Value; 3] = [cw.into(), cd.into(), c.into()];
    let mut row = db.row(
        "SELECT c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_credit, c_credit_lim, c_discount, \
         c_balance, c_since FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ? FOR UPDATE",
        &key,
    )?;
    let credit: String = column(&mut row, 9)?;
    if credit == "BC" {
        let mut row = db.row("SELECT c_data FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?", &key)?;
        let old: String = column(&mut row, 0)?;
        let mut data = format!("{c} {cd} {cw} {d} {w} {amount} {old}");
        data.truncate(DATA_BYTES);
        db.change(
            "UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, c_payment_cnt = c_payment_cnt + 1, c_data = ? \
             WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
            &[amount.into(), amount.into(), data.into(), cw.into(), cd.into(), c.into()],
        )?;
    } else {
        db.change(
            "UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, c_payment_cnt = c_payment_cnt + 1 \
             WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
            &[amount.into(), amount.into(), cw.into(), cd.into(), c.into()],
        )?;
    }
    db.change(
        "INSERT INTO history (h_c_d_id, h_c_w_id, h_c_id, h_d_id, h_w_id, h_date, h_amount, h_data) VALUES (?, ?, ?, ?, ?, NOW(), ?, ?)",
        &[cd.into(), cw.into(), c.into(), d.into(), w.into(), amount.into(), format!("{warehouse}    {district}").into()],
    )?;
    Ok(End::Committed)
}

fn order_status(db: &mut Database, w: u32, d: u32, customer: &Customer) -> Result<End, Error> {
    let c = find_customer(db, w, d, customer)?;
    let key: [Value; 3] = [w.into(), d.into(), c.into()];
    db.row("SELECT c_balance, c_first, c_middle, c_last FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?", &key)?;
    let mut row = db.row(
        "SELECT o_id, o_carrier_id, o_entry_d FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ? ORDER BY o_id DESC LIMIT 1",
        &key,
    )?;
    let o: u32 = column(&mut row, 0)?;
    let lines = db.rows(
        "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line \
         WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?",
        &[w.into(), d.into(), o.into()],
    )?;
    if lines.is_empty() {
        return Err(Error::Answer(format!("order {o} of {w}, {d} has no lines")));
    }
    Ok(End::Committed)
}

fn delivery(db: &mut Database, w: u32, carrier: u32) -> Result<End, Error> {
    for d in 1..=DISTRICTS {
        let found = db.rows(
            "SELECT no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ? ORDER BY no_o_id LIMIT 1 FOR UPDATE",
            &[w.into(), d.into()],
        )?;
        let Some(mut first) = found.into_iter().next() else {
            continue; // 2.7.4.2: a district without new orders is left out
        };
        let o: u32 = column(&mut first, 0)?;
        let key: [Value; 3] = [w.into(), d.into(), o.into()];
        db.change("DELETE FROM new_order WHERE no_w_id = ? AND no_d_id = ? AND no_o_id = ?", &key)?;
        let mut row = db.row("SELECT o_c_id FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?", &key)?;
        let c: u32 = column(&mut row, 0)?;
        db.change(
            "UPDATE orders SET o_carrier_id = ? WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?",
            &[carrier.into(), w.into(), d.into(), o.into()],
        )?;
        db.change("UPDATE order_line SET ol_delivery_d = NOW() WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?", &key)?;
        let mut row = db.row("SELECT SUM(ol_amount) FROM order_line WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?", &key)?;
        let amount: String = column(&mut row, 0)?;
        db.change(
            "UPDATE customer SET c_balance = c_balance + ?, c_delivery_cnt = c_delivery_cnt + 1 \
             WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
            &[amount.into(), w.into(), d.into(), c.into()],
        )?;
    }
    Ok(End::Committed)
}

fn stock_level(db: &mut Database, w: u32, d: u32, threshold: u32) -> Result<End, Error> {
    let mut row = db.row("SELECT d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ?", &[w.into(), d.into()])?;
    let next: u32 = column(&mut row, 0)?;
    db.row(
        "SELECT COUNT(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id \
         WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id >= ? AND ol_o_id < ? AND s_quantity < ?",
        &[w.into(), d.into(), next.saturating_sub(20).into(), next.into(), threshold.into()],
    )?;
    Ok(End::Committed)
}
