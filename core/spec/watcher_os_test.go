package spec

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// watching runs a watcher over the system's own notifications, with nothing to
// make up for those that it misses.
func watching(t *testing.T, path string) *Watcher {
	t.Helper()
	w := NewWatcher(path, func(State) {})
	w.slow = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = w.Serve(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return w
}

// eventually waits for the file to have a server of that name.
func eventually(t *testing.T, w *Watcher, name string) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for w.State().File.Find(name) == nil || w.State().Problem != nil {
		if time.Now().After(deadline) {
			t.Fatalf("%s never came: %v, problem %v", name, w.State().File.Entries, w.State().Problem)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func server(name string) string { return `{"mcpServers": {"` + name + `": {"command": "x"}}}` }

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// Case 94, top25 21: what editors do, with the real inotify.
func TestEditorsSaves(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "servers.json")
	write(t, path, server("start"))
	w := watching(t, path)
	eventually(t, w, "start")

	for _, name := range []string{"mv1", "mv2", "mv3"} { // a new file renamed over the old, three times
		temp := path + ".tmp"
		write(t, temp, server(name))
		rename(t, temp, path)
		eventually(t, w, name)
	}
	write(t, path, server("in-place"))
	eventually(t, w, "in-place")

	rename(t, path, path+"~") // vim with backupcopy=no
	write(t, path, server("vim"))
	if err := os.Remove(path + "~"); err != nil {
		t.Fatal(err)
	}
	eventually(t, w, "vim")

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	write(t, path, server("recreated"))
	eventually(t, w, "recreated")

	if err := Edit(path, Hash{}, AddServer(demo)); err != nil { // our own
		t.Fatal(err)
	}
	eventually(t, w, "demo")
}

func TestDirectoryThatAppearsLater(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "config", "drawbridge", "servers.json")
	w := watching(t, path)
	if !w.State().File.Missing {
		t.Fatal("not missing")
	}
	for _, name := range []string{"first", "again"} { // the second time after it was removed with everything in it
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, path, server(name))
		eventually(t, w, name)
		if err := os.RemoveAll(filepath.Join(root, "config")); err != nil {
			t.Fatal(err)
		}
	}
}

// Dotfiles managers: the file is a link, its target is edited, the link is moved.
func TestLinkedFile(t *testing.T) {
	root := t.TempDir()
	config, dot := filepath.Join(root, "config"), filepath.Join(root, "dot")
	for _, dir := range []string{config, dot} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(config, "servers.json")
	one, two := filepath.Join(dot, "one.json"), filepath.Join(dot, "two.json")
	write(t, one, server("one"))
	write(t, two, server("two"))
	symlink(t, filepath.Join("..", "dot", "one.json"), path)
	w := watching(t, path)
	eventually(t, w, "one")

	write(t, one+".tmp", server("edited"))
	rename(t, one+".tmp", one)
	eventually(t, w, "edited")

	symlink(t, two, path+".new")
	rename(t, path+".new", path)
	eventually(t, w, "two")

	write(t, two, server("in-place"))
	eventually(t, w, "in-place")
}

// The directory is a link too, and is moved as a whole (Kubernetes, stow).
func TestLinkedDirectory(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"v1", "v2"} {
		if err := os.Mkdir(filepath.Join(root, name), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(root, name, "servers.json"), server(name))
	}
	symlink(t, "v1", filepath.Join(root, "current"))
	w := watching(t, filepath.Join(root, "current", "servers.json"))
	eventually(t, w, "v1")
	symlink(t, "v2", filepath.Join(root, "new"))
	rename(t, filepath.Join(root, "new"), filepath.Join(root, "current"))
	eventually(t, w, "v2")
}
