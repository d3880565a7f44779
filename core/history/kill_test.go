package history

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// childPath is the variable that makes the test binary write a history instead.
const childPath = "HISTORY_TEST_CHILD"

// childWrites records until it is killed, and says what is written.
func childWrites(path string) {
	l, err := Open(path, Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	l.KeepTexts(true)
	for n := 1; ; n++ {
		l.Record(call(n))
		if n%10 == 0 {
			if err := l.Flush(context.Background()); err != nil {
				os.Exit(1)
			}
			fmt.Println(n)
		}
	}
}

// What was said to be written is there after the process was killed in the midst of
// writing, and the file is whole.
func TestKilledWhileWriting(t *testing.T) {
	path := place(t)
	for round := range 3 {
		written := writeAndKill(t, path)
		l := open(t, path, Options{})
		var n int
		var verdict string
		if err := l.file.read.QueryRow(`SELECT count(*) FROM calls`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if err := l.file.write.QueryRow(`PRAGMA integrity_check`).Scan(&verdict); err != nil {
			t.Fatal(err)
		}
		if n < written || verdict != "ok" {
			t.Errorf("round %d: %d of %d entries, %s", round, n, written, verdict)
		}
		if _, err := l.file.write.Exec(`INSERT INTO texts (texts, rank) VALUES ('integrity-check', 1)`); err != nil {
			t.Errorf("round %d: the index of texts: %v", round, err)
		}
		if _, err := l.file.write.Exec(`DELETE FROM calls`); err != nil {
			t.Error(err)
		}
		l.Close()
	}
}

// writeAndKill returns how many entries the child had written before it was killed.
func writeAndKill(t *testing.T, path string) (written int) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childPath+"="+path)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(out)
	for said.Scan() {
		n, err := strconv.Atoi(said.Text())
		if err != nil {
			t.Errorf("the child said %q", said.Text())
		}
		if written = n; n == 200 {
			if err := child.Process.Kill(); err != nil {
				t.Error(err)
			}
		}
	}
	_ = child.Wait() // it was killed
	if written < 200 {
		t.Fatalf("the child ended after %d entries", written)
	}
	return written
}
