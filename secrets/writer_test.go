package secrets

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// K4: a value is masked however the text is cut into writes.
func TestWriterMasksAcrossWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m Masker
		m.Add("ghp_S3CRET", "abab", "X7")
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{
			"ghp_S3CRET", "ghp_S3", "ab", "X7", " ", "\n", "text",
		})).Draw(t, "text"), "")
		var out strings.Builder
		w := m.Writer(&out)
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			if wrote, err := w.Write([]byte(rest[:n])); wrote != n || err != nil {
				t.Fatalf("Write = %d, %v", wrote, err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got, want := out.String(), m.Mask(text); got != want {
			t.Fatalf("wrote %q, want %q", got, want)
		}
	})
}

func TestWriterDoesNotHoldALineWithoutEnd(t *testing.T) {
	var m Masker
	m.Add("ghp_S3CRET")
	for _, piece := range []string{"ghp_S3CRET", "x", "ghp_S3CRET.", strings.Repeat("y", 4099)} {
		var out strings.Builder
		w := m.Writer(&out)
		text := strings.Repeat(piece, 400_000/len(piece))
		for rest := text; rest != ""; {
			n := min(len(rest), 1009)
			_, _ = w.Write([]byte(rest[:n]))
			rest = rest[n:]
			if len(w.held) > maxLine+5000 {
				t.Fatalf("holds %d bytes", len(w.held))
			}
		}
		_ = w.Close()
		if got, want := out.String(), m.Mask(text); got != want {
			t.Errorf("wrote %d bytes, want %d, for lines of %.20q", len(got), len(want), piece)
		}
	}
}

func TestWriterBoundsARunOfOneValue(t *testing.T) {
	var m Masker
	m.Add("aaaa")
	var out strings.Builder
	w := m.Writer(&out)
	for range 1000 {
		_, _ = w.Write([]byte(strings.Repeat("a", 1000)))
		if len(w.held) > maxLine+5000 {
			t.Fatalf("holds %d bytes", len(w.held))
		}
	}
	_ = w.Close()
	if strings.Contains(out.String(), "aaaa") {
		t.Error("the value was written")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestWriterReportsAFailureBelow(t *testing.T) {
	w := new(Masker).Writer(failing{})
	if _, err := w.Write([]byte("line\n")); err == nil {
		t.Error("Write succeeded")
	}
}
