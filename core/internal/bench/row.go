package bench

import (
	"fmt"
	"slices"
)

// Row is one quantity, measured in several rounds. Less is better.
type Row struct {
	Name string
	Unit string
	// Ours and Theirs hold one number for each round.
	Ours, Theirs []float64
}

// Ratio returns the median over the rounds of ours divided by theirs, 0 when there
// is none. Rounds in which theirs is nothing are left out.
func (r Row) Ratio() float64 {
	var ratios []float64
	for i := range min(len(r.Ours), len(r.Theirs)) {
		if r.Theirs[i] > 0 {
			ratios = append(ratios, r.Ours[i]/r.Theirs[i])
		}
	}
	return median(ratios)
}

// String returns what both took, and the line that tells the ratio.
func (r Row) String() string {
	return fmt.Sprintf("  ours %.1f %s, theirs %.1f %[2]s\nbench %[4]s: %.2[5]f (ours/theirs)",
		median(r.Ours), r.Unit, median(r.Theirs), r.Name, r.Ratio())
}

// median returns the middle of the numbers, the mean of the middle two of an even
// count, 0 of none.
func median(of []float64) float64 {
	if len(of) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(of))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
