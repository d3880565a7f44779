package spec

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// notifier tells of changes in directories.
type notifier interface {
	Add(dir string) error
	Remove(dir string) error
	Events() <-chan fsnotify.Event
	Errors() <-chan error
	Close() error
}

type osNotifier struct{ *fsnotify.Watcher }

func newOSNotifier() (notifier, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return osNotifier{w}, nil
}

func (n osNotifier) Events() <-chan fsnotify.Event { return n.Watcher.Events }
func (n osNotifier) Errors() <-chan error          { return n.Watcher.Errors }

// watchSet keeps one notifier pointed at what trail says.
type watchSet struct {
	notifier
	points  map[string][]string
	watched map[string]bool
}

func newWatchSet(n notifier) *watchSet {
	return &watchSet{notifier: n, watched: make(map[string]bool)}
}

// follow watches what there is to watch for path now. Directories can come and go
// between looking and watching, so it looks until nothing changes any more.
func (s *watchSet) follow(path string) error {
	var failed error
	for range 10 {
		s.points, _ = trail(path)
		failed = nil
		settled := true
		for dir := range s.points {
			if s.watched[dir] {
				continue
			}
			settled = false
			if err := s.Add(dir); err != nil {
				failed = fmt.Errorf("watch a directory: %w", err)
				continue
			}
			s.watched[dir] = true
		}
		if failed != nil && !errors.Is(failed, fs.ErrNotExist) {
			return failed
		}
		if settled {
			break
		}
	}
	for dir := range s.watched {
		if _, wanted := s.points[dir]; !wanted {
			s.forget(dir)
		}
	}
	return failed
}

func (s *watchSet) forget(dir string) {
	_ = s.Remove(dir) // it may be gone already
	delete(s.watched, dir)
}

// concerns reports whether an event is about something on the trail. A watched
// directory that is gone, or was moved, is not watched any more.
func (s *watchSet) concerns(e fsnotify.Event) bool {
	name := filepath.Clean(e.Name)
	if s.watched[name] && e.Op&(fsnotify.Remove|fsnotify.Rename) != 0 {
		s.forget(name)
		return true
	}
	return slices.Contains(s.points[filepath.Dir(name)], filepath.Base(name))
}

// limit names the limit of the system that err tells of (case 98): inotify
// reports both as something that reads like a full disk or too many open files.
func limit(err error) string {
	switch {
	case errors.Is(err, syscall.EMFILE):
		return "the system allows no more inotify instances (fs.inotify.max_user_instances)"
	case errors.Is(err, syscall.ENOSPC):
		return "the system allows no more inotify watches (fs.inotify.max_user_watches)"
	}
	return "the system does not report changes here"
}
