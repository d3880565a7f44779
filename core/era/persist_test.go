package era

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

func persisted(t *testing.T, path string) *Verdicts {
	t.Helper()
	table := NewVerdicts()
	table.OnError = func(err error) { t.Errorf("OnError: %v", err) }
	if err := table.Persist(path); err != nil {
		t.Fatal(err)
	}
	return table
}

// E5: a stdio verdict outlives the app, under the spec's fingerprint.
func TestStdioVerdictOutlivesTheApp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "eras.json")
	first := persisted(t, path)
	put := legacy()
	first.Put(SpecKey("sha256-abc"), put)
	first.Put(SpecKey("sha256-def"), modern())
	first.Put(SpecKey("sha256-gone"), modern())
	first.Forget(SpecKey("sha256-gone"))
	if _, ok := first.Get(SpecKey("sha256-def"), 0); ok {
		t.Error("hit with a TTL of 0")
	}

	second := persisted(t, path)
	v, ok := second.Get(SpecKey("sha256-abc"), NoExpiry)
	if !ok || v.Era != Legacy || v.Version != mcp.V20251125 || !v.DecidedAt.Equal(put.DecidedAt) || !v.Until().IsZero() {
		t.Errorf("%+v, %v", v, ok)
	}
	if v.Record.Summary != KeptFromEarlier || !v.Record.At.Equal(put.DecidedAt) {
		t.Errorf("record %+v", v.Record)
	}
	for _, gone := range []string{"sha256-gone", "sha256-def"} {
		if _, ok := second.Get(SpecKey(gone), NoExpiry); ok {
			t.Errorf("%s came back", gone)
		}
	}
}

// E4, E5: the file holds fingerprints, eras, versions and times, and nothing of HTTP.
func TestFileHoldsNothingElse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "eras.json")
	table := persisted(t, path)
	v := legacy()
	v.Record = Record{Method: mcp.MethodDiscover, Status: 418, Code: -32042, HasCode: true, Summary: OtherError, At: v.DecidedAt}
	table.Put(SpecKey("sha256-abc"), v)
	table.Put(mustKey(t, "https://hunter2.example/"), modern())

	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	rows := got["verdicts"].([]any)
	if len(got) != 2 || len(rows) != 1 || len(rows[0].(map[string]any)) != 4 || strings.Contains(string(data), "hunter2") || strings.Contains(string(data), "418") {
		t.Errorf("%s", data)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if info, err := os.Stat(path); runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != 0o600) {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestHTTPVerdictWritesNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "eras.json")
	table := persisted(t, path)
	table.Put(mustKey(t, "https://example.com/"), modern())
	table.Forget(mustKey(t, "https://example.com/"))
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file: %v", err)
	}
}

// A broken file costs the kept verdicts, is reported, and is there for a look.
func TestBrokenFileIsSetAside(t *testing.T) {
	for name, content := range map[string]string{
		"empty":         "",
		"cut off":       `{"format":1,"verdicts":[{"finger`,
		"other JSON":    `[]`,
		"newer format":  `{"format":2,"verdicts":[]}`,
		"no format":     `{"verdicts":[]}`,
		"bad time":      `{"format":1,"verdicts":[{"fingerprint":"a","era":"modern","version":"2026-07-28","decidedAt":"yesterday"}]}`,
		"far too large": `{"format":1,"verdicts":[]}` + strings.Repeat(" ", maxFileBytes),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "eras.json")
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			table := NewVerdicts()
			if err := table.Persist(path); !errors.Is(err, ErrBrokenFile) {
				t.Fatalf("got %v", err)
			}
			if aside, err := os.ReadFile(path + ".broken"); err != nil || string(aside) != content {
				t.Errorf("set aside: %d bytes, %v", len(aside), err)
			}
			table.Put(SpecKey("a"), modern())
			if _, ok := persisted(t, path).Get(SpecKey("a"), NoExpiry); !ok {
				t.Error("nothing is kept any more")
			}
		})
	}
}

// A row that makes no sense costs itself alone.
func TestSenselessRowsAreLeftOut(t *testing.T) {
	const at = `"decidedAt":"2026-08-01T00:00:00Z"`
	rows, ok := decode([]byte(`{"format":1,"later":true,"verdicts":[
		{"fingerprint":"good","era":"modern","version":"2026-07-28",` + at + `,"later":1},
		{"fingerprint":"","era":"modern","version":"2026-07-28",` + at + `},
		{"fingerprint":"two words","era":"modern","version":"2026-07-28",` + at + `},
		{"fingerprint":"` + strings.Repeat("x", maxFingerprint+1) + `","era":"modern","version":"2026-07-28",` + at + `},
		{"fingerprint":"mismatch","era":"legacy","version":"2026-07-28",` + at + `},
		{"fingerprint":"newer","era":"modern","version":"2031-01-01",` + at + `},
		{"fingerprint":"unknown","era":"unknown","version":"",` + at + `},
		{"fingerprint":"no time","era":"modern","version":"2026-07-28"},
		{"fingerprint":"timeless","era":"modern","version":"2026-07-28"},
		{"fingerprint":"twice","era":"legacy","version":"2025-06-18","decidedAt":"2026-08-02T00:00:00Z"},
		{"fingerprint":"twice","era":"modern","version":"2026-07-28","decidedAt":"2026-08-01T00:00:00Z"}
	]}`))
	if !ok || len(rows) != 2 || rows[SpecKey("good")].Era != Modern || rows[SpecKey("twice")].Era != Legacy {
		t.Errorf("%v, %+v", ok, rows)
	}
}

