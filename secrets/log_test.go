package secrets

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/slogtest"
	"time"
)

type stringer struct{ s string }

func (s stringer) String() string { return s.s }

type valuer struct{ s string }

func (v valuer) LogValue() slog.Value { return slog.GroupValue(slog.String("inner", v.s)) }

// K4, case 83: no attribute of any type carries a value into a log.
func TestLogMasksEveryKindOfAttribute(t *testing.T) {
	const value = "ghp_S3CRET"
	attrs := map[string]slog.Attr{
		"string":            slog.String("k", "x "+value),
		"key":               slog.String(value, "x"),
		"error":             slog.Any("k", fmt.Errorf("wrapped: %w", errors.New(value))),
		"stringer":          slog.Any("k", stringer{value}),
		"valuer":            slog.Any("k", valuer{value}),
		"bytes":             slog.Any("k", []byte(value)),
		"raw json":          slog.Any("k", json.RawMessage(`"`+value+`"`)),
		"struct":            slog.Any("k", struct{ Token string }{value}),
		"bytes in a struct": slog.Any("k", struct{ Body []byte }{[]byte(value)}),
		"pointer":           slog.Any("k", &struct{ Token string }{value}),
		"map":               slog.Any("k", map[string]string{"token": value}),
		"slice":             slog.Any("k", []string{"a", value}),
		"group":             slog.Group("g", slog.Group("h", slog.String("k", value))),
		"group name":        slog.Group(value, slog.String("k", "v")),
		"number":            slog.Int64("k", 1234567890),
		"unsigned":          slog.Uint64("k", 1234567890),
	}
	for name, attr := range attrs {
		for format, open := range map[string]func(*bytes.Buffer) slog.Handler{
			"text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
			"json": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
		} {
			var m Masker
			m.Add(value, "1234567890")
			var out bytes.Buffer
			l := slog.New(m.Handler(open(&out)))
			l.LogAttrs(t.Context(), slog.LevelInfo, "message", attr)
			l.With(attr).Info("message")
			l.WithGroup("group").With(attr).WithGroup(value).Info("message "+value, "k", "v")
			got := out.String()
			if strings.Contains(got, value) || strings.Contains(got, "1234567890") {
				t.Errorf("%s, %s: %s", name, format, got)
			}
			if strings.Count(got, Mask) < 5 {
				t.Errorf("%s, %s lost attributes: %s", name, format, got)
			}
		}
	}
}

func TestLogMasksWhatWasAttachedBeforeTheValueWasKnown(t *testing.T) {
	var m Masker
	var out bytes.Buffer
	l := slog.New(m.Handler(slog.NewTextHandler(&out, nil))).With("env", "TOKEN=ghp_S3CRET")
	m.Add("ghp_S3CRET")
	l.Info("start")
	if got := out.String(); strings.Contains(got, "S3CRET") || !strings.Contains(got, "TOKEN="+Mask) {
		t.Error(got)
	}
}

func TestLogKeepsWhatIsNoSecret(t *testing.T) {
	var m Masker
	m.Add("ghp_S3CRET")
	var out bytes.Buffer
	l := slog.New(m.Handler(slog.NewJSONHandler(&out, &slog.HandlerOptions{AddSource: true})))
	l.Info("message", "n", 7, "b", true, "d", time.Second, "f", 1.5, "s", "text")
	var got map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{"n": 7.0, "b": true, "d": 1e9, "f": 1.5, "s": "text", "msg": "message"} {
		if got[key] != want {
			t.Errorf("%s = %v, want %v", key, got[key], want)
		}
	}
	if source, _ := got["source"].(map[string]any); !strings.HasSuffix(fmt.Sprint(source["file"]), "log_test.go") {
		t.Errorf("source = %v", got["source"])
	}
	if l.Enabled(context.Background(), slog.LevelDebug) {
		t.Error("the level of the handler below is not asked")
	}
}

// The handler keeps the contract of slog.Handler.
func TestLogHandlerContract(t *testing.T) {
	var m Masker
	m.Add("ghp_S3CRET")
	var out bytes.Buffer
	slogtest.Run(t, func(*testing.T) slog.Handler {
		out.Reset()
		return m.Handler(slog.NewJSONHandler(&out, nil))
	}, func(t *testing.T) map[string]any {
		var got map[string]any
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		return got
	})
}
