package registry

import (
	"context"
	"regexp"
	"strings"

	"browser-coordinator/vscodeipc"
)

// Client is one that uses a window's browser, as the window reports it.
type Client struct {
	vscodeipc.ConnectedClient
	// Last is what it did last; nil: nothing that the window knows. It contains nothing that
	// was typed.
	Last *vscodeipc.Activity
}

// Clients asks a window who uses its browser, the newest first.
func (r *Registry) Clients(ctx context.Context, window Window) ([]Client, error) {
	var result vscodeipc.ListResult
	if err := r.Call(ctx, window, vscodeipc.CommandClientList, struct{}{}, &result); err != nil {
		return nil, err
	}
	last := map[string]vscodeipc.Activity{}
	for _, each := range result.Last {
		last[each.Client] = each
	}
	clients := []Client{}
	for _, client := range result.Clients {
		for i := range client.Running {
			client.Running[i].Script = "" // which may have what was typed
		}
		c := Client{ConnectedClient: client}
		if action, ok := last[client.ID]; ok {
			action = Public(action, client.Kind)
			c.Last = &action
		}
		clients = append(clients, c)
	}
	return clients, nil
}

// Describe is an activity for people: what was done, and why it failed.
func Describe(a vscodeipc.Activity) string {
	text := strings.TrimSpace(a.Act + " " + a.Target)
	if !a.OK {
		text += ": " + a.Outcome
	}
	return text
}

// What a URL may hold that is not for everyone's eyes: a password, all after the path, and
// a whole document.
var (
	credentials = regexp.MustCompile(`(\w://)[^\s/@]*@`)
	document    = regexp.MustCompile(`\b(data|javascript):\S.*`)
	query       = regexp.MustCompile(`(\w://[^\s?#]*)[?#]\S*`)
)

// Public returns an activity without what may have been typed. The window's user sees it
// whole; a status may be copied to others. kind is that of the client.
func Public(a vscodeipc.Activity, kind string) vscodeipc.Activity {
	a.Details = nil
	if kind == "cdp" {
		a.Target = "" // of a script that is its code
	}
	for _, text := range []*string{&a.Target, &a.Outcome, &a.URL} {
		*text = document.ReplaceAllString(*text, "$1:…")
		*text = query.ReplaceAllString(credentials.ReplaceAllString(*text, "$1"), "$1")
	}
	return a
}

// Questions returns what a window's user is asked; ok is false if the window does not respond, or does
// not list it.
func (r *Registry) Questions(ctx context.Context, window Window) (questions []vscodeipc.PendingQuestion, ok bool) {
	var result vscodeipc.QuestionsResult
	if err := r.Call(ctx, window, vscodeipc.CommandPermissionList, struct{}{}, &result); err != nil {
		r.log.Debug("the questions of a window are not known", "error", err)
		return []vscodeipc.PendingQuestion{}, false
	}
	return append([]vscodeipc.PendingQuestion{}, result.Questions...), true
}
