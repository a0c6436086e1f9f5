package show

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"browser-coordinator/coordinator/userchrome"
)

// tabs lists the tabs in one of the user's own browsers, hands one over or takes it back. The
// response is the list after that.
func (s *Server) tabs(w http.ResponseWriter, r *http.Request, command string, arg json.RawMessage) {
	var of struct {
		Own string `json:"own"` // the profile folder
		Tab string `json:"tab"`
	}
	err := json.Unmarshal(arg, &of)
	var list []userchrome.Tab
	if err == nil {
		list, err = changeTabs(r.Context(), command, of.Own, of.Tab)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_ = json.NewEncoder(w).Encode(list) // the page may be gone
}

func changeTabs(ctx context.Context, command, profile, tab string) ([]userchrome.Tab, error) {
	own, err := userchrome.Connection(ctx, "your own browser", func(s userchrome.Shared) bool {
		return s.Profile == profile
	})
	if err != nil {
		return nil, err
	}
	switch command {
	case "tab.list":
	case "tab.handOver":
		err = own.HandOver(ctx, tab)
	case "tab.takeBack":
		err = own.TakeBack(ctx, tab)
	default:
		err = errors.New("no such command")
	}
	if err != nil {
		return nil, err
	}
	return own.Tabs(ctx)
}
