package emulation

import (
	"context"
	"errors"
	"slices"

	"github.com/chromedp/cdproto/browser"
	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/page/address"
)

// The permission to read the location is that of an origin in the whole browser context: pages of other
// agents share it. It ends with the last of those who gave it, and with the connection of any client
// that has set a permission in that context.

// permissionState is the state of the permission in the page's document.
const permissionState = `navigator.permissions.query({name: "geolocation"}).then((status) => status.state)`

// allowLocation gives the page's origin the permission to read the location, without a prompt.
func (e *Emulation) allowLocation(ctx context.Context) error {
	origin := address.Origin(e.opts.Frames.PageURL())
	if origin == "" {
		return errors.New("geolocation: open the page first, since the permission is given to its origin")
	}
	permission, err := e.permissionOf(ctx, origin)
	if err != nil {
		return err
	}
	if err := e.opts.Owner.Set(permission.key(), "permission", "uses it"); err != nil {
		return err
	}
	e.mu.Lock()
	if !slices.Contains(e.located, permission) {
		e.located = append(e.located, permission)
	}
	e.mu.Unlock()
	_, err = e.restoreLocation(ctx)
	return err
}

// restoreLocation gives the permission to the page's origin, if it was given and is not in force, and
// reports whether it did. One that is in force is not given again: it would end with this connection.
func (e *Emulation) restoreLocation(ctx context.Context) (restored bool, err error) {
	origin := address.Origin(e.opts.Frames.PageURL())
	e.mu.Lock()
	i := slices.IndexFunc(e.located, func(p permission) bool { return p.origin == origin })
	var given permission
	if i >= 0 {
		given = e.located[i]
	}
	e.mu.Unlock()
	if i < 0 || e.mayReadLocation(ctx) {
		return false, nil
	}
	err = e.setPermission(ctx, given, browser.PermissionSettingGranted)
	return err == nil && e.mayReadLocation(ctx), err
}

// mayReadLocation reports whether the page's document has the permission. A page without a secure origin
// never has.
func (e *Emulation) mayReadLocation(ctx context.Context) bool {
	var state string
	err := e.opts.Frames.Evaluate(ctx, permissionState, &state)
	return err == nil && state == "granted"
}

// returnLocation ends the permission of an origin, unless another agent uses it.
func (e *Emulation) returnLocation(ctx context.Context, permission permission) error {
	owner := e.opts.Owner
	if err := owner.Set(permission.key(), "permission", ""); err != nil || len(owner.Others(permission.key())) > 0 {
		return err
	}
	err := e.setPermission(ctx, permission, browser.PermissionSettingPrompt)
	if err == nil && len(owner.Others(permission.key())) > 0 { // another has just begun to use it
		err = e.setPermission(ctx, permission, browser.PermissionSettingGranted)
	}
	return err
}

// Ended notes that the page has closed, or the connection to it.
func (e *Emulation) Ended() {
	e.mu.Lock()
	located := e.located
	e.located = nil
	e.mu.Unlock()
	e.opts.Owner.Forget(e.ID())
	for _, permission := range located {
		e.opts.Owner.Forget(permission.key())
	}
}

// permission is the permission of an origin in a browser context.
type permission struct{ context, origin string }

// key is what the owners of the permission have in common.
func (p permission) key() string { return "geolocation " + p.context + " " + p.origin }

func (e *Emulation) permissionOf(ctx context.Context, origin string) (permission, error) {
	r, err := protocol.Call(ctx, e.opts.Conn, target.GetTargetInfo, target.GetTargetInfoParams{TargetID: e.opts.ID})
	if err != nil {
		return permission{}, err
	}
	return permission{string(r.TargetInfo.BrowserContextID), origin}, nil
}

func (e *Emulation) setPermission(ctx context.Context, p permission, setting browser.PermissionSetting) error {
	return e.opts.Conn.Call(ctx, browser.CommandSetPermission, map[string]any{
		"permission": map[string]string{"name": "geolocation"}, "setting": setting, "origin": p.origin,
		"browserContextId": p.context,
	}, nil)
}

// PermissionReplaced gives the page's origin the permission to read the location again, if another client has
// ended it, and returns a sentence for the agent then; else it is empty.
func (e *Emulation) PermissionReplaced(ctx context.Context) string {
	if restored, err := e.restoreLocation(ctx); err != nil || !restored {
		return ""
	}
	return "Another client of this browser had ended the permission to read the location; it is given again."
}
