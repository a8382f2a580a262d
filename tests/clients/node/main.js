// mysql2 at work.
//
// usage: node main.js HOST PORT USER PASSWORD SOCKET
//
// One line per case, `ok NAME` or `FAIL NAME: why`.
import mysql from "mysql2/promise";

const [host, port, user, password, socket] = process.argv.slice(2);
const db = "client_node";
let passed = 0, failed = 0;

async function run(name, body) {
  try {
    await body();
    passed++;
    console.log(`ok   node.${name}`);
  } catch (e) {
    failed++;
    console.log(`FAIL node.${name}: ${String(e.message).replace(/\n/g, " ")}`.slice(0, 400));
  }
}
function same(got, want) {
  const [a, b] = [JSON.stringify(got), JSON.stringify(want)];
  if (a !== b) throw new Error(`got ${a.slice(0, 200)}, want ${b.slice(0, 200)}`);
}
const open = (more = {}) => mysql.createConnection({ host, port: +port, user, password, database: db, ...more });
const errno = async (promise) => { try { await promise; return 0; } catch (e) { return e.errno; } };
const query = async (c, sql, params) => (await c.query(sql, params))[0];
const execute = async (c, sql, params) => (await c.execute(sql, params))[0];

await run("session", async () => {
  const boot = await open({ database: undefined });
  await query(boot, `DROP DATABASE IF EXISTS ${db}`);
  await query(boot, `CREATE DATABASE ${db} CHARACTER SET utf8mb4`);
  await boot.end();
  const c = await open({ multipleStatements: true });
  await run("create", () => query(c, "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(100) UNIQUE, n INT, d DECIMAL(10,2), f DOUBLE, at DATETIME(3), da DATE, ti TIME, b BLOB, big BIGINT UNSIGNED, e ENUM('x','y'))"));
  const at = "2024-02-29 23:59:58.123";
  await run("insert", async () => {
    const r = await query(c, "INSERT INTO t (v,n,d,f,at,da,ti,b,big,e) VALUES (?,?,?,?,?,?,?,?,?,?)", ["日本😀'", 5, "1.50", 0.5, at, "2024-02-29", "-26:03:04", Buffer.from([0, 255, 39]), "18446744073709551615", "y"]);
    same([r.insertId, r.affectedRows], [1, 1]);
  });
  const whole = ["日本😀'", 5, "1.50", 0.5, "2024-02-29 23:59:58.123", "2024-02-29", "-26:03:04", "00ff27", "18446744073709551615", "y"];
  const list = "SELECT v,n,d,f,CAST(at AS CHAR) at,CAST(da AS CHAR) da,ti,HEX(b) b,CAST(big AS CHAR) big,e FROM t WHERE id=?";
  const flat = (r) => [r.v, r.n, r.d, r.f, r.at, r.da, r.ti, r.b.toLowerCase(), r.big, r.e];
  await run("select", async () => same(flat((await query(c, list, [1]))[0]), whole));
  await run("select_prepared", async () => same(flat((await execute(c, list, [1]))[0]), whole));
  await run("dates", async () => {
    const [r] = await execute(c, "SELECT at, da FROM t WHERE id=?", [1]);
    same([r.at.getFullYear(), r.at.getMilliseconds(), r.da.getDate()], [2024, 123, 29]);
  });
  await run("prepared", async () => {
    for (let i = 0; i < 50; i++) await execute(c, "INSERT INTO t (v,n,at) VALUES (?,?,?)", ["k" + i, i, i % 2 ? null : new Date(1e12)]);
    const r = await execute(c, "SELECT v, n, at FROM t WHERE n < ? AND v LIKE ? ORDER BY n", [3, "k%"]);
    same([r.length, r[2].v, r[1].at, r[0].at.getTime()], [3, "k2", null, 1e12]);
  });
  await run("bulk_insert", async () => {
    const r = await query(c, "INSERT INTO t (v,n) VALUES ?", [[...Array(100).keys()].map((i) => ["b" + i, 1000 + i])]);
    same(r.affectedRows, 100);
    same(Number((await query(c, "SELECT SUM(n) s FROM t WHERE v LIKE 'b%'"))[0].s), 104950);
  });
  await run("transaction", async () => {
    await c.beginTransaction();
    await query(c, "DELETE FROM t");
    await c.rollback();
    same((await query(c, "SELECT COUNT(*) c FROM t"))[0].c, 151);
  });
  await run("errors", async () => {
    const numbers = [];
    for (const sql of ["INSERT INTO t (v) VALUES ('k1')", "SELEC 1", "SELECT * FROM nosuch", "SELECT nosuch FROM t", "INSERT INTO t (n) VALUES (99999999999)", "USE nosuchdb"])
      numbers.push(await errno(query(c, sql)));
    numbers.push(await errno(execute(c, "SELECT * FROM nosuch", [])));
    numbers.push(await errno(open({ database: "nosuchdb" })), await errno(open({ password: "wrong" })));
    same(numbers, [1062, 1064, 1146, 1054, 1264, 1049, 1146, 1049, 1045]);
  });
  await run("sql_state", async () => {
    try { await query(c, "SELECT * FROM nosuch"); } catch (e) { same([e.code, e.sqlState], ["ER_NO_SUCH_TABLE", "42S02"]); }
  });
  await run("multi_statements", async () => {
    const r = await query(c, "SELECT 1 a; UPDATE t SET n=n WHERE id=1; SELECT 2 b");
    same([r.length, r[2][0].b], [3, 2]);
  });
  await run("lock_timeout", async () => {
    const other = await open();
    await query(other, "SET innodb_lock_wait_timeout = 1");
    await c.beginTransaction();
    await query(c, "UPDATE t SET n=n+1 WHERE v='k5'");
    same(await errno(query(other, "UPDATE t SET n=0 WHERE v='k5'")), 1205);
    await c.rollback();
    await other.end();
  });
  await run("deadlock", async () => {
    const other = await open();
    await c.beginTransaction();
    await other.beginTransaction();
    await query(c, "UPDATE t SET n=n+1 WHERE v='k5'");
    await query(other, "UPDATE t SET n=n+1 WHERE v='k6'");
    const first = errno(query(c, "UPDATE t SET n=n+1 WHERE v='k6'"));
    const second = errno(query(other, "UPDATE t SET n=n+1 WHERE v='k5'"));
    // The loser is rolled back whole, which lets the other go on; the two answers may come together.
    same((await Promise.all([first, second])).sort(), [0, 1213]);
    await other.rollback();
    await c.rollback();
    await other.end();
  });
  await run("change_user", () => c.changeUser({ user, password, database: db }));
  await run("reset_and_ping", async () => {
    await c.ping();
    await query(c, "SET @left = 1");
    await c.reset?.();
    same((await query(c, "SELECT 1 x"))[0].x, 1);
  });
  await run("large_packets", async () => {
    same((await query(c, "SELECT REPEAT('x', 17000000) r"))[0].r.length, 17000000);
    same((await query(c, "SELECT LENGTH(?) n", ["y".repeat(17000000)]))[0].n, 17000000);
  });
  await run("stream", async () => {
    let n = 0;
    const rows = c.connection.query("SELECT a.id FROM t a JOIN t b ON a.id > 0 AND b.id > 0 LIMIT 20000").stream();
    for await (const row of rows) n += row.id > 0;
    same(n, 20000);
  });
  await run("columns", async () => {
    const [, fields] = await c.query("SELECT id, v AS vee, d FROM t LIMIT 1");
    same(fields.map((f) => [f.name, f.orgName ?? f._orgName, f.columnType]), [["id", "id", 3], ["vee", "v", 253], ["d", "d", 246]]);
  });
  await run("rows_as_arrays", async () => {
    const [r] = await c.query({ sql: "SELECT n, v FROM t WHERE v='k7'", rowsAsArray: true });
    same(r, [[7, "k7"]]);
  });
  await run("named_placeholders", async () => {
    const other = await open({ namedPlaceholders: true });
    same((await execute(other, "SELECT v FROM t WHERE n = :n AND v LIKE :v", { n: 8, v: "k%" }))[0].v, "k8");
    await other.end();
  });
  await run("compress", async () => {
    const z = await open({ compress: true });
    same((await query(z, "SELECT REPEAT('a',200000) r"))[0].r.length, 200000);
    same((await query(z, "SHOW STATUS LIKE 'Compression'"))[0].Value, "ON");
    same((await execute(z, "SELECT LENGTH(?) n", ["b".repeat(300000)]))[0].n, 300000);
    await z.changeUser({ user, password, database: db });
    same((await query(z, "SELECT 1 x"))[0].x, 1);
    await z.end();
  });
  await run("pool", async () => {
    const p = mysql.createPool({ host, port: +port, user, password, database: db, connectionLimit: 4 });
    await Promise.all([...Array(20).keys()].map((i) => p.query("UPDATE t SET n=n+1 WHERE v=?", ["k" + (i % 3)])));
    await p.end();
    same(Number((await query(c, "SELECT SUM(n) s FROM t WHERE v IN ('k0','k1','k2')"))[0].s), 23);
  });
  if (socket) await run("unix_socket", async () => {
    const u = await mysql.createConnection({ socketPath: socket, user, password });
    same((await query(u, "SELECT 1 x"))[0].x, 1);
    await u.end();
  });
  await query(c, `DROP DATABASE ${db}`);
  await c.end();
});
console.log(`passed/failed/total: ${passed}/${failed}/${passed + failed}`);
process.exit(failed ? 1 : 0);
