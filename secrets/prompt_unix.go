//go:build unix && !darwin

package secrets

import (
	"context"

	"github.com/godbus/dbus/v5"
)

// showPrompt shows a prompt of the Secret Service and returns when the person
// has answered, the service is gone, or ctx ends; then it withdraws the prompt.
func showPrompt(ctx context.Context, conn *dbus.Conn, prompt dbus.ObjectPath) (dismissed bool, err error) {
	signals := make(chan *dbus.Signal, 16)
	conn.Signal(signals)
	defer conn.RemoveSignal(signals)
	err = conn.AddMatchSignalContext(ctx,
		dbus.WithMatchObjectPath(prompt), dbus.WithMatchInterface(promptInterface))
	if err == nil {
		err = conn.AddMatchSignalContext(ctx,
			dbus.WithMatchInterface("org.freedesktop.DBus"),
			dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, secretService))
	}
	if err != nil {
		return false, classifyOr(ctx, err)
	}
	object := conn.Object(secretService, prompt)
	defer func() {
		if ctx.Err() != nil {
			// Whoever asked is no longer waiting: a prompt left on the
			// screen would answer nobody.
			object.Go(promptInterface+".Dismiss", dbus.FlagNoReplyExpected, nil)
		}
	}()
	if err := object.CallWithContext(ctx, promptInterface+".Prompt", 0, "").Err; err != nil {
		return false, classifyOr(ctx, err)
	}
	for {
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case s, ok := <-signals:
			switch {
			case !ok:
				return false, noBus(dbus.ErrClosed)
			case s.Name == nameOwnerChanged && ownerGone(s.Body):
				return false, noService(nil)
			case s.Name == promptInterface+".Completed" && s.Path == prompt && len(s.Body) > 0:
				dismissed, _ := s.Body[0].(bool)
				return dismissed, nil
			}
		}
	}
}

// ownerGone reads the arguments of NameOwnerChanged: name, old owner, new
// owner.
func ownerGone(body []any) bool {
	if len(body) != 3 {
		return false
	}
	name, _ := body[0].(string)
	owner, ok := body[2].(string)
	return ok && name == secretService && owner == ""
}
