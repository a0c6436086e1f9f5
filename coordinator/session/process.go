package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/tools"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/internal/usersocket"
)

// ProcessOptions are those of a session's process. All are required.
type ProcessOptions struct {
	Place  Place
	Server *tools.Server
	// Agent is the agent's name.
	Agent, Version string
	// Output is the folder for files that no call names; empty: below the session's folder.
	Output string
	// Config are the projects' files that restrict the session.
	Config []string
	// Idle is how long the session waits for the next command.
	Idle time.Duration
	// End ends what the agent's process has besides: its private browser.
	End func() error
	// Ready is called when commands can connect.
	Ready  func() error
	Logger *slog.Logger
}

// process is a session that runs.
type process struct {
	ProcessOptions
	agent    *agent.Agent
	listener net.Listener
	end      context.CancelCauseFunc // begins the end, with its cause

	mu      sync.Mutex // guards the fields that follow
	running int        // connections
	used    time.Time  // when the last call ended
	idle    *time.Timer
	ended   bool
	refs    []Ref
}

// The causes of an end.
var (
	errClosed = errors.New("the session was closed by `coordinator close`")
	errIdle   = errors.New("the session was idle")
	errWindow = errors.New("the window in which the session worked has closed")
)

// reopening is how long a window may be away: VS Code reloads one in some seconds.
const reopening = 15 * time.Second

// Run is a session from its start to its end.
func Run(ctx context.Context, o ProcessOptions) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	p := &process{ProcessOptions: o, end: end, used: time.Now()}
	if err := p.addMethods(); err != nil {
		return err
	}
	unlock, err := o.Place.live(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if p.listener, err = usersocket.Listen(o.Place.path("sock")); err != nil {
		return err
	}
	if err := o.Place.sweep(); err != nil {
		o.Logger.Warn("files of sessions that have ended stay", "error", err)
	}
	following, stop := context.WithCancel(context.Background())
	defer stop()
	var endAgent func(error)
	p.agent, endAgent = o.Server.Open(following, o.Agent, "")
	p.idle = time.AfterFunc(o.Idle, p.endIdle)
	defer p.idle.Stop()
	connected, disconnect := context.WithCancel(context.Background())
	var accepting sync.WaitGroup
	accepting.Go(func() { p.accept(connected) })
	if err = o.Ready(); err == nil {
		if p.agent.AwaitWindowClosed(ctx, reopening) == nil {
			end(errWindow)
		}
		o.Logger.Info("the session ends", "cause", context.Cause(ctx))
	}
	p.leave()
	cause := context.Cause(ctx)
	if cause == nil {
		cause = err
	}
	endAgent(fmt.Errorf("the session ended during the call, and what was asked may have been done (%w)", cause))
	err = errors.Join(err, o.End())
	disconnect() // whoever has closed the session waits for this
	accepting.Wait()
	return err
}

// leave makes the next command start another session.
func (p *process) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.ended = true
		p.listener.Close()
	}
}

// endIdle ends the session unless a command has just begun.
func (p *process) endIdle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running == 0 && !p.ended {
		p.ended = true
		p.listener.Close() // with mu held: no command can be lost
		p.end(errIdle)
	}
}

// accept serves the commands until the listener closes.
func (p *process) accept(ctx context.Context) {
	var serving sync.WaitGroup
	defer serving.Wait()
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return
		}
		if !p.begin() {
			conn.Close()
			continue
		}
		serving.Go(func() { p.serve(ctx, conn) })
	}
}

// begin counts a command; false: the session ends.
func (p *process) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return false
	}
	p.running++
	p.idle.Stop()
	return true
}

// serve serves one command.
func (p *process) serve(ctx context.Context, conn net.Conn) {
	if err := p.Server.Join(ctx, transportOf(conn)); err != nil && ctx.Err() == nil {
		p.Logger.Debug("a command's connection ended", "error", err)
	}
	conn.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running--
	if p.running == 0 && !p.ended {
		p.idle.Reset(max(0, p.Idle-time.Since(p.used))) // listing does not count as use
	}
}

// addMethods adds the session's own methods to the server.
func (p *process) addMethods() error {
	p.Server.OnResult(p.note)
	return errors.Join(
		tools.AddMethod(p.Server, methodState, func(context.Context, *noParams) (*stateResult, error) {
			return &stateResult{State: p.state()}, nil
		}),
		tools.AddMethod(p.Server, methodEnd, func(context.Context, *noParams) (*endResult, error) {
			p.leave()
			p.end(errClosed)
			return &endResult{}, nil
		}),
	)
}

func (p *process) state() State {
	browser := p.agent.WorksIn()
	p.mu.Lock()
	defer p.mu.Unlock()
	return State{
		Name: p.Place.Name, Folder: p.Place.Folder, Agent: p.agent.Info().Name, Browser: browser, PID: os.Getpid(),
		Version: p.Version, Output: p.Output, Config: p.Config, Running: p.running - 1, Used: p.used, Refs: p.refs,
	}
}

// refOf matches a line of an answer that has a ref.
var refOf = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:- )?(.*?)\s*\[ref=((?:f\d+)?e\d+)\]`)
})

// mostRefs bounds how many refs are kept for completion.
const mostRefs = 1000

// note keeps when the session was used, and the refs of a result for completion.
func (p *process) note(result *mcp.CallToolResult) {
	var refs []Ref
	for _, content := range result.Content {
		text, ok := content.(*mcp.TextContent)
		if !ok {
			continue
		}
		for line := range strings.Lines(text.Text) {
			if m := refOf().FindStringSubmatch(line); m != nil && len(refs) < mostRefs {
				refs = append(refs, Ref{Ref: m[2], Line: m[1]})
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used = time.Now()
	if refs != nil {
		p.refs = refs
	}
}
