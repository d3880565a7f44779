package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// Feature is something a server can declare.
type Feature int

// The features.
const (
	Tools Feature = iota
	Resources
	Prompts
	Completions
	Logging
	features
)

// Registry holds what a server offers. Definitions are kept and listed as the
// bytes they were given as (house rule "raw JSON travels as bytes"), in the order
// they were added; adding a name again replaces the entry in its place. Changes
// are announced to every server that serves the registry. Safe for concurrent use.
type Registry struct {
	mu        sync.RWMutex
	declared  [features]bool
	tools     table[*Tool]
	resources table[*Resource]
	templates table[*Template]
	prompts   table[*Prompt]
	watchers  map[*watcher]struct{}
	unlisted  Handler // of resources; nil for none
}

type watcher struct {
	listChanged func(Feature)
	updated     func(uri string)
}

// ErrDefinition says that a definition cannot be registered.
var ErrDefinition = errors.New("the definition cannot be registered")

// NewRegistry returns an empty registry.
func NewRegistry() *Registry { return &Registry{watchers: map[*watcher]struct{}{}} }

// Declare declares features although nothing is registered for them yet. Without
// it a feature is declared from its first entry on, and its methods are unknown
// until then (field case 48: only what is declared is asked for).
func (r *Registry) Declare(fs ...Feature) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range fs {
		r.declared[f] = true
	}
}

// Declares reports whether the feature is declared.
func (r *Registry) Declares(f Feature) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.declared[f]
}

// AddTool registers a tool. The error is [ErrDefinition].
func (r *Registry) AddTool(t Tool) error {
	if err := t.prepare(); err != nil {
		return fmt.Errorf("tool: %w: %w", ErrDefinition, err)
	}
	r.change(Tools, func() bool { return r.tools.put(t.name, &t) })
	return nil
}

// RemoveTool removes a tool; false when there was none.
func (r *Registry) RemoveTool(name string) bool {
	return r.change(Tools, func() bool { return r.tools.remove(name) })
}

// AddResource registers a resource with a fixed URI. The error is [ErrDefinition].
func (r *Registry) AddResource(x Resource) error {
	if err := member(x.Definition, "uri", &x.uri); err != nil || x.Handle == nil {
		return fmt.Errorf("resource: %w: it needs a uri and a handler", ErrDefinition)
	}
	r.change(Resources, func() bool { return r.resources.put(x.uri, &x) })
	return nil
}

// ServeUnlisted has h answer resources/read for URIs that no resource and no
// template serves.
func (r *Registry) ServeUnlisted(h Handler) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unlisted = h
}

// RemoveResource removes a resource; false when there was none.
func (r *Registry) RemoveResource(uri string) bool {
	return r.change(Resources, func() bool { return r.resources.remove(uri) })
}

// AddTemplate registers a resource template. The error is [ErrDefinition].
func (r *Registry) AddTemplate(t Template) error {
	if err := t.prepare(); err != nil {
		return fmt.Errorf("resource template: %w: %w", ErrDefinition, err)
	}
	r.change(Resources, func() bool { return r.templates.put(t.uri, &t) })
	if t.Complete != nil {
		r.Declare(Completions)
	}
	return nil
}

// RemoveTemplate removes a template; false when there was none.
func (r *Registry) RemoveTemplate(uriTemplate string) bool {
	return r.change(Resources, func() bool { return r.templates.remove(uriTemplate) })
}

// AddPrompt registers a prompt. The error is [ErrDefinition].
func (r *Registry) AddPrompt(p Prompt) error {
	if err := member(p.Definition, "name", &p.name); err != nil || p.Handle == nil {
		return fmt.Errorf("prompt: %w: it needs a name and a handler", ErrDefinition)
	}
	r.change(Prompts, func() bool { return r.prompts.put(p.name, &p) })
	if p.Complete != nil {
		r.Declare(Completions)
	}
	return nil
}

// RemovePrompt removes a prompt; false when there was none.
func (r *Registry) RemovePrompt(name string) bool {
	return r.change(Prompts, func() bool { return r.prompts.remove(name) })
}

// ResourceUpdated tells the clients that watch uri that its content changed.
func (r *Registry) ResourceUpdated(uri string) {
	for _, w := range r.watching() {
		w.updated(uri)
	}
}

// change makes one change under the lock and announces it after.
func (r *Registry) change(f Feature, do func() bool) bool {
	r.mu.Lock()
	changed := do()
	if changed {
		r.declared[f] = true
	}
	r.mu.Unlock()
	if changed {
		for _, w := range r.watching() {
			w.listChanged(f)
		}
	}
	return changed
}

func (r *Registry) watching() []*watcher {
	r.mu.RLock()
	defer r.mu.RUnlock()
	ws := make([]*watcher, 0, len(r.watchers))
	for w := range r.watchers {
		ws = append(ws, w)
	}
	return ws
}

func (r *Registry) watch(w *watcher) (stop func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watchers[w] = struct{}{}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.watchers, w)
	}
}

func (r *Registry) tool(name string) (*Tool, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.tools.get(name)
}

func (r *Registry) prompt(name string) (*Prompt, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.prompts.get(name)
}

func (r *Registry) template(uriTemplate string) (*Template, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.templates.get(uriTemplate)
}

// resource finds what serves a URI: a resource of that name, else the first
// template that matches, with its variables.
func (r *Registry) resource(uri string) (Handler, map[string]string, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if x, ok := r.resources.get(uri); ok {
		return x.Handle, nil, true
	}
	for _, e := range r.templates.order {
		if vars, ok := e.value.match(uri); ok {
			return e.value.Handle, vars, true
		}
	}
	return r.unlisted, nil, r.unlisted != nil
}

// member reads a non-empty string member of a definition.
func member(def json.RawMessage, name string, into *string) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(def, &fields); err != nil {
		return errors.New("it is no JSON object")
	}
	if json.Unmarshal(fields[name], into) != nil || *into == "" {
		return fmt.Errorf("it has no %s", name)
	}
	return nil
}
