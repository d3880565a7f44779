package conformance

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// Revisions are those that the suite has requirements of, oldest first.
var Revisions = []string{"2025-11-25", "2026-07-28"}

// Suite is the official suite as npm installed it.
type Suite struct {
	// Node is the program that runs it, Script its entry point.
	Node, Script string
	// Dir is the folder for results, a folder a run; it is created.
	Dir string
}

// In returns the suite below a node_modules folder.
func In(packages, dir string) Suite {
	return Suite{
		Node:   filepath.Join(packages, "node", "bin", "node"),
		Script: filepath.Join(packages, "@modelcontextprotocol", "conformance", "dist", "index.js"),
		Dir:    dir,
	}
}

// The one check of the suite that measures time, and how often its scenario is
// run again when that alone has failed: the suite plays all scenarios at once,
// which delays a client on a busy machine.
const (
	timedCheck = "client-sse-retry-timing"
	reruns     = 3
)

// Client runs what a revision asks of a client. command starts the client under
// test; the suite splits it at spaces. The error says that the suite did not do
// its work; what it found is in the report.
func (s Suite) Client(ctx context.Context, command, revision string) (*Report, error) {
	r, err := s.report("client", "client", revision)
	if err != nil {
		return nil, err
	}
	r.Found, err = s.run(ctx, "client-"+revision, "client", "--command", command, "--requirements", revision)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(r.Found)) {
		for try := 1; try <= reruns && r.Found[name].onlyLate(); try++ {
			alone, err := s.run(ctx, fmt.Sprintf("client-%s-alone-%d", revision, try),
				"client", "--command", command, "--scenario", name, "--spec-version", revision)
			if err != nil {
				return nil, err
			}
			r.Found[name] = alone[name]
		}
	}
	return r, nil
}

// Server runs what a revision asks of a server against the endpoint at url, which
// has a loopback name and no authorization ([Bearer] adds what one asks for). role
// is what the report calls it: "server", or what else stands in a server's place.
// The error is as for [Suite.Client].
func (s Suite) Server(ctx context.Context, role, url, revision string) (*Report, error) {
	r, err := s.report(role, "server", revision)
	if err != nil {
		return nil, err
	}
	r.Found, err = s.run(ctx, role+"-"+revision, "server", "--url", url, "--requirements", revision)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// report returns a report with what a revision requires of a leg of the suite's,
// "client" or "server", and nothing found yet.
func (s Suite) report(role, leg, revision string) (*Report, error) {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(s.Script)), "requirements", revision+".yaml"))
	if err != nil {
		return nil, fmt.Errorf("read the requirements: %w", err)
	}
	r := &Report{Role: role, Revision: revision}
	r.Required, r.Unscored = names(text, leg)
	if len(r.Required) == 0 {
		return nil, fmt.Errorf("the suite requires nothing of a %s of %s", leg, revision)
	}
	return r, nil
}

// run starts a leg of the suite and reads the results that it leaves in the folder
// name. Its exit code says only that a check has failed, which is told from the
// results.
func (s Suite) run(ctx context.Context, name, leg string, args ...string) (map[string]*Scenario, error) {
	dir := filepath.Join(s.Dir, name)
	if err := os.RemoveAll(dir); err != nil {
		return nil, fmt.Errorf("clear the results: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make a folder for the results: %w", err)
	}
	cmd := exec.CommandContext(ctx, s.Node, append([]string{s.Script, leg, "--output-dir", dir}, args...)...)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	runErr := cmd.Run()
	if err := os.WriteFile(filepath.Join(dir, "suite.log"), log.Bytes(), 0o644); err != nil {
		return nil, fmt.Errorf("keep the suite's log: %w", err)
	}
	found, err := read(dir, leg)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		tail := log.Bytes()[max(0, log.Len()-2000):]
		return nil, fmt.Errorf("the suite left no results (%w): %s", runErr, tail)
	}
	return found, nil
}
