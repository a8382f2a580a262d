//! The five transactions as stored procedures: one CALL each. They do what [`crate::statements`] does.
//!
//! The lines of a new order travel as one text of [`LINE_BYTES`] digits each: item, supplying warehouse, quantity.

use crate::answer::column;
use crate::database::Database;
use crate::error::Error;
use crate::terminal::{Customer, End, Input};
use std::fmt::Write as _;

/// Six digits of the item, six of the warehouse, two of the quantity.
const LINE_BYTES: usize = 14;

/// Runs one transaction of the terminal at `home`, a warehouse and one of its districts.
pub async fn run(db: &mut Database, home: (u32, u32), input: &Input) -> Result<End, Error> {
    let (w, home_district) = home;
    let rows = match input {
        Input::NewOrder { district, customer, lines } => {
            let mut text = String::with_capacity(lines.len() * LINE_BYTES);
            for line in lines {
                write!(text, "{:06}{:06}{:02}", line.item, line.warehouse, line.quantity).expect("text takes all");
            }
            let local = lines.iter().all(|line| line.warehouse == w);
            let count = lines.len();
            db.rows(
                "CALL new_order(?, ?, ?, ?, ?, ?)",
                &[w.into(), (*district).into(), (*customer).into(), count.into(), u32::from(local).into(), (&text).into()],
            )
            .await?
        }
        Input::Payment { district, at, customer, amount } => {
            let (number, name) = named(customer);
            db.rows(
                "CALL payment(?, ?, ?, ?, ?, ?, ?)",
                &[w.into(), (*district).into(), at.0.into(), at.1.into(), number.into(), name.into(), amount.as_str().into()],
            )
            .await?
        }
        Input::OrderStatus { district, customer } => {
            let (number, name) = named(customer);
            db.rows("CALL order_status(?, ?, ?, ?)", &[w.into(), (*district).into(), number.into(), name.into()]).await?
        }
        Input::Delivery { carrier } => db.rows("CALL delivery(?, ?)", &[w.into(), (*carrier).into()]).await?,
        Input::StockLevel { threshold } => {
            db.rows("CALL stock_level(?, ?, ?)", &[w.into(), home_district.into(), (*threshold).into()]).await?
        }
    };
    // Each answers rows; a new order's say in their first column whether it was made.
    let row = rows.first().ok_or_else(|| Error::Answer(format!("no row for {input:?}")))?;
    if matches!(input, Input::NewOrder { .. }) {
        let made: u32 = column(&row, 0)?;
        return Ok(if made == 1 { End::Committed } else { End::RolledBack });
    }
    Ok(End::Committed)
}

/// A customer's number, or 0 and a name.
fn named(customer: &Customer) -> (u32, &str) {
    match customer {
        Customer::Number(number) => (*number, ""),
        Customer::LastName(name) => (0, name),
    }
}

/// What makes them.
pub const ALL: [&str; 5] = [NEW_ORDER, PAYMENT, ORDER_STATUS, DELIVERY, STOCK_LEVEL];

