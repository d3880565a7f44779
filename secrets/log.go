package secrets

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
)

// Handler returns a slog.Handler that passes records on to next with every
// value that m knows replaced: in the message, and in the keys and values of
// all attributes, whatever their type (K4).
//
// What was attached with Logger.With is masked when a record is handled, so a
// value that becomes known later is masked there, too.
func (m *Masker) Handler(next slog.Handler) slog.Handler {
	return &handler{masker: m, next: next}
}

type handler struct {
	masker *Masker
	next   slog.Handler
	scopes []scope
}

// A scope is one call of WithGroup (name) or WithAttrs (attrs).
type scope struct {
	name  string
	attrs []slog.Attr
}

func (h *handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	if len(attrs) == 0 {
		return h
	}
	return h.with(scope{attrs: attrs})
}

func (h *handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return h.with(scope{name: name})
}

func (h *handler) with(s scope) slog.Handler {
	return &handler{h.masker, h.next, append(slices.Clip(h.scopes), s)}
}

func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	attrs := make([]slog.Attr, 0, r.NumAttrs())
	r.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, h.attr(a))
		return true
	})
	for _, s := range slices.Backward(h.scopes) {
		switch {
		case s.name == "":
			attrs = append(h.attrs(s.attrs), attrs...)
		case len(attrs) > 0:
			attrs = []slog.Attr{{Key: h.masker.Mask(s.name), Value: slog.GroupValue(attrs...)}}
		}
	}
	masked := slog.NewRecord(r.Time, r.Level, h.masker.Mask(r.Message), r.PC)
	masked.AddAttrs(attrs...)
	return h.next.Handle(ctx, masked)
}

func (h *handler) attrs(attrs []slog.Attr) []slog.Attr {
	masked := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		masked[i] = h.attr(a)
	}
	return masked
}

func (h *handler) attr(a slog.Attr) slog.Attr {
	if a.Key == "" && a.Value.Kind() == slog.KindAny && a.Value.Any() == nil {
		return a // handlers leave it out
	}
	return slog.Attr{Key: h.masker.Mask(a.Key), Value: h.value(a.Value.Resolve())}
}

func (h *handler) value(v slog.Value) slog.Value {
	switch v.Kind() {
	case slog.KindGroup:
		return slog.GroupValue(h.attrs(v.Group())...)
	case slog.KindBool, slog.KindDuration, slog.KindTime:
		return v
	case slog.KindAny:
		if v.Any() == nil {
			return v
		}
		// Handlers print values in ways of their own, so none is passed
		// on: a field, or what a method returns, could be a secret.
		return slog.StringValue(h.masker.Mask(text(v.Any())))
	}
	plain := v.String()
	if masked := h.masker.Mask(plain); masked != plain {
		return slog.StringValue(masked)
	}
	return v
}

func text(v any) string {
	switch v.(type) {
	case error, fmt.Stringer, fmt.Formatter:
		return fmt.Sprintf("%+v", v)
	}
	if r := reflect.ValueOf(v); r.Kind() == reflect.Slice && r.Type().Elem().Kind() == reflect.Uint8 {
		return string(r.Bytes())
	}
	return fmt.Sprintf("%+v", v)
}
