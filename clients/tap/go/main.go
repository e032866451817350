// Command tapclient is what an application does with pgx, to run through `ouro tap`:
//
//	tapclient PORT [shop]
//
// Without `shop` everything is healthy. Every answer is compared; ends with 1 if one is wrong.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

var port string

func connect(mode pgx.QueryExecMode) *pgx.Conn {
	config, err := pgx.ParseConfig("postgres://postgres@127.0.0.1:" + port +
		"/postgres?sslmode=disable&application_name=pgx")
	must(err)
	config.DefaultQueryExecMode = mode
	link, err := pgx.ConnectConfig(context.Background(), config)
	must(err)
	return link
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func expect(wanted, found any) {
	if wanted != found {
		panic(fmt.Sprintf("expected %v, found %v", wanted, found))
	}
}

type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

func pieces(link querier, item int) (int, error) {
	var found int
	err := link.QueryRow(context.Background(), "SELECT pieces FROM stock WHERE item = $1",
		item).Scan(&found)
	return found, err
}

func sell(link *pgx.Conn, level pgx.TxIsoLevel) {
	for {
		err := pgx.BeginTxFunc(context.Background(), link, pgx.TxOptions{IsoLevel: level},
			func(txn pgx.Tx) error {
				left, err := pieces(txn, 1)
				if err != nil {
					return err
				}
				_, err = txn.Exec(context.Background(),
					"UPDATE stock SET pieces = $1 WHERE item = 1", left-1)
				return err
			})
		var refused *pgconn.PgError
		if errors.As(err, &refused) && refused.Code[:2] == "40" {
			continue // Somebody else was first.
		}
		must(err)
		return
	}
}

func sellAll(mode pgx.QueryExecMode, level pgx.TxIsoLevel, clients, sales int) {
	var clerks sync.WaitGroup
	for i := 0; i < clients; i++ {
		clerks.Add(1)
		go func() {
			defer clerks.Done()
			link := connect(mode)
			defer link.Close(context.Background())
			for sale := 0; sale < sales; sale++ {
				sell(link, level)
			}
		}()
	}
	clerks.Wait()
}

func everything(mode pgx.QueryExecMode) {
	ctx := context.Background()
	link := connect(mode)
	defer link.Close(ctx)
	before, err := pieces(link, 2)
	must(err)
	for i := 0; i < 5; i++ {
		again, err := pieces(link, 2)
		must(err)
		expect(before, again)
	}
	_, err = pieces(link, 77)
	expect(true, errors.Is(err, pgx.ErrNoRows))

	// Several statements in one trip, in a transaction and outside of one.
	batch := &pgx.Batch{}
	for i := 0; i < 20; i++ {
		batch.Queue("INSERT INTO sale (buyer, amount) VALUES ($1, $2)", fmt.Sprint("buyer ", i%5), i)
		batch.Queue("SELECT pieces FROM stock WHERE item = $1", 2).QueryRow(func(row pgx.Row) error {
			var found int
			defer func() { expect(before, found) }()
			return row.Scan(&found)
		})
	}
	must(link.SendBatch(ctx, batch).Close())
	must(pgx.BeginTxFunc(ctx, link, pgx.TxOptions{IsoLevel: pgx.RepeatableRead},
		func(txn pgx.Tx) error { return txn.SendBatch(ctx, batch).Close() }))

	// COPY in binary, large results, a failure, a savepoint.
	count, err := link.CopyFrom(ctx, pgx.Identifier{"sale"}, []string{"buyer", "amount"},
		pgx.CopyFromRows([][]any{{"carl", 1}, {"dora", 2}}))
	must(err)
	expect(int64(2), count)
	rows, err := link.Query(ctx, "SELECT repeat('x', 100000) FROM generate_series(1, 50)")
	must(err)
	large, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(err)
	expect(50, len(large))
	_, err = link.Exec(ctx, "INSERT INTO stock VALUES (2, 5, 'twice')")
	var refused *pgconn.PgError
	expect(true, errors.As(err, &refused) && refused.Code == "23505")
	must(pgx.BeginFunc(ctx, link, func(txn pgx.Tx) error {
		_ = pgx.BeginFunc(ctx, txn, func(inner pgx.Tx) error {
			_, err := inner.Exec(ctx, "UPDATE stock SET pieces = -5 WHERE item = 2")
			must(err)
			return errors.New("undone")
		})
		found, err := pieces(txn, 2)
		expect(before, found)
		return err
	}))
	cancel(mode)
}

// pgx closes a connection whose statement it cancelled.
func cancel(mode pgx.QueryExecMode) {
	link := connect(mode)
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	_, err := link.Exec(ctx, "SELECT pg_sleep(30)")
	expect(true, err != nil)
	after := connect(mode)
	defer after.Close(context.Background())
	_, err = pieces(after, 2)
	must(err)
}

func main() {
	port = os.Args[1]
	if len(os.Args) > 2 {
		sellAll(pgx.QueryExecModeCacheStatement, pgx.ReadCommitted, 4, 40)
		return
	}
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement,
		pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec,
		pgx.QueryExecModeSimpleProtocol} {
		everything(mode)
	}
	sellAll(pgx.QueryExecModeCacheStatement, pgx.RepeatableRead, 4, 25)
	sellAll(pgx.QueryExecModeExec, pgx.Serializable, 3, 20)
}
