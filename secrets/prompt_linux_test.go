package secrets

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"
)

// withFake runs f on a fake service that holds the secrets N0 … N49 and is
// locked.
func withFake(ctx context.Context, dir string, waiting func(bool), f func(*fakeService, *Keyring) error) error {
	s, err := startFakeService(ctx)
	if err != nil {
		return err
	}
	defer s.conn.Close()
	k := OpenKeyring(dir, waiting)
	defer k.Close()
	for i := range 50 {
		if err := k.Set(ctx, fmt.Sprintf("N%d", i), fmt.Sprintf("value %d", i)); err != nil {
			return err
		}
	}
	s.set(func() { s.locked = true })
	return f(s, k)
}

// readFifty reads N0 … N49 at once.
func readFifty(ctx context.Context, k *Keyring) []error {
	errs := make([]error, 50)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			got, err := k.Get(ctx, fmt.Sprintf("N%d", i))
			if want := fmt.Sprintf("value %d", i); err == nil && got != want {
				err = fmt.Errorf("got %q, want %q", got, want)
			}
			errs[i] = err
		})
	}
	wg.Wait()
	return errs
}

// K2: N servers starting cause one unlock prompt.
func onePrompt(ctx context.Context, dir string) error {
	var said strings.Builder
	waiting := func(open bool) { fmt.Fprint(&said, open, " ") }
	return withFake(ctx, dir, waiting, func(s *fakeService, k *Keyring) error {
		s.person(func(prompt dbus.ObjectPath) {
			time.Sleep(300 * time.Millisecond) // a quick one
			s.complete(prompt, false)
		})
		if err := errors.Join(readFifty(ctx, k)...); err != nil {
			return err
		}
		if n := s.promptCount(); n != 1 {
			return fmt.Errorf("%d prompts", n)
		}
		if said.String() != "true false " {
			return fmt.Errorf("waiting was said as %q", said.String())
		}
		return nil
	})
}

func dismissedPrompt(ctx context.Context, dir string) error {
	return withFake(ctx, dir, nil, func(s *fakeService, k *Keyring) error {
		s.person(func(prompt dbus.ObjectPath) {
			time.Sleep(300 * time.Millisecond)
			s.complete(prompt, true)
		})
		for i, err := range readFifty(ctx, k) {
			if !errors.Is(err, ErrLocked) {
				return fmt.Errorf("N%d: %v", i, err)
			}
		}
		if n := s.promptCount(); n != 1 {
			return fmt.Errorf("%d prompts", n)
		}
		s.person(func(prompt dbus.ObjectPath) { s.complete(prompt, false) })
		if err := k.Unlock(ctx); err != nil {
			return fmt.Errorf("unlock: %w", err)
		}
		return errors.Join(readFifty(ctx, k)...)
	})
}

func withdrawnPrompt(ctx context.Context, dir string) error {
	return withFake(ctx, dir, nil, func(s *fakeService, k *Keyring) error {
		shown := make(chan struct{})
		s.person(func(dbus.ObjectPath) { close(shown) })
		read := make(chan error)
		go func() { read <- second(k.Get(ctx, "N0")) }()
		<-shown
		_ = k.Close()
		if err := <-read; !errors.Is(err, ErrUnavailable) {
			return fmt.Errorf("get: %v", err)
		}
		select {
		case <-s.withdrawn:
			return nil
		case <-ctx.Done():
			return errors.New("the prompt was left open")
		}
	})
}

func serviceEnds(ctx context.Context, dir string) error {
	return withFake(ctx, dir, nil, func(s *fakeService, k *Keyring) error {
		s.person(func(dbus.ObjectPath) { _ = s.conn.Close() })
		start := time.Now()
		if err := second(k.Get(ctx, "N0")); !errors.Is(err, ErrUnavailable) {
			return fmt.Errorf("get: %v", err)
		}
		if took := time.Since(start); took > 60*time.Second {
			return fmt.Errorf("took %v", took)
		}
		return nil
	})
}

// KeePassXC asks per item, while the service goes on answering others.
func itemAsks(ctx context.Context, dir string) error {
	return withFake(ctx, dir, nil, func(s *fakeService, k *Keyring) error {
		s.set(func() {
			s.locked = false
			s.onSecret = func() { time.Sleep(callPatience + time.Second) }
		})
		got, err := k.Get(ctx, "N0")
		if err != nil || got != "value 0" {
			return fmt.Errorf("get: %q, %v", got, err)
		}
		return nil
	})
}
