// go-sql-driver/mysql at work.
//
// usage: client HOST PORT USER PASSWORD SOCKET
//
// One line per case, `ok NAME` or `FAIL NAME: why`.
package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
)

const db = "client_go"

var passed, failed int

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func want(holds bool, format string, a ...any) {
	if !holds {
		panic(fmt.Sprintf(format, a...))
	}
}

func run(name string, body func()) {
	defer func() {
		if why := recover(); why != nil {
			failed++
			fmt.Printf("FAIL go.%s: %v\n", name, why)
			return
		}
		passed++
		fmt.Println("ok   go." + name)
	}()
	body()
}

func open(database, params string) *sql.DB {
	d, err := sql.Open("mysql", fmt.Sprintf("%s:%s@tcp(%s:%s)/%s?parseTime=true%s", os.Args[3], os.Args[4], os.Args[1], os.Args[2], database, params))
	must(err)
	return d
}

func number(err error) uint16 {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return e.Number
	}
	return 0
}

func exec(d interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}, text string, args ...any) sql.Result {
	r, err := d.ExecContext(context.Background(), text, args...)
	must(err)
	return r
}

func one[T any](d interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}, text string, args ...any) T {
	var v T
	must(d.QueryRowContext(context.Background(), text, args...).Scan(&v))
	return v
}

func suite(tag, params string) {
	boot := open("", "")
	exec(boot, "DROP DATABASE IF EXISTS "+db)
	exec(boot, "CREATE DATABASE "+db+" CHARACTER SET utf8mb4")
	boot.Close()
	d := open(db, params)
	defer d.Close()
	ctx := context.Background()
	at := time.Date(2024, 2, 29, 23, 59, 58, 123456000, time.UTC)
	blob := bytes.Repeat([]byte{0, 255, '\'', '\\'}, 1<<18)
	run(tag+"create", func() {
		exec(d, "CREATE TABLE t (id BIGINT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(100) UNIQUE, n INT, u BIGINT UNSIGNED, x DOUBLE, f FLOAT, m DECIMAL(10,2), b LONGBLOB, at DATETIME(6), da DATE, z INT NULL, flag BOOLEAN)")
	})
	run(tag+"insert_every_type", func() {
		r := exec(d, "INSERT INTO t (v,n,u,x,f,m,b,at,da,z,flag) VALUES (?,?,?,?,?,?,?,?,?,?,?)", "日本😀'\\", -5, uint64(18446744073709551615), 1.25, float32(0.5), "3.50", blob, at, at, nil, true)
		id, _ := r.LastInsertId()
		n, _ := r.RowsAffected()
		want(id == 1 && n == 1, "id %d rows %d", id, n)
	})
	run(tag+"select_every_type", func() {
		var v, m string
		var n int
		var u uint64
		var x float64
		var f float32
		var b []byte
		var got, day time.Time
		var z sql.NullInt64
		var flag bool
		must(d.QueryRow("SELECT v,n,u,x,f,m,b,at,da,z,flag FROM t WHERE id=?", 1).Scan(&v, &n, &u, &x, &f, &m, &b, &got, &day, &z, &flag))
		want(v == "日本😀'\\" && n == -5 && u == 18446744073709551615 && x == 1.25 && f == 0.5 && m == "3.50", "%v %v %v %v %v %v", v, n, u, x, f, m)
		want(bytes.Equal(b, blob) && got.Equal(at) && day.Day() == 29 && !z.Valid && flag, "%v %v %v %v", got, day, z, flag)
	})
	run(tag+"prepared", func() {
		s, err := d.Prepare("INSERT INTO t (v,n) VALUES (?,?)")
		must(err)
		for i := 0; i < 200; i++ {
			_, err = s.Exec(fmt.Sprint("k", i), i)
			must(err)
		}
		must(s.Close())
		q, err := d.Prepare("SELECT COUNT(*), SUM(n) FROM t WHERE n BETWEEN ? AND ?")
		must(err)
		for _, high := range []int{9, 99} {
			var count, sum int
			must(q.QueryRow(0, high).Scan(&count, &sum))
			want(count == high+1 && sum == high*(high+1)/2, "%d %d", count, sum)
		}
		must(q.Close())
	})
	run(tag+"transactions", func() {
		tx, err := d.Begin()
		must(err)
		exec(tx, "DELETE FROM t WHERE n=?", 3)
		must(tx.Rollback())
		want(one[int](d, "SELECT COUNT(*) FROM t WHERE n=3") == 1, "not rolled back")
		tx, err = d.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		must(err)
		want(one[int](tx, "SELECT COUNT(*) FROM t WHERE n=3") == 1, "count")
		_, err = tx.Exec("DELETE FROM t WHERE n=3")
		want(number(err) == 1792, "read only: %v", err)
		must(tx.Rollback())
		tx, err = d.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
		must(err)
		before := one[int](tx, "SELECT n FROM t WHERE v='k4'")
		exec(d, "UPDATE t SET n=n+1000 WHERE v='k4'")
		want(one[int](tx, "SELECT n FROM t WHERE v='k4'") == before+1000, "read committed does not see the commit")
		must(tx.Commit())
		tx, err = d.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
		must(err)
		before = one[int](tx, "SELECT n FROM t WHERE v='k4'")
		exec(d, "UPDATE t SET n=n-1000 WHERE v='k4'")
		want(one[int](tx, "SELECT n FROM t WHERE v='k4'") == before, "the snapshot moved")
		must(tx.Commit())
	})
	run(tag+"errors", func() {
		for text, expected := range map[string]uint16{"INSERT INTO t (v) VALUES ('k1')": 1062, "SELEC 1": 1064, "SELECT * FROM nosuch": 1146, "SELECT nosuch FROM t": 1054, "INSERT INTO t (n) VALUES (99999999999)": 1264, "USE nosuchdb": 1049} {
			_, err := d.Exec(text)
			want(number(err) == expected, "%s: %v", text, err)
		}
		_, err := d.Exec("SELECT * FROM nosuch WHERE a=?", 1)
		want(number(err) == 1146, "%v", err)
		other := open("nosuchdb", "")
		defer other.Close()
		want(number(other.Ping()) == 1049, "unknown database")
	})
	run(tag+"lock_timeout", func() {
		a, err := d.Conn(ctx)
		must(err)
		defer a.Close()
		b, err := d.Conn(ctx)
		must(err)
		defer b.Close()
		exec(a, "BEGIN")
		exec(a, "UPDATE t SET n=n+1 WHERE v='k5'")
		exec(b, "SET SESSION innodb_lock_wait_timeout=1")
		_, err = b.ExecContext(ctx, "UPDATE t SET n=n+1 WHERE v='k5'")
		want(number(err) == 1205, "%v", err)
		exec(a, "ROLLBACK")
		exec(b, "SET SESSION innodb_lock_wait_timeout=DEFAULT")
	})
	run(tag+"concurrent_increments", func() {
		exec(d, "UPDATE t SET n=0 WHERE v='k6'")
		var group sync.WaitGroup
		fails := make(chan error, 400)
		for i := 0; i < 8; i++ {
			group.Add(1)
			go func() {
				defer group.Done()
				for j := 0; j < 50; j++ {
					if _, err := d.Exec("UPDATE t SET n=n+1 WHERE v=?", "k6"); err != nil {
						fails <- err
					}
				}
			}()
		}
		group.Wait()
		close(fails)
		first := <-fails
		want(first == nil, "%d more failures and %v", len(fails), first)
		want(one[int](d, "SELECT n FROM t WHERE v='k6'") == 400, "lost updates")
	})
	run(tag+"cancel", func() {
		c, stop := context.WithTimeout(ctx, 300*time.Millisecond)
		defer stop()
		_, err := d.ExecContext(c, "DO SLEEP(5)")
		want(err != nil, "the sleep was not cut short")
	})
	run(tag+"columns", func() {
		r, err := d.Query("SELECT id, v, m, at, u, b FROM t WHERE id=?", 1)
		must(err)
		defer r.Close()
		kinds, err := r.ColumnTypes()
		must(err)
		var names []string
		for _, k := range kinds {
			names = append(names, k.DatabaseTypeName())
		}
		want(strings.Join(names, ",") == "BIGINT,VARCHAR,DECIMAL,DATETIME,UNSIGNED BIGINT,BLOB", "%v", names)
		precision, scale, known := kinds[2].DecimalSize()
		want(known && precision == 10 && scale == 2, "decimal(%d,%d)", precision, scale)
	})
	run(tag+"multi_statements", func() {
		m := open(db, params+"&multiStatements=true")
		defer m.Close()
		r, err := m.Query("SELECT 1; SELECT 2; SELECT 3")
		must(err)
		sets := 1
		for r.NextResultSet() {
			sets++
		}
		r.Close()
		want(sets == 3, "%d result sets", sets)
	})
	run(tag+"large_packets", func() {
		big := strings.Repeat("x", 17_000_000)
		exec(d, "INSERT INTO t (v,b) VALUES ('big',?)", big)
		want(one[string](d, "SELECT b FROM t WHERE v='big'") == big, "the value differs")
		exec(d, "DELETE FROM t WHERE v='big'")
	})
	run(tag+"ping", func() { must(d.Ping()) })
}

