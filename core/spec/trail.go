package spec

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxLinks bounds the symlinks on the way to a file.
const maxLinks = 40

var errLoop = errors.New("too many symlinks")

// trail maps each directory to watch to the names in it that matter: every
// symlink on the way to path, and the place where the way ends, be it the file
// or the first thing that is missing. It also returns where path leads, symlinks
// followed, whether or not there is a file.
//
// A watch on the file itself would be lost with the first editor that saves by
// renaming (case 94).
func trail(path string) (points map[string][]string, target string) {
	points = make(map[string][]string)
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path
	}
	dir, rest := split(abs)
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		if name == ".." {
			dir = filepath.Dir(dir)
			continue
		}
		full := filepath.Join(dir, name)
		info, err := os.Lstat(full)
		link := ""
		if err == nil && info.Mode()&os.ModeSymlink != 0 {
			link, err = os.Readlink(full)
			if links++; links > maxLinks {
				err = errLoop
			}
		}
		if link != "" || err != nil || len(rest) == 0 {
			if !slices.Contains(points[dir], name) {
				points[dir] = append(points[dir], name)
			}
		}
		switch {
		case err != nil:
			return points, filepath.Join(full, filepath.Join(rest...))
		case link == "":
			dir = full
		default:
			from, names := split(link)
			if filepath.IsAbs(link) {
				dir = from
			}
			rest = slices.Concat(names, rest)
		}
	}
	return points, dir
}

// split returns the root that path begins at, "" for none, and its components.
func split(path string) (root string, names []string) {
	path = filepath.ToSlash(path)
	volume := filepath.VolumeName(path)
	rest := path[len(volume):]
	if strings.HasPrefix(rest, "/") {
		root = filepath.FromSlash(volume + "/")
	}
	for name := range strings.SplitSeq(rest, "/") {
		if name != "" && name != "." {
			names = append(names, name)
		}
	}
	return root, names
}
