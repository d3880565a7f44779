package spec

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// onlyFiles fails if anything but names is in dir: no temporary file stays.
func onlyFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != len(names) {
		t.Errorf("%s holds %v", dir, list)
	}
}

func TestEditMakesANewFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "drawbridge")
	path := filepath.Join(dir, "servers.json")
	if err := Edit(path, Hash{}, AddServer(demo)); err != nil {
		t.Fatal(err)
	}
	f, err := Load(path, User)
	if err != nil || !Equal(f.Find("demo").Spec, demo) {
		t.Errorf("%v, %v", f, err)
	}
	onlyFiles(t, dir, "servers.json")
	checkMode(t, path, 0o600)
	checkMode(t, dir, 0o700)
}

// P2, case 93: mode and content outside of the edit stay.
func TestEditKeepsTheRest(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "servers.json")
	write(t, path, case93)
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := Edit(path, Hash{}, SetDisabled("a", true)); err != nil {
		t.Fatal(err)
	}
	want, _ := SetDisabled("a", true)([]byte(case93))
	if got := readFile(t, path); got != string(want) {
		t.Errorf("got %s", got)
	}
	checkMode(t, path, 0o640)
	onlyFiles(t, dir, "servers.json")
}

// P2, case 93: a symlink stays one, and its target is written.
func TestEditWritesThroughSymlinks(t *testing.T) {
	root := t.TempDir()
	dotfiles, config := filepath.Join(root, "dotfiles"), filepath.Join(root, "config")
	for _, dir := range []string{dotfiles, config} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(config, "servers.json")
	symlink(t, filepath.Join("..", "dotfiles", "link.json"), path)
	symlink(t, "mcp.json", filepath.Join(dotfiles, "link.json"))
	// The target may not be there yet.
	if err := Edit(path, Hash{}, AddServer(demo)); err != nil {
		t.Fatal(err)
	}
	if err := Edit(path, Hash{}, SetDisabled("demo", true)); err != nil {
		t.Fatal(err)
	}
	if got := readFile(t, filepath.Join(dotfiles, "mcp.json")); !strings.Contains(got, `"disabled": true`) {
		t.Errorf("got %s", got)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
	onlyFiles(t, config, "servers.json")
	onlyFiles(t, dotfiles, "link.json", "mcp.json")
}

func symlink(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

// P2: the file is not the one that was read.
func TestEditRefusesAChangedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "servers.json")
	write(t, path, case93)
	f, err := Load(path, User)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, case93+"\n")
	if err := Edit(path, f.Hash, SetDisabled("a", true)); !errors.Is(err, ErrChanged) {
		t.Errorf("changed before: %v", err)
	}
	during := func(file []byte) ([]byte, error) {
		write(t, path, case93)
		return SetDisabled("a", true)(file)
	}
	if err := Edit(path, Hash{}, during); !errors.Is(err, ErrChanged) {
		t.Errorf("changed during: %v", err)
	}
	if got := readFile(t, path); got != case93 {
		t.Errorf("written nevertheless: %s", got)
	}
	if err := Edit(path, f.Hash, SetDisabled("a", true)); err != nil {
		t.Errorf("changed back: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := Edit(path, f.Hash, SetDisabled("a", true)); !errors.Is(err, ErrChanged) {
		t.Errorf("removed: %v", err)
	}
	onlyFiles(t, filepath.Dir(path))
}

// Case 93: a file that cannot be parsed is never replaced.
func TestEditLeavesABrokenFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "servers.json")
	write(t, path, case93[:60])
	var syntax *SyntaxError
	if err := Edit(path, Hash{}, AddServer(demo)); !errors.Is(err, ErrBroken) || !errors.As(err, &syntax) {
		t.Errorf("got %v", err)
	}
	if readFile(t, path) != case93[:60] {
		t.Error("written nevertheless")
	}
	onlyFiles(t, dir, "servers.json")
}

func TestEditRespectsReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "servers.json")
	write(t, path, case93)
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	if err := Edit(path, Hash{}, AddServer(demo)); !errors.Is(err, ErrReadOnly) {
		t.Errorf("got %v", err)
	}
}

func TestEditWithoutADifferenceWritesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "servers.json")
	write(t, path, case93)
	before, _ := os.Stat(path)
	if err := Edit(path, Hash{}, SetDisabled("a", false)); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.Stat(path); !os.SameFile(before, after) || !after.ModTime().Equal(before.ModTime()) {
		t.Error("written")
	}
}
