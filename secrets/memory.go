package secrets

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// Memory is a Store that forgets everything when the process ends. The zero
// value is ready to use.
type Memory struct {
	mu     sync.Mutex
	values map[string]string
}

var _ Store = (*Memory)(nil)

// Get implements Store.
func (m *Memory) Get(ctx context.Context, name string) (string, error) {
	if err := check(ctx, opGet, name); err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok := m.values[name]
	if !ok {
		return "", notFound(opGet, name)
	}
	return value, nil
}

// Set implements Store.
func (m *Memory) Set(ctx context.Context, name, value string) error {
	if err := check(ctx, opSet, name); err != nil {
		return err
	}
	if err := checkValue(name, value); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.values == nil {
		m.values = make(map[string]string)
	}
	m.values[name] = value
	return nil
}

// Delete implements Store.
func (m *Memory) Delete(ctx context.Context, name string) error {
	if err := check(ctx, opDelete, name); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.values[name]; !ok {
		return notFound(opDelete, name)
	}
	delete(m.values, name)
	return nil
}

// List implements Store.
func (m *Memory) List(ctx context.Context) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.values)), nil
}

// check refuses a call that need not be made.
func check(ctx context.Context, op, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return checkName(op, name)
}
