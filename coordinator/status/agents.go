package status

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/internal/statedir"
	"browser-coordinator/internal/usersocket"
	"browser-coordinator/vscodeipc"
)

// Agent is an MCP session that no window lists. The program that serves it reports it, by a
// socket of its own in the folder for state.
type Agent struct {
	Client
	PID       int      `json:"pid"` // of the coordinator that serves the session
	Workspace string   `json:"workspace"`
	Browser   *Browser `json:"browser"` // nil: none yet
	// Waiting is what it waits for, for people; empty: for nothing that takes long.
	Waiting string `json:"waiting,omitempty"`
	// Access is the mode in its own browser; empty: the user cannot choose it.
	Access string `json:"access,omitempty"`
	// TakenOver: the user has taken over that browser.
	TakenOver bool `json:"takenOver,omitempty"`
	// Asks is what waits for that browser's user, for people.
	Asks []string `json:"asks,omitempty"`

	socket string
}

// The paths that each of these sockets responds to.
const (
	agentsPath = "/agents"
	callPath   = "/call"
)

// Call runs a command of a window (access.change, for example) for the user of the browser of an
// agent without a window, and stores its result in result.
func (a Agent) Call(ctx context.Context, command string, arg json.RawMessage, result any) error {
	var called called
	form := url.Values{"agent": {a.ID}, "command": {command}, "arg": {string(arg)}}
	if err := usersocket.Post(ctx, a.socket, callPath, form, &called); err != nil {
		return err
	}
	if called.Error != "" {
		return errors.New(called.Error)
	}
	return json.Unmarshal(called.Result, result)
}

// called is the response to a call.
type called struct {
	Result json.RawMessage `json:"result"`
	Error  string          `json:"error"`
}

// respond runs a call for one of the agents.
func respond(r *http.Request, agents []agent.Unlisted) (out called) {
	at := slices.IndexFunc(agents, func(a agent.Unlisted) bool { return a.Client.ID == r.PostFormValue("agent") })
	if at < 0 {
		return called{Error: "the agent has left its own browser"}
	}
	result, err := agents[at].User.Call(r.Context(), r.PostFormValue("command"), json.RawMessage(r.PostFormValue("arg")))
	if err == nil {
		out.Result, err = json.Marshal(result)
	}
	if fault, ok := errors.AsType[*vscodeipc.Error](err); ok {
		out.Error = fault.Message
	} else if err != nil {
		out.Error = err.Error()
	}
	return out
}

// ServeAgents reports the agents of this program that no window lists, until stop is
// called. Without a folder for state they are not reported.
func ServeAgents(log *slog.Logger, unlisted func(context.Context) []agent.Unlisted) (stop func()) {
	dir, err := statedir.Make()
	if err != nil {
		log.Debug("agents are not reported", "error", err)
		return func() {}
	}
	// The name is never used again, so a dead socket can be deleted without a lock.
	ln, err := usersocket.Listen(filepath.Join(dir, "agent-"+rand.Text()[:12]+".sock"))
	if err != nil {
		log.Debug("agents are not reported", "error", err)
		return func() {}
	}
	mux := http.NewServeMux()
	mux.HandleFunc(agentsPath, func(w http.ResponseWriter, r *http.Request) {
		all := []Agent{}
		for _, a := range unlisted(r.Context()) {
			takeover, _ := a.User.Takeover()
			each := Agent{Client: clientOf(a.Client), PID: os.Getpid(), Workspace: a.Folder, Waiting: a.Waiting,
				Access: string(a.Access.Mode), TakenOver: takeover.Now}
			each.Stopped = a.Access.Stops(each.Name)
			var asked vscodeipc.QuestionsResult
			if result, err := a.User.Call(r.Context(), vscodeipc.CommandPermissionList, nil); err == nil {
				asked, _ = result.(vscodeipc.QuestionsResult)
			}
			each.Asks = waiting(asked.Questions, takeover.Now, []Client{each.Client})
			if a.Browser != nil {
				each.Browser = &Browser{Product: a.Browser.Product, Via: a.Browser.Via, URL: a.Browser.URL}
			}
			all = append(all, each)
		}
		json.NewEncoder(w).Encode(all) // the reader may be gone
	})
	mux.HandleFunc(callPath, func(w http.ResponseWriter, r *http.Request) {
		json.NewEncoder(w).Encode(respond(r, unlisted(r.Context()))) // the reader may be gone
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: timeout}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		removeDead(ctx)
		_ = server.Serve(ln)
	})
	return func() {
		cancel()
		server.Close()
		running.Wait()
	}
}

// agentSockets are those of all programs of this user that serve agents.
func agentSockets() []string {
	paths, _ := filepath.Glob(filepath.Join(statedir.Path(), "agent-*.sock"))
	return paths
}

// removeDead removes the sockets whose program was killed.
func removeDead(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for _, path := range agentSockets() {
		_ = usersocket.RemoveDead(ctx, path) // another program may have done it
	}
}

// Agents asks all programs that serve agents for those that no window lists. A program that has
// just ended reports none.
func Agents(ctx context.Context) []Agent {
	paths := agentSockets()
	each := make([][]Agent, len(paths))
	var questions sync.WaitGroup
	for i, path := range paths {
		questions.Go(func() {
			_ = usersocket.Ask(ctx, path, agentsPath, &each[i])
			for at := range each[i] {
				each[i][at].socket = path
			}
		})
	}
	questions.Wait()
	all := append([]Agent{}, slices.Concat(each...)...)
	slices.SortFunc(all, func(a, b Agent) int { return a.Since.Compare(b.Since) })
	return all
}

// row is the agent's line for people.
func (a Agent) row(now time.Time) []string {
	browser := "no browser yet"
	switch {
	case a.Waiting != "":
		browser = a.Waiting
	case a.Browser != nil:
		browser = name(a.Browser)
	}
	client := row(a.Client, now)
	return []string{client[0], client[2], client[3], browser, a.Workspace}
}