// A failure to write is reported, and the verdict in memory holds.
func TestWriteFailureIsReportedAndLosesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state", "eras.json")
	table := NewVerdicts()
	var failures []error
	table.OnError = func(err error) {
		failures = append(failures, err)
		table.Get(SpecKey("a"), NoExpiry) // no lock is held
	}
	if err := table.Persist(path); err != nil {
		t.Fatal(err)
	}
	blocker := filepath.Join(dir, "state")
	if err := os.WriteFile(blocker, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	table.Put(SpecKey("a"), modern())
	if len(failures) != 1 {
		t.Errorf("failures: %v", failures)
	}
	if _, ok := table.Get(SpecKey("a"), NoExpiry); !ok {
		t.Error("the verdict is lost")
	}

	// The next change writes what the failed one could not.
	if err := os.Remove(blocker); err != nil {
		t.Fatal(err)
	}
	table.Put(SpecKey("b"), modern())
	if _, ok := persisted(t, path).Get(SpecKey("a"), NoExpiry); !ok || len(failures) != 1 {
		t.Errorf("kept %v, failures %v", ok, failures)
	}
}

// A file that cannot be read is not overwritten.
func TestUnreadableFileIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "eras.json")
	if err := os.Mkdir(path, 0o700); err != nil { // readable by nobody as a file, root included
		t.Fatal(err)
	}
	table := NewVerdicts()
	table.OnError = func(err error) { t.Errorf("OnError: %v", err) }
	if err := table.Persist(path); err == nil || errors.Is(err, ErrBrokenFile) {
		t.Fatalf("got %v", err)
	}
	table.Put(SpecKey("a"), modern())
	if _, ok := table.Get(SpecKey("a"), NoExpiry); !ok {
		t.Error("the verdict is lost")
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		t.Errorf("%v, %v", info, err)
	}
}

// What this run has learned already wins over the file, and goes into it.
func TestPersistKeepsWhatIsInTheTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "eras.json")
	persisted(t, path).Put(SpecKey("a"), legacy())
	table := NewVerdicts()
	table.Put(SpecKey("a"), modern())
	if err := table.Persist(path); err != nil {
		t.Fatal(err)
	}
	if v, _ := persisted(t, path).Get(SpecKey("a"), NoExpiry); v.Era != Modern {
		t.Errorf("got %v", v.Era)
	}
}

// The file stays bounded: the newest verdicts are kept.
func TestFileKeepsTheNewest(t *testing.T) {
	rows := make(map[Key]Verdict)
	start := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	for i := range maxRows + 10 {
		v := legacy()
		v.DecidedAt = start.Add(time.Duration(i) * time.Second)
		rows[SpecKey(fmt.Sprintf("%s-%d", strings.Repeat("f", maxFingerprint-8), i))] = v
	}
	data, err := encode(rows)
	if err != nil {
		t.Fatal(err)
	}
	got, ok := decode(data)
	if !ok || len(got) != maxRows || len(data) > maxFileBytes {
		t.Fatalf("%d rows, %d bytes, %v", len(got), len(data), ok)
	}
	for k := range got {
		if rows[k].DecidedAt.Before(start.Add(10 * time.Second)) {
			t.Fatalf("an old one is kept: %v", k)
		}
	}
}

// Many servers starting at once leave one whole file with all of them.
func TestConcurrentPutsAllReachTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "eras.json")
	table := persisted(t, path)
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() { table.Put(SpecKey(fmt.Sprint(i)), modern()) })
	}
	wg.Wait()
	again := persisted(t, path)
	for i := range 40 {
		if _, ok := again.Get(SpecKey(fmt.Sprint(i)), NoExpiry); !ok {
			t.Errorf("%d is missing", i)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"format":1,"verdicts":[{"fingerprint":"sha256-abc","era":"modern","version":"2026-07-28","decidedAt":"2026-08-01T00:00:00Z"}]}`))
	f.Add([]byte(`{"format":1,"verdicts":[{"fingerprint":"a","era":"legacy","version":"2025-11-25","decidedAt":"0000-01-01T00:00:00+01:00"}]}`))
	f.Add([]byte(`{"format":1,"verdicts":[{"fingerprint":"a","era":"legacy","version":"2025-11-25","decidedAt":"9999-12-31T23:59:59-23:59"}]}`))
	f.Add([]byte(`{"format":1,"verdicts":null}`))
	f.Add([]byte(`{"format":1e0}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, ok := decode(data)
		if !ok {
			return
		}
		first, err := encode(rows)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, ok := decode(first)
		if !ok {
			t.Fatalf("what was written cannot be read: %s", first)
		}
		second, err := encode(again)
		if err != nil || !bytes.Equal(first, second) {
			t.Errorf("not stable: %s\n%s\n%v", first, second, err)
		}
	})
}
