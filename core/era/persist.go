package era

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

const (
	fileFormat     = 1
	maxFileBytes   = 1 << 20
	maxRows        = 1024 // the newest are kept: specs go, their verdicts would stay
	maxFingerprint = 256
)

// ErrBrokenFile says that the verdict file could not be understood and was set aside
// under the same name with ".broken" behind it.
var ErrBrokenFile = errors.New("the file of kept eras is broken and was set aside")

// file is what is written: fingerprints, eras, versions and times, nothing else.
type file struct {
	Format   int   `json:"format"`
	Verdicts []row `json:"verdicts"`
}

type row struct {
	Fingerprint string      `json:"fingerprint"`
	Era         string      `json:"era"`
	Version     mcp.Version `json:"version"`
	DecidedAt   time.Time   `json:"decidedAt"`
}

// Persist loads the stdio verdicts of the file at path and from then on keeps the
// file in step with the table (E5); HTTP verdicts stay in memory. A missing file is
// an empty one. A broken one is set aside, which is [ErrBrokenFile], and a new one
// is kept. After any other error the table goes on in memory alone, so as not to
// overwrite what it could not read. What is already in the table wins over the file.
//
// The file is replaced atomically, has mode 0600, and its folder is made if need be.
// Put and Forget write it before they return; see OnError.
func (t *Verdicts) Persist(path string) error {
	rows, err := load(path)
	if err != nil && !errors.Is(err, ErrBrokenFile) {
		return err
	}
	t.mu.Lock()
	t.path = path
	ahead := false
	for k := range t.rows {
		ahead = t.changed(k) || ahead
	}
	for k, v := range rows {
		if _, ok := t.rows[k]; !ok {
			t.rows[k] = v
		}
	}
	t.mu.Unlock()
	if ahead {
		t.save()
	}
	return err
}

func load(path string) (map[Key]Verdict, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("opening the file of kept eras: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, fmt.Errorf("reading the file of kept eras: %w", err)
	}
	rows, ok := decode(data)
	if ok {
		return rows, nil
	}
	if err := os.Rename(path, path+".broken"); err != nil {
		return nil, fmt.Errorf("setting the broken file of kept eras aside: %w", err)
	}
	return nil, ErrBrokenFile
}

// decode reads the file; false when it is broken as a whole. A row that makes no
// sense, such as one of a revision we do not speak, is only left out: the server is
// probed again.
func decode(data []byte) (map[Key]Verdict, bool) {
	var f file
	if len(data) > maxFileBytes || json.Unmarshal(data, &f) != nil || f.Format != fileFormat {
		return nil, false
	}
	rows := make(map[Key]Verdict)
	for _, r := range f.Verdicts {
		v := Verdict{Era: Of(r.Version), Version: r.Version, DecidedAt: r.DecidedAt.UTC(), TTL: NoExpiry}
		v.Record = Record{Summary: KeptFromEarlier, At: v.DecidedAt}
		year := v.DecidedAt.Year()
		if !storable(r.Fingerprint) || !r.Version.Supported() || v.Era.String() != r.Era || year < 2000 || year > 9000 {
			continue
		}
		if old, ok := rows[SpecKey(r.Fingerprint)]; ok && old.DecidedAt.After(v.DecidedAt) {
			continue
		}
		rows[SpecKey(r.Fingerprint)] = v
	}
	return rows, true
}

// storable reports whether a fingerprint looks like one: short printable ASCII.
func storable(fingerprint string) bool {
	for _, c := range []byte(fingerprint) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return fingerprint != "" && len(fingerprint) <= maxFingerprint
}

// encode writes the stdio rows, newest first.
func encode(rows map[Key]Verdict) ([]byte, error) {
	f := file{Format: fileFormat, Verdicts: []row{}}
	for k, v := range rows {
		if storable(k.fingerprint) {
			f.Verdicts = append(f.Verdicts, row{k.fingerprint, v.Era.String(), v.Version, v.DecidedAt.UTC()})
		}
	}
	slices.SortFunc(f.Verdicts, func(a, b row) int {
		return cmp.Or(b.DecidedAt.Compare(a.DecidedAt), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
	f.Verdicts = f.Verdicts[:min(len(f.Verdicts), maxRows)]
	b, err := json.MarshalIndent(f, "", "  ")
	return append(b, '\n'), err
}

// save brings the file up to date. Of several callers at once, the first to write
// writes for all who changed something before it.
func (t *Verdicts) save() {
	if err := t.write(); err != nil && t.OnError != nil {
		t.OnError(fmt.Errorf("writing the file of kept eras: %w", err))
	}
}

func (t *Verdicts) write() error {
	t.saving.Lock()
	defer t.saving.Unlock()
	t.mu.Lock()
	path, changes := t.path, t.changes
	data, err := encode(t.rows)
	t.mu.Unlock()
	if err != nil || changes == t.saved {
		return err
	}
	if err := replace(path, data); err != nil {
		return err
	}
	t.saved = changes
	return nil
}

// replace puts data at path in one step, so that a crash leaves the old or the new
// file; os.CreateTemp gives mode 0600.
func replace(path string, data []byte) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = io.Copy(f, bytes.NewReader(data))
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
