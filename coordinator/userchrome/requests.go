package userchrome

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Response is the answer to an editor's request. Error is its only member if it is set.
type Response struct {
	Tabs  []Tab  `json:"tabs,omitempty"`
	Error string `json:"error,omitempty"`
}

// Respond carries out a request of an editor: "tabs", "hand-over ID", or "take-back ID".
// ID is that of a tab in an earlier response: a tab without one cannot be named.
func (b Browser) Respond(ctx context.Context, request string) Response {
	folders := b.usual()
	connection, err := Connection(ctx, b.Name(), func(s Shared) bool { return slices.Contains(folders, s.Profile) })
	if err != nil {
		return Response{Error: err.Error()}
	}
	var r Response
	verb, id, _ := strings.Cut(request, " ")
	switch verb {
	case "tabs":
		r.Tabs, err = connection.Tabs(ctx)
	case "hand-over":
		err = connection.HandOver(ctx, id)
	case "take-back":
		err = connection.TakeBack(ctx, id)
	default:
		err = fmt.Errorf("no request %q: want tabs, hand-over ID, or take-back ID", verb)
	}
	if err != nil {
		return Response{Error: err.Error()}
	}
	return r
}
