package show

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

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
	all := userchrome.Connections(ctx)
	at := slices.IndexFunc(all, func(s userchrome.Shared) bool { return s.Profile == profile })
	if at < 0 {
		return nil, errors.New("no program is connected to your own browser any longer")
	}
	var err error
	switch command {
	case "tab.list":
	case "tab.handOver":
		err = all[at].HandOver(ctx, tab)
	case "tab.takeBack":
		err = all[at].TakeBack(ctx, tab)
	default:
		err = errors.New("no such command")
	}
	if err != nil {
		return nil, err
	}
	return all[at].Tabs(ctx)
}
