package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/config"
	"browser-coordinator/coordinator/session"
	"browser-coordinator/coordinator/terminal"
	"browser-coordinator/coordinator/tools"
	"browser-coordinator/internal/background"
	"browser-coordinator/internal/fspath"
	"browser-coordinator/internal/usersocket"
)

// idleTimeout is how long a session waits for the next command.
const idleTimeout = 30 * time.Minute

// sessionName is the name of the command that is a session.
const sessionName = "session"

// sessionCommand is the process of a session. The first command of a shell starts it.
func (p *program) sessionCommand() *cobra.Command {
	var flags mcpFlags
	var folder, from, name, agent string
	var idle time.Duration
	cmd := &cobra.Command{
		Use:    sessionName,
		Short:  "Be the session of a shell's commands, which start it themselves",
		Hidden: true,
		Args:   noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ready := false
			err := p.runSession(cmd, &flags, folder, from, name, agent, idle, func() error {
				ready = true
				return background.Ready()
			})
			if err != nil && !ready {
				err = errors.Join(err, background.Fail(plain(withVariable(err).Error())))
			}
			return err
		},
	}
	flags.add(cmd)
	idleFlag(cmd, &idle)
	cmd.Flags().StringVar(&folder, "folder", "", "work in `DIR`")
	cmd.Flags().StringVar(&from, "from", "", "be restricted by the projects' files of `DIR`, which is in the folder")
	cmd.Flags().StringVar(&name, "session-name", "", "be the session `NAME`")
	cmd.Flags().StringVar(&agent, "agent", "Shell", "be the agent `NAME`")
	return cmd
}

func idleFlag(cmd *cobra.Command, idle *time.Duration) {
	cmd.Flags().DurationVar(idle, "idle", idleTimeout, "end after `DURATION` without a command")
}

func (p *program) runSession(cmd *cobra.Command, flags *mcpFlags, folder, from, name, agent string,
	idle time.Duration, ready func() error) error {
	place, err := session.Self(name, folder)
	if err != nil {
		return err
	}
	log, err := session.OpenLog(place)
	if err != nil {
		return err
	}
	defer log.Close()
	level := slog.LevelInfo
	if p.verbose {
		level = slog.LevelDebug
	}
	p.logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: level}))
	options, err := flags.options(p, cmd)
	if err != nil {
		return err
	}
	options.Caps, options.Dir = tools.CapNames(), fspath.FolderOf(folder)
	files, err := projectFiles(from)
	if err != nil {
		return err
	}
	options.Whole, options.Spell = true, tools.InShell
	ctx := cmd.Context()
	err = p.serveTools(ctx, options, flags.serve.options(p, nil, options.Access), func(server *tools.Server) error {
		return session.Run(ctx, session.ProcessOptions{
			Place: place, Server: server, Agent: agent, Version: version(), Output: options.OutputDir, Config: files, Idle: idle,
			End: func() error {
				if options.Launcher == nil {
					return nil
				}
				return options.Launcher.End()
			},
			Ready: ready, Logger: p.logger,
		})
	})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func (p *program) startCommand() *cobra.Command {
	var flags mcpFlags
	var chosen sessionFlags
	cmd := &cobra.Command{
		Use:   "start",
		Short: "Start a session with other options than the first command would",
		Long: `Start a session for the commands in the browser, with the options of
"coordinator mcp". Without this command the first one starts it, with the
options that the environment has.`,
		Example: `  coordinator start --headed
  coordinator start --session ci --grid http://localhost:4444
  coordinator start --allowed-origins http://localhost:*`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			chosen.workspace = flags.workspace
			place, err := chosen.place()
			if err != nil {
				return err
			}
			options := chosen.options(p, p.arguments[slices.Index(p.arguments, cmd.Name())+1:]...)
			started := false
			start := options.Start
			options.Start = func(ctx context.Context, place session.Place) error {
				started = true
				return start(ctx, place)
			}
			client, err := session.Open(cmd.Context(), place, options)
			if failed, ok := errors.AsType[*background.Error](err); ok {
				return &exitError{failed.Code, err}
			}
			if err != nil {
				return err
			}
			defer client.Close()
			if !started {
				return fmt.Errorf("the session %s runs already: end it with `coordinator close` to start it with other "+
					"options", place)
			}
			p.notice("The session %s has started.\n", place)
			return nil
		},
	}
	flags.add(cmd)
	chosen.addNames(cmd)
	idleFlag(cmd, new(time.Duration)) // which the session reads
	return cmd
}

// stateTimeout bounds how long a session takes to report its state, or to end.
const (
	stateTimeout = 5 * time.Second
	endTimeout   = 20 * time.Second
)

