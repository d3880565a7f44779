package bench

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/drawbridge-mcp/drawbridge/core/internal/peerbin"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRatioIsTheMedianOfTheRounds(t *testing.T) {
	for _, tc := range []struct {
		name         string
		ours, theirs []float64
		want         float64
	}{
		{"one round", []float64{3}, []float64{4}, 0.75},
		{"one round in three was disturbed", []float64{1, 90, 3}, []float64{2, 100, 4}, 0.75},
		{"an even count", []float64{1, 3}, []float64{2, 2}, 1},
		{"theirs is nothing", []float64{1, 3}, []float64{0, 2}, 1.5},
		{"nothing", nil, nil, 0},
	} {
		if got := (Row{Ours: tc.ours, Theirs: tc.theirs}).Ratio(); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestRowEndsWithTheRatio(t *testing.T) {
	r := Row{Name: "calls-1-stdio-modern-p50", Unit: "µs", Ours: []float64{50}, Theirs: []float64{100}}
	want := "  ours 50.0 µs, theirs 100.0 µs\nbench calls-1-stdio-modern-p50: 0.50 (ours/theirs)"
	if got := r.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestCallsPerSecondAreShownAsTimePerCall(t *testing.T) {
	got, err := callQuantities[0].read(map[string]float64{"perSecond": 4000})
	if err != nil || got != 250 {
		t.Errorf("%v µs, %v", got, err)
	}
	if _, err := callQuantities[0].read(map[string]float64{}); err == nil {
		t.Error("a member that is missing was read")
	}
}

// Both programs measure with the same code: a difference would be measured as well.
func TestBothMeasureAlike(t *testing.T) {
	ours, err := os.ReadFile(filepath.Join("client", "measure.go"))
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := os.ReadFile(filepath.Join("..", "peers", "gosdk-bench", "measure.go"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(ours, theirs) {
		t.Error("measure.go differs between client and gosdk-bench")
	}
}

// Every case of the plan can be run, and gives each of its rows a number on both
// sides.
func TestEveryCaseIsMeasured(t *testing.T) {
	programs := Programs{
		Ours:   filepath.Join(t.TempDir(), "client"),
		Theirs: peerbin.Go(t, "gosdk-bench"), Server: peerbin.Go(t, "gosdk-server"),
	}
	if out, err := exec.Command("go", "build", "-o", programs.Ours, "./client").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, c := range Plan(Size{Rounds: 1, Sessions: 3}) {
		c.Args = append(c.Args, "-length", "20ms", "-rest", "1ms")
		rows, err := programs.Compare(t.Context(), c)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, r := range rows {
			if len(r.Ours) != 1 || len(r.Theirs) != 1 {
				t.Errorf("%s: %v and %v", r.Name, r.Ours, r.Theirs)
			}
			// Memory may not have grown where it was free before.
			if grows := !strings.HasSuffix(r.Name, "-rss"); grows && (r.Ours[0] <= 0 || r.Theirs[0] <= 0) {
				t.Errorf("%s: %v and %v", r.Name, r.Ours, r.Theirs)
			}
		}
	}
}