const NEW_ORDER: &str = "
CREATE PROCEDURE new_order(w INT, d INT, c INT, line_count INT, all_local INT, order_lines VARCHAR(210))
BEGIN
  DECLARE o, line, item, supplier, ordered, left_over INT;
  DECLARE discount, warehouse_tax, district_tax DECIMAL(4,4);
  DECLARE price DECIMAL(5,2);
  DECLARE amount DECIMAL(6,2);
  DECLARE total DECIMAL(12,4) DEFAULT 0;
  DECLARE last_name, item_name, item_data, stock_data VARCHAR(50);
  DECLARE credit CHAR(2);
  DECLARE info CHAR(24);
  DECLARE missing INT DEFAULT 0;
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET missing = 1;
  START TRANSACTION;
  SELECT c_discount, c_last, c_credit, w_tax INTO discount, last_name, credit, warehouse_tax
    FROM customer JOIN warehouse ON w_id = c_w_id WHERE c_w_id = w AND c_d_id = d AND c_id = c;
  SELECT d_next_o_id, d_tax INTO o, district_tax FROM district WHERE d_w_id = w AND d_id = d FOR UPDATE;
  UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = w AND d_id = d;
  INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) VALUES (w, d, o, c, NOW(), line_count, all_local);
  INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (w, d, o);
  SET line = 1;
  WHILE line <= line_count AND NOT missing DO
    SET item = SUBSTRING(order_lines, line * 14 - 13, 6);
    SET supplier = SUBSTRING(order_lines, line * 14 - 7, 6);
    SET ordered = SUBSTRING(order_lines, line * 14 - 1, 2);
    SELECT i_price, i_name, i_data INTO price, item_name, item_data FROM item WHERE i_id = item;
    IF NOT missing THEN
      SELECT s_quantity, s_data, CASE d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04
          WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END
        INTO left_over, stock_data, info FROM stock WHERE s_w_id = supplier AND s_i_id = item FOR UPDATE;
      IF left_over >= ordered + 10 THEN
        SET left_over = left_over - ordered;
      ELSE
        SET left_over = left_over - ordered + 91;
      END IF;
      UPDATE stock SET s_quantity = left_over, s_ytd = s_ytd + ordered, s_order_cnt = s_order_cnt + 1,
        s_remote_cnt = s_remote_cnt + (supplier <> w) WHERE s_w_id = supplier AND s_i_id = item;
      SET amount = ordered * price;
      SET total = total + amount;
      INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info)
        VALUES (w, d, o, line, item, supplier, ordered, amount, info);
      SET line = line + 1;
    END IF;
  END WHILE;
  IF missing THEN
    ROLLBACK;
    SELECT 0, 'Item number is not valid';
  ELSE
    COMMIT;
    SELECT 1, o, total * (1 - discount) * (1 + warehouse_tax + district_tax), last_name, credit;
  END IF;
END";

