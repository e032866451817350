package ouro

import (
	"errors"
	"reflect"
	"strings"
)

// Classes of SQLSTATE with which a server refuses a commit: there was no effect. Not among them: lost
// connections (08), shutdowns (57), system errors (58, XX), and 40003, "completion unknown".
const refusedClasses = " 0A 21 22 23 25 27 2D 40 42 44 55 P0 "

// What drivers of PostgreSQL answer to the commit of a transaction that had failed.
var rolledBackInstead = []string{
	"commit unexpectedly resulted in rollback",               // pgx
	"Could not complete operation in a failed transaction",   // lib/pq
	"could not complete operation in a failed transaction",   // lib/pq
	"current transaction is aborted, commands ignored until", // PostgreSQL
}

const (
	mysqlLockTimeout = 1205
	mysqlDeadlock    = 1213 // The whole transaction was rolled back.
	mysqlNoWait      = 3572
)

// sqlstate is the SQLSTATE of an error of PostgreSQL's drivers, or empty.
func sqlstate(err error) string {
	var stated interface{ SQLState() string }
	if errors.As(err, &stated) {
		return stated.SQLState()
	}
	return ""
}

// mysqlCode is the number of an error of MySQL's driver, or 0. Its type is not named here, so that
// nobody needs the driver who does not use it.
func mysqlCode(err error) uint64 {
	for ; err != nil; err = errors.Unwrap(err) {
		value := reflect.Indirect(reflect.ValueOf(err))
		if value.Kind() != reflect.Struct || value.Type().Name() != "MySQLError" {
			continue
		}
		if number := value.FieldByName("Number"); number.IsValid() && number.CanUint() {
			return number.Uint()
		}
	}
	return 0
}

func fromSQLite(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		kind := reflect.TypeOf(err)
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		if strings.Contains(kind.PkgPath(), "sqlite") {
			return true
		}
	}
	return false
}

func sqliteBusy(err error) bool {
	return fromSQLite(err) && (strings.Contains(err.Error(), "database is locked") ||
		strings.Contains(err.Error(), "database table is locked"))
}

// sqliteHarmless says whether an error of SQLite is one after which a transaction is certainly still
// open, or a statement outside of one certainly had no effect: all but those of the disk, and those
// that say that there is no transaction.
func sqliteHarmless(err error) bool {
	said := err.Error()
	return fromSQLite(err) && !strings.Contains(said, "disk") && !strings.Contains(said, "I/O") &&
		!strings.Contains(said, "full") && !strings.Contains(said, "no transaction is active")
}

// wasRefused says whether this answer to a commit says for certain that it has no effect.
func wasRefused(err error) bool {
	if state := sqlstate(err); len(state) == 5 && state != "40003" &&
		strings.Contains(refusedClasses, " "+state[:2]+" ") {
		return true
	}
	for _, text := range rolledBackInstead {
		if strings.Contains(err.Error(), text) {
			return true
		}
	}
	return mysqlCode(err) == mysqlDeadlock || sqliteBusy(err)
}

// mayBeRetried says whether the database asks to try again: a conflict, a deadlock, a lock.
func mayBeRetried(err error) bool {
	switch sqlstate(err) {
	case "40001", "40P01":
		return true
	}
	switch mysqlCode(err) {
	case mysqlLockTimeout, mysqlDeadlock, mysqlNoWait:
		return true
	}
	return sqliteBusy(err)
}