func (p *program) closeCommand() *cobra.Command {
	var chosen sessionFlags
	var all bool
	cmd := &cobra.Command{
		Use:   "close",
		Short: "End the session of the commands in the browser",
		Long: `End the session of the commands in the browser, with its private browser. A
session also ends by itself: after 30 minutes without a command, or with the
window in which it works.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), endTimeout)
			defer cancel()
			if all {
				places, err := session.Places()
				for _, place := range places {
					err = errors.Join(err, p.closeSession(ctx, place))
				}
				return err
			}
			place, err := chosen.place()
			if err != nil {
				return err
			}
			return p.closeSession(ctx, place)
		},
	}
	chosen.add(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "end all sessions of this user")
	return cmd
}

// closeSession ends a session. That none runs is no error.
func (p *program) closeSession(ctx context.Context, place session.Place) error {
	options := session.Options{Agent: "coordinator", Version: version()}
	client, err := session.Dial(ctx, place, options)
	if session.IsEnding(err) { // it has taken its name from the socket then, or has died
		client, err = session.Dial(ctx, place, options)
	}
	switch {
	case usersocket.IsDead(err):
		return place.Clean(ctx)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	defer client.Close()
	return client.End(ctx)
}

// listed is a session for programs.
type listed struct {
	session.State
	Idle float64 `json:"idle"` // seconds
}

func (p *program) sessionsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List the sessions of the commands in the browser",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			places, err := session.Places()
			if err != nil {
				return err
			}
			all := []listed{}
			for _, place := range places {
				state, err := p.stateOf(cmd.Context(), place)
				if err != nil {
					p.logger.Warn("a session does not answer", "error", err)
				}
				if err == nil {
					all = append(all, listed{state, time.Since(state.Used).Round(time.Second).Seconds()})
				}
			}
			slices.SortFunc(all, func(a, b listed) int { return strings.Compare(a.Name+a.Folder, b.Name+b.Folder) })
			switch {
			case asJSON:
				return terminal.JSON(p.out, all)
			case len(all) == 0:
				p.notice("No session runs.\n")
				return nil
			}
			rows := [][]string{{"SESSION", "FOLDER", "AGENT", "BROWSER", "IDLE"}}
			for _, s := range all {
				idle := (time.Duration(s.Idle) * time.Second).String()
				if s.Running > 0 {
					idle = "a command runs"
				}
				rows = append(rows, []string{s.Name, s.Folder, s.Agent, s.Browser, idle})
			}
			return terminal.Table(p.out, rows)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// projectFiles are the projects' files that restrict what works in a folder.
func projectFiles(folder string) (paths []string, err error) {
	files, err := config.Projects(fspath.FolderOf(folder))
	for _, file := range files {
		paths = append(paths, file.Path)
	}
	return paths, err
}

// checkConfig refuses a session that has not read a project's file of the command's folder: it
// may allow what the file does not.
func (f *sessionFlags) checkConfig(ctx context.Context, client *session.Client, place session.Place) error {
	folder, err := canonicalWorkspace(f.workspace)
	if err != nil {
		return err
	}
	files, err := projectFiles(folder)
	if err != nil || len(files) == 0 {
		return err
	}
	state, err := client.State(ctx)
	if err != nil {
		return err
	}
	for _, file := range files {
		if slices.Contains(state.Config, file) {
			continue
		}
		command := "coordinator close"
		if place.Name != "" {
			command += " --session " + place.Name
		}
		return fmt.Errorf("the session %s has not read %s, which restricts the commands of this folder: end it with "+
			"`%s`, and the next command starts one that has", place, file, command)
	}
	return nil
}

// otherSessions are those that run beside one that has a name, for a sentence; empty: there are none.
func (p *program) otherSessions(ctx context.Context, place session.Place) string {
	if place.Name == "" {
		return ""
	}
	places, _ := session.Places() // which the start of the session reports too
	var names []string
	for _, other := range places {
		if state, err := p.stateOf(ctx, other); err == nil && state.Name != place.Name {
			names = append(names, session.Place{Name: state.Name, Folder: state.Folder}.Label())
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func (p *program) stateOf(ctx context.Context, place session.Place) (session.State, error) {
	ctx, cancel := context.WithTimeout(ctx, stateTimeout)
	defer cancel()
	client, err := session.Dial(ctx, place, session.Options{Agent: "coordinator", Version: version()})
	if err != nil {
		return session.State{}, err
	}
	defer client.Close()
	state, err := client.State(ctx)
	state.Refs = nil // for completion
	return state, err
}
