package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
)

// Programs are the paths of what takes part.
type Programs struct {
	Ours, Theirs string
	// Server is the peer gosdk-server.
	Server string
}

// Compare runs both programs in turns and returns a row for each quantity. Who is
// first changes with every round.
func (p Programs) Compare(ctx context.Context, c Case) ([]Row, error) {
	rows := make([]Row, len(c.Quantities))
	for i, q := range c.Quantities {
		rows[i] = Row{Name: c.Name + "-" + q.Name, Unit: q.Unit}
	}
	target := []string{p.Server}
	if c.HTTP {
		url, stop, err := serve(p.Server, c.Legacy)
		if err != nil {
			return nil, err
		}
		defer stop()
		target = []string{url}
	}
	args := c.Args
	if c.Legacy {
		args = append(args[:len(args):len(args)], "-legacy")
	}
	args = append(args[:len(args):len(args)], target...)
	for round := range c.Rounds {
		for turn := range 2 {
			ours := (round+turn)%2 == 0
			path := p.Theirs
			if ours {
				path = p.Ours
			}
			printed, err := measure(ctx, path, args)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.Name, err)
			}
			for i, q := range c.Quantities {
				v, err := q.read(printed)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", c.Name, err)
				}
				if ours {
					rows[i].Ours = append(rows[i].Ours, v)
				} else {
					rows[i].Theirs = append(rows[i].Theirs, v)
				}
			}
		}
	}
	return rows, nil
}

// measure runs one program to its end and returns what it printed.
func measure(ctx context.Context, path string, args []string) (map[string]float64, error) {
	cmd := exec.CommandContext(ctx, path, args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", path, err, bytes.TrimSpace(said.Bytes()))
	}
	var printed map[string]float64
	if err := json.Unmarshal(out, &printed); err != nil {
		return nil, fmt.Errorf("%s printed %q: %w", path, out, err)
	}
	return printed, nil
}