const PAYMENT: &str = "
CREATE PROCEDURE payment(w INT, d INT, cw INT, cd INT, c INT, name VARCHAR(16), amount DECIMAL(6,2))
BEGIN
  DECLARE people, middle INT;
  DECLARE warehouse_name, district_name VARCHAR(10);
  DECLARE street_1, street_2, city, first_name, last_name VARCHAR(20);
  DECLARE state, middle_name, credit CHAR(2);
  DECLARE zip CHAR(9);
  DECLARE phone CHAR(16);
  DECLARE since DATETIME;
  DECLARE credit_limit, balance DECIMAL(12,2);
  DECLARE discount DECIMAL(4,4);
  DECLARE old_data VARCHAR(500);
  START TRANSACTION;
  UPDATE warehouse SET w_ytd = w_ytd + amount WHERE w_id = w;
  SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip INTO warehouse_name, street_1, street_2, city, state, zip
    FROM warehouse WHERE w_id = w;
  UPDATE district SET d_ytd = d_ytd + amount WHERE d_w_id = w AND d_id = d;
  SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip INTO district_name, street_1, street_2, city, state, zip
    FROM district WHERE d_w_id = w AND d_id = d;
  IF c = 0 THEN
    SELECT COUNT(*) INTO people FROM customer WHERE c_w_id = cw AND c_d_id = cd AND c_last = name;
    SET middle = (people + 1) DIV 2 - 1;
    SELECT c_id INTO c FROM customer WHERE c_w_id = cw AND c_d_id = cd AND c_last = name ORDER BY c_first LIMIT middle, 1;
  END IF;
  SELECT c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_credit, c_credit_lim, c_discount, c_balance,
      c_since
    INTO first_name, middle_name, last_name, street_1, street_2, city, state, zip, phone, credit, credit_limit, discount, balance, since
    FROM customer WHERE c_w_id = cw AND c_d_id = cd AND c_id = c FOR UPDATE;
  IF credit = 'BC' THEN
    SELECT c_data INTO old_data FROM customer WHERE c_w_id = cw AND c_d_id = cd AND c_id = c;
    UPDATE customer SET c_balance = c_balance - amount, c_ytd_payment = c_ytd_payment + amount, c_payment_cnt = c_payment_cnt + 1,
      c_data = LEFT(CONCAT(c, ' ', cd, ' ', cw, ' ', d, ' ', w, ' ', amount, ' ', old_data), 500)
      WHERE c_w_id = cw AND c_d_id = cd AND c_id = c;
  ELSE
    UPDATE customer SET c_balance = c_balance - amount, c_ytd_payment = c_ytd_payment + amount, c_payment_cnt = c_payment_cnt + 1
      WHERE c_w_id = cw AND c_d_id = cd AND c_id = c;
  END IF;
  INSERT INTO history (h_c_d_id, h_c_w_id, h_c_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (cd, cw, c, d, w, NOW(), amount, CONCAT(warehouse_name, '    ', district_name));
  COMMIT;
  SELECT c, first_name, middle_name, last_name, balance - amount, credit;
END";

const ORDER_STATUS: &str = "
CREATE PROCEDURE order_status(w INT, d INT, c INT, name VARCHAR(16))
BEGIN
  DECLARE people, middle, o, carrier INT;
  DECLARE balance DECIMAL(12,2);
  DECLARE first_name, last_name VARCHAR(16);
  DECLARE middle_name CHAR(2);
  DECLARE entered DATETIME;
  START TRANSACTION;
  IF c = 0 THEN
    SELECT COUNT(*) INTO people FROM customer WHERE c_w_id = w AND c_d_id = d AND c_last = name;
    SET middle = (people + 1) DIV 2 - 1;
    SELECT c_id INTO c FROM customer WHERE c_w_id = w AND c_d_id = d AND c_last = name ORDER BY c_first LIMIT middle, 1;
  END IF;
  SELECT c_balance, c_first, c_middle, c_last INTO balance, first_name, middle_name, last_name
    FROM customer WHERE c_w_id = w AND c_d_id = d AND c_id = c;
  SELECT o_id, o_carrier_id, o_entry_d INTO o, carrier, entered
    FROM orders WHERE o_w_id = w AND o_d_id = d AND o_c_id = c ORDER BY o_id DESC LIMIT 1;
  SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d
    FROM order_line WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = o;
  COMMIT;
END";

const DELIVERY: &str = "
CREATE PROCEDURE delivery(w INT, carrier INT)
BEGIN
  DECLARE d INT DEFAULT 1;
  DECLARE o, c, delivered INT DEFAULT 0;
  DECLARE amount DECIMAL(12,2);
  DECLARE missing INT DEFAULT 0;
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET missing = 1;
  START TRANSACTION;
  WHILE d <= 10 DO
    SET missing = 0;
    SELECT no_o_id INTO o FROM new_order WHERE no_w_id = w AND no_d_id = d ORDER BY no_o_id LIMIT 1 FOR UPDATE;
    IF NOT missing THEN
      DELETE FROM new_order WHERE no_w_id = w AND no_d_id = d AND no_o_id = o;
      SELECT o_c_id INTO c FROM orders WHERE o_w_id = w AND o_d_id = d AND o_id = o FOR UPDATE; -- it may be younger than the snapshot
      UPDATE orders SET o_carrier_id = carrier WHERE o_w_id = w AND o_d_id = d AND o_id = o;
      UPDATE order_line SET ol_delivery_d = NOW() WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = o;
      SELECT SUM(ol_amount) INTO amount FROM order_line WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = o;
      UPDATE customer SET c_balance = c_balance + amount, c_delivery_cnt = c_delivery_cnt + 1
        WHERE c_w_id = w AND c_d_id = d AND c_id = c;
      SET delivered = delivered + 1;
    END IF;
    SET d = d + 1;
  END WHILE;
  COMMIT;
  SELECT delivered;
END";

const STOCK_LEVEL: &str = "
CREATE PROCEDURE stock_level(w INT, d INT, threshold INT)
BEGIN
  DECLARE next_order INT;
  START TRANSACTION;
  SELECT d_next_o_id INTO next_order FROM district WHERE d_w_id = w AND d_id = d;
  SELECT COUNT(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
    WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id >= next_order - 20 AND ol_o_id < next_order AND s_quantity < threshold;
  COMMIT;
END";
