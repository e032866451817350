package ouro

import (
	"errors"
	"regexp"
)

// What a statement does to transactions.
type statementKind int

const (
	other statementKind = iota
	begins
	commits
	rollsBack
	savepoint
	backTo
	releases
	prepares // For a commit in two phases.
)

type statement struct {
	kind statementKind
	name string // Of the savepoint.
}

const savepointName = "[\"'`\\[]?([^\\s\"'`\\];]+)"

var (
	noise   = regexp.MustCompile(`(?s)\A(?:\s+|;|--[^\n]*(?:\n|\z)|/\*.*?\*/)+`)
	quoted  = regexp.MustCompile(`(?s)'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*.*?\*/`)
	several = regexp.MustCompile(
		`(?i);\s*(begin|start\s+transaction|commit|end|rollback|abort|savepoint|release)\b`)
	autocommit = regexp.MustCompile(`(?i)\A\s*set\s+(?:session\s+|@@(?:session\.)?)?autocommit\b`)
	forms      = []struct {
		kind statementKind
		form *regexp.Regexp
	}{
		{begins, regexp.MustCompile(`(?i)\A(?:begin|start\s+transaction)\b`)},
		{backTo, regexp.MustCompile(`(?i)\A(?:rollback|abort)(?:\s+(?:work|transaction))?\s+to\s+` +
			`(?:savepoint\s+)?` + savepointName)},
		{prepares, regexp.MustCompile(`(?i)\A(?:prepare\s+transaction|xa\s+prepare)\b`)},
		{other, regexp.MustCompile(`(?i)\A(?:commit|rollback)\s+prepared\b`)},
		{rollsBack, regexp.MustCompile(`(?i)\A(?:rollback|abort)\b`)},
		{commits, regexp.MustCompile(`(?i)\A(?:commit|end)\b`)},
		{savepoint, regexp.MustCompile(`(?i)\Asavepoint\s+` + savepointName)},
		{releases, regexp.MustCompile(`(?i)\Arelease\s+(?:savepoint\s+)?` + savepointName)},
	}
)

// classify says what a statement does to its transaction. It refuses what cannot be recorded.
func classify(query string) (statement, error) {
	query = noise.ReplaceAllString(query, "")
	if several.MatchString(quoted.ReplaceAllString(query, "''")) {
		return statement{}, errors.New("ouro: several statements in one call begin or end " +
			"transactions; execute one after the other, so that what happened can be recorded")
	}
	if autocommit.MatchString(query) {
		return statement{}, errors.New("ouro: what 'SET autocommit' does to transactions cannot be " +
			"recorded; use BeginTx")
	}
	for _, one := range forms {
		if match := one.form.FindStringSubmatch(query); match != nil {
			found := statement{kind: one.kind}
			if len(match) > 1 {
				found.name = match[1]
			}
			return found, nil
		}
	}
	return statement{}, nil
}
