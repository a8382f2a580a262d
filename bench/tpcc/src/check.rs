//! The consistency conditions of clause 3.3.2, each as a query that counts what violates it.
//!
//! Condition 11 speaks of the tables as they were loaded; here it is said so that it holds at any time: deliveries take an order out of
//! `new_order` and count at its customer.

use crate::answer::column;
use crate::database::{Database, block_on};
use crate::error::Error;
use crate::{Protocol, Server};

/// Number, what holds, and the query that counts where it does not.
const CONDITIONS: [(u32, &str, &str); 12] = [
    (
        1,
        "a warehouse's year-to-date is the sum of its districts'",
        "SELECT COUNT(*) FROM warehouse LEFT JOIN (SELECT d_w_id, SUM(d_ytd) AS ytd FROM district GROUP BY d_w_id) d ON d_w_id = w_id \
         WHERE NOT w_ytd <=> ytd",
    ),
    (
        2,
        "a district's next order follows its last one, and its last new one",
        "SELECT COUNT(*) FROM district LEFT JOIN (SELECT o_w_id, o_d_id, MAX(o_id) AS last FROM orders GROUP BY o_w_id, o_d_id) o \
         ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN (SELECT no_w_id, no_d_id, MAX(no_o_id) AS last FROM new_order \
         GROUP BY no_w_id, no_d_id) n ON no_w_id = d_w_id AND no_d_id = d_id \
         WHERE NOT d_next_o_id - 1 <=> o.last OR n.last <> o.last",
    ),
    (
        3,
        "a district's new orders have no gap",
        "SELECT COUNT(*) FROM (SELECT no_w_id FROM new_order GROUP BY no_w_id, no_d_id \
         HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)) n",
    ),
    (
        4,
        "a district's orders have as many lines as they say",
        "SELECT COUNT(*) FROM (SELECT o_w_id, o_d_id, SUM(o_ol_cnt) AS said FROM orders GROUP BY o_w_id, o_d_id) o \
         LEFT JOIN (SELECT ol_w_id, ol_d_id, COUNT(*) AS found FROM order_line GROUP BY ol_w_id, ol_d_id) l \
         ON ol_w_id = o_w_id AND ol_d_id = o_d_id WHERE NOT said <=> found",
    ),
    (
        5,
        "an order has no carrier if, and only if, it is new",
        "SELECT COUNT(*) FROM orders LEFT JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id \
         WHERE (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL)",
    ),
    (
        6,
        "each order has as many lines as it says",
        "SELECT COUNT(*) FROM orders LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, COUNT(*) AS found FROM order_line \
         GROUP BY ol_w_id, ol_d_id, ol_o_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE NOT o_ol_cnt <=> found",
    ),
    (
        7,
        "a line is delivered if, and only if, its order has a carrier",
        "SELECT COUNT(*) FROM order_line LEFT JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id \
         WHERE o_id IS NULL OR (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)",
    ),
    (
        8,
        "a warehouse's year-to-date is the sum of its history",
        "SELECT COUNT(*) FROM warehouse LEFT JOIN (SELECT h_w_id, SUM(h_amount) AS paid FROM history GROUP BY h_w_id) h ON h_w_id = w_id \
         WHERE NOT w_ytd <=> paid",
    ),
    (
        9,
        "a district's year-to-date is the sum of its history",
        "SELECT COUNT(*) FROM district LEFT JOIN (SELECT h_w_id, h_d_id, SUM(h_amount) AS paid FROM history GROUP BY h_w_id, h_d_id) h \
         ON h_w_id = d_w_id AND h_d_id = d_id WHERE NOT d_ytd <=> paid",
    ),
    (
        10,
        "a customer's balance is what was delivered less what was paid",
        "SELECT COUNT(*) FROM customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS got FROM orders \
         JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL \
         GROUP BY o_w_id, o_d_id, o_c_id) o ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id \
         LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, SUM(h_amount) AS paid FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) h \
         ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id WHERE c_balance <> COALESCE(got, 0) - COALESCE(paid, 0)",
    ),
    (
        11,
        "a district's orders are those that were loaded as delivered, those delivered since, and the new ones",
        "SELECT COUNT(*) FROM (SELECT o_w_id, o_d_id, COUNT(*) AS orders FROM orders GROUP BY o_w_id, o_d_id) o \
         LEFT JOIN (SELECT no_w_id, no_d_id, COUNT(*) AS new FROM new_order GROUP BY no_w_id, no_d_id) n \
         ON no_w_id = o_w_id AND no_d_id = o_d_id \
         LEFT JOIN (SELECT c_w_id, c_d_id, SUM(c_delivery_cnt) AS delivered FROM customer GROUP BY c_w_id, c_d_id) c \
         ON c_w_id = o_w_id AND c_d_id = o_d_id WHERE orders - COALESCE(new, 0) - delivered <> 2100",
    ),
    (
        12,
        "a customer's balance and payments are what was delivered",
        "SELECT COUNT(*) FROM customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS got FROM orders \
         JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL \
         GROUP BY o_w_id, o_d_id, o_c_id) o ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id \
         WHERE c_balance + c_ytd_payment <> COALESCE(got, 0)",
    ),
];

/// `tpcc check`: whether all hold. Prints each, or, if `terse`, only those that do not.
pub fn run(server: &Server, terse: bool) -> Result<bool, Error> {
    block_on(ask(server, terse))
}

async fn ask(server: &Server, terse: bool) -> Result<bool, Error> {
    let mut db = Database::connect(server, true, Protocol::Text)?;
    let mut sound = true;
    for (number, what, query) in CONDITIONS {
        let rows = db.query(query).await?;
        let row = rows.first().ok_or_else(|| Error::Answer(format!("condition {number}: no row")))?;
        let wrong: u64 = column(&row, 0)?;
        sound &= wrong == 0;
        if wrong > 0 || !terse {
            println!("3.3.2.{number:<3} {:6}  {what}", if wrong == 0 { "holds".into() } else { format!("FAILS {wrong} times:") });
        }
    }
    let rows = db.query("SELECT COUNT(*), SUM(d_next_o_id) FROM district").await?;
    let row = rows.first().ok_or_else(|| Error::Answer("no row of districts".into()))?;
    let districts: u32 = column(&row, 0)?;
    if districts != server.warehouses * crate::random::DISTRICTS {
        return Err(Error::Answer(format!("{districts} districts are not those of {} warehouses", server.warehouses)));
    }
    Ok(sound)
}