func main() {
	run("suite", func() { suite("", "") })
	run("interpolated_suite", func() {
		suite("interpolated.", "&interpolateParams=true&clientFoundRows=true&charset=utf8mb4&collation=utf8mb4_general_ci&loc=UTC&time_zone=%27%2B00%3A00%27&sql_mode=TRADITIONAL&maxAllowedPacket=0")
	})
	run("found_rows", func() {
		d := open(db, "&clientFoundRows=true")
		defer d.Close()
		n, err := exec(d, "UPDATE t SET n=n WHERE v='k1'").RowsAffected()
		must(err)
		want(n == 1, "%d rows found", n)
	})
	run("compress", func() {
		d := open(db, "&compress=true")
		defer d.Close()
		d.SetMaxOpenConns(1)
		var name, value string
		must(d.QueryRow("SHOW STATUS LIKE 'Compression'").Scan(&name, &value))
		want(value == "ON", "Compression is %s", value)
		big := strings.Repeat("compressed ", 100_000)
		want(one[int](d, "SELECT LENGTH(?)", big) == len(big), "the length differs")
		want(one[string](d, "SELECT REPEAT('compressed ', 100000)") == big, "the value differs")
		_, err := d.Exec("SELEC 1")
		want(err != nil && strings.Contains(err.Error(), "1064"), "%v", err)
		must(d.Ping())
	})
	if len(os.Args) > 5 && os.Args[5] != "" {
		run("unix_socket", func() {
			d, err := sql.Open("mysql", fmt.Sprintf("%s:%s@unix(%s)/", os.Args[3], os.Args[4], os.Args[5]))
			must(err)
			defer d.Close()
			want(one[int](d, "SELECT 1 + ?", 1) == 2, "sum")
		})
	}
	fmt.Printf("passed/failed/total: %d/%d/%d\n", passed, failed, passed+failed)
	if failed > 0 {
		os.Exit(1)
	}
}
