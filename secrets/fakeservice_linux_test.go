package secrets

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/godbus/dbus/v5"
)

// A fakeService is a Secret Service on the bus whose person is the test.
type fakeService struct {
	conn *dbus.Conn

	mu        sync.Mutex
	locked    bool
	prompts   int
	withdrawn chan struct{} // closed when a prompt is dismissed by its caller
	items     map[dbus.ObjectPath]fakeItem
	created   int
	onPrompt  func(prompt dbus.ObjectPath)
	// onSecret runs inside every read of a secret.
	onSecret func()
}

type fakeItem struct {
	attributes map[string]string
	secret     fakeSecret
}

type fakeSecret struct {
	Session     dbus.ObjectPath
	Parameters  []byte
	Value       []byte
	ContentType string
}

const promptPath = secretPath + "/prompt/p1"

func startFakeService(ctx context.Context) (*fakeService, error) {
	conn, err := dialBus(ctx)
	if err != nil {
		return nil, err
	}
	s := &fakeService{conn: conn, withdrawn: make(chan struct{}), items: map[dbus.ObjectPath]fakeItem{}}
	err = errors.Join(
		conn.Export(fakeProperties{s}, secretPath, "org.freedesktop.DBus.Properties"),
		conn.Export(fakeRoot{s}, secretPath, secretInterface),
		conn.Export(fakeProperties{s}, loginCollection, "org.freedesktop.DBus.Properties"),
		conn.Export(fakeCollection{s}, loginCollection, collectionIface),
		conn.Export(fakeSession{}, secretPath+"/session/s1", "org.freedesktop.Secret.Session"),
		conn.Export(fakePrompt{s}, promptPath, promptInterface),
	)
	if err != nil {
		return nil, err
	}
	reply, err := conn.RequestName(secretService, dbus.NameFlagDoNotQueue)
	if err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		return nil, fmt.Errorf("own %s: %v, %w", secretService, reply, err)
	}
	return s, nil
}

// complete ends a prompt, unlocking or not.
func (s *fakeService) complete(prompt dbus.ObjectPath, dismissed bool) {
	s.mu.Lock()
	s.locked = dismissed
	s.mu.Unlock()
	// Signals that are no answer, and must not be taken for one.
	_ = s.conn.Emit(prompt, "org.freedesktop.DBus.Properties.PropertiesChanged", "x")
	_ = s.conn.Emit(promptPath+"0", promptInterface+".Completed", !dismissed, dbus.MakeVariant([]dbus.ObjectPath{}))
	unlocked := []dbus.ObjectPath{loginCollection}
	if dismissed {
		unlocked = []dbus.ObjectPath{}
	}
	_ = s.conn.Emit(prompt, promptInterface+".Completed", dismissed, dbus.MakeVariant(unlocked))
}

func (s *fakeService) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// person decides what happens to the prompts that are shown.
func (s *fakeService) person(does func(prompt dbus.ObjectPath)) {
	s.set(func() { s.onPrompt = does })
}

func (s *fakeService) promptCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.prompts
}

type fakeProperties struct{ *fakeService }

func (s fakeProperties) Get(_, property string) (dbus.Variant, *dbus.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch property {
	case "Collections":
		return dbus.MakeVariant([]dbus.ObjectPath{loginCollection}), nil
	case "Locked":
		return dbus.MakeVariant(s.locked), nil
	}
	return dbus.Variant{}, dbus.MakeFailedError(errors.New("no such property"))
}

type fakeRoot struct{ *fakeService }

func (fakeRoot) OpenSession(string, dbus.Variant) (dbus.Variant, dbus.ObjectPath, *dbus.Error) {
	return dbus.MakeVariant(""), secretPath + "/session/s1", nil
}

func (s fakeRoot) Unlock(paths []dbus.ObjectPath) ([]dbus.ObjectPath, dbus.ObjectPath, *dbus.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.locked {
		return []dbus.ObjectPath{}, promptPath, nil
	}
	return paths, noPath, nil
}

type fakePrompt struct{ *fakeService }

func (s fakePrompt) Prompt(string) *dbus.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prompts++
	if s.onPrompt != nil {
		go s.onPrompt(promptPath)
	}
	return nil
}

func (s fakePrompt) Dismiss() *dbus.Error {
	close(s.withdrawn)
	return nil
}

type fakeCollection struct{ *fakeService }

func (s fakeCollection) CreateItem(properties map[string]dbus.Variant, secret fakeSecret, _ bool) (dbus.ObjectPath, dbus.ObjectPath, *dbus.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	attributes, _ := properties["org.freedesktop.Secret.Item.Attributes"].Value().(map[string]string)
	s.created++
	path := dbus.ObjectPath(fmt.Sprintf("%s/%d", loginCollection, s.created))
	s.items[path] = fakeItem{attributes, secret}
	if err := s.conn.Export(fakeItemMethods{s.fakeService, path}, path, "org.freedesktop.Secret.Item"); err != nil {
		return "", "", dbus.MakeFailedError(err)
	}
	return path, noPath, nil
}

func (s fakeCollection) SearchItems(attributes map[string]string) ([]dbus.ObjectPath, *dbus.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []dbus.ObjectPath{}
	for path, item := range s.items {
		if maps.Equal(item.attributes, attributes) {
			found = append(found, path)
		}
	}
	return found, nil
}

type fakeItemMethods struct {
	*fakeService
	path dbus.ObjectPath
}

func (i fakeItemMethods) GetSecret(dbus.ObjectPath) (fakeSecret, *dbus.Error) {
	i.mu.Lock()
	secret, during := i.items[i.path].secret, i.onSecret
	i.mu.Unlock()
	if during != nil {
		during()
	}
	return secret, nil
}

func (i fakeItemMethods) Delete() (dbus.ObjectPath, *dbus.Error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.items, i.path)
	return noPath, nil
}

type fakeSession struct{}

func (fakeSession) Close() *dbus.Error { return nil }
