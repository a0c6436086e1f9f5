package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/cdplog"
	"browser-coordinator/coordinator/endpoint"
	"browser-coordinator/vscodeipc"
)

// logFlags are what a person wants to see of the traffic.
type logFlags struct {
	follow, json, full bool
	record             string
	domains, methods   []string
	client             string
}

func (p *program) logCommand() *cobra.Command {
	var workspace string
	var f logFlags
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Show the CDP traffic of a window as it passes, or record it",
		Long: `Show the CDP traffic that passes a window's endpoint from now on, until it is
interrupted. With --record it goes to a file as JSON lines, which
"coordinator replay" serves as a browser; add --follow to see it as well.

The traffic holds what the pages hold: treat a recording as you would the pages.`,
		Example: `  coordinator log --follow --domain Page,Network
  coordinator log --method 'Runtime.*' --client Playwright
  coordinator log --record session.jsonl`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, pattern := range f.methods {
				if _, err := path.Match(pattern, ""); err != nil {
					return &exitError{exitUsage, fmt.Errorf("log: --method %q: not a pattern", pattern)}
				}
			}
			return p.runLog(cmd.Context(), workspace, f)
		},
	}
	workspaceFlag(cmd, &workspace)
	cmd.Flags().BoolVarP(&f.follow, "follow", "f", false, "show it (without --record it is shown anyway)")
	cmd.Flags().StringVar(&f.record, "record", "", "write everything to this `file`, which must not exist")
	cmd.Flags().StringSliceVar(&f.domains, "domain", nil, "show only these `domains`, for example Page,Network")
	cmd.Flags().StringSliceVar(&f.methods, "method", nil, "show only these `methods`; * stands for any letters")
	cmd.Flags().StringVar(&f.client, "client", "", "show only clients of this `name`")
	cmd.Flags().BoolVar(&f.full, "full", false, "show messages in full, however long")
	cmd.Flags().BoolVar(&f.json, "json", false, "show JSON lines, as they are recorded")
	complete(cmd, "domain", "Accessibility", "Browser", "CSS", "DOM", "Debugger", "Emulation", "Fetch", "Input", "Network", "Page", "Runtime", "Target")
	complete(cmd, "method")
	complete(cmd, "client")
	return cmd
}

func (p *program) runLog(ctx context.Context, workspace string, f logFlags) (err error) {
	windows, err := p.openRegistry(ctx, false)
	if err != nil {
		return err
	}
	meant, err := p.meantWorkspace(ctx, windows, workspace)
	windows.Close()
	if err != nil {
		return err
	}
	hash := vscodeipc.Hash(meant)
	stream, err := endpoint.Log(ctx, hash)
	if errors.Is(err, endpoint.ErrNotServed) {
		return fmt.Errorf("nobody serves the endpoint of %s now: start an agent there, or `coordinator serve`", meant)
	}
	if err != nil {
		return err
	}
	defer stream.Close()

	var sinks []func(cdplog.Line) error
	if f.record != "" {
		recording, err := p.record(ctx, hash, f.record)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, recording.end()) }()
		sinks = append(sinks, recording.add)
	}
	if f.record == "" || f.follow {
		sinks = append(sinks, newTrafficView(p.out, f).show)
	}
	fmt.Fprintf(p.err, "Listening to the clients of %s; end it with Ctrl+C.\n", meant)
	err = eachLine(stream, sinks)
	if ctx.Err() != nil {
		return nil // interrupted, which is how it ends
	}
	if err == nil {
		err = errors.New("the coordinator that served the endpoint has ended")
	}
	return err
}

// eachLine hands the lines of a stream to all sinks.
func eachLine(stream io.Reader, sinks []func(cdplog.Line) error) error {
	lines := json.NewDecoder(stream)
	for {
		var l cdplog.Line
		if err := lines.Decode(&l); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return nil
			}
			return err
		}
		for _, sink := range sinks {
			if err := sink(l); err != nil {
				return err
			}
		}
	}
}

// recording is a file that is being written.
type recording struct {
	program  *program
	file     *os.File
	lines    *json.Encoder
	messages int
}

// record begins a file with what describes the browser.
func (p *program) record(ctx context.Context, hash, name string) (*recording, error) {
	addr, err := endpoint.Address(hash)
	if err != nil {
		return nil, err
	}
	version, err := ask(ctx, addr.TokenURL+"/json/version")
	if err != nil {
		return nil, fmt.Errorf("record: ask the browser who it is: %w", err)
	}
	targets, err := ask(ctx, addr.TokenURL+"/json/list")
	if err != nil {
		return nil, fmt.Errorf("record: ask the browser for its targets: %w", err)
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("record: %s is there already: name a file that is not", name)
	}
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	r := &recording{program: p, file: file, lines: json.NewEncoder(file)}
	r.lines.SetEscapeHTML(false)
	if err := r.lines.Encode(cdplog.Head(withoutToken(version, addr), withoutToken(targets, addr))); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return r, nil
}

// withoutToken takes the secret out of what is kept.
func withoutToken(text json.RawMessage, addr endpoint.Addr) json.RawMessage {
	secret := strings.TrimPrefix(addr.TokenURL, addr.URL)
	return json.RawMessage(strings.ReplaceAll(string(text), secret, ""))
}

// ask gets a discovery document.
func ask(ctx context.Context, url string) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 16<<20))
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", res.Status, strings.TrimSpace(string(text)))
	}
	return text, err
}

func (r *recording) add(l cdplog.Line) error {
	if l.From != "" {
		r.messages++
	}
	return r.lines.Encode(l)
}

func (r *recording) end() error {
	err := r.file.Close()
	fmt.Fprintf(r.program.err, "%d messages are in %s; `coordinator replay %[2]s` serves them.\n", r.messages, r.file.Name())
	return err
}

// trafficView shows traffic to people. An answer is shown with the method that it
// answers, and how long that took.
type trafficView struct {
	out     io.Writer
	flags   logFlags
	clients map[string]string   // id to name and a short number
	asked   map[string]question // by client and id of the message
}

type question struct {
	method string
	at     time.Time
}

func newTrafficView(out io.Writer, f logFlags) *trafficView {
	return &trafficView{out: out, flags: f, clients: map[string]string{}, asked: map[string]question{}}
}

func (v *trafficView) show(l cdplog.Line) error {
	if l.Joined != nil {
		v.clients[l.Client] = fmt.Sprintf("%s#%d", l.Joined.Name, len(v.clients)+1)
	}
	if l.Lost > 0 {
		_, err := fmt.Fprintf(v.out, "… %d messages are missing here: they came too fast\n", l.Lost)
		return err
	}
	if l.From == "" {
		return nil
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	_ = json.Unmarshal(l.Message, &m) // what is no command or answer is shown as it is
	key := l.Client + " " + string(m.ID)
	answered := question{method: m.Method}
	switch {
	case l.From == cdpClient && len(m.ID) > 0:
		v.asked[key] = question{m.Method, l.Time}
	case m.Method == "" && len(m.ID) > 0:
		answered = v.asked[key]
		delete(v.asked, key)
	}
	if !v.wanted(l, answered.method) {
		return nil
	}
	if v.flags.json {
		lines := json.NewEncoder(v.out)
		lines.SetEscapeHTML(false)
		return lines.Encode(l)
	}
	_, err := fmt.Fprintln(v.out, v.line(l, m.Method, answered, m.Params, m.Result, m.Error))
	return err
}

// cdpClient is cdpproxy's word for a message of the client.
const cdpClient = "client"

func (v *trafficView) wanted(l cdplog.Line, method string) bool {
	name, _, _ := strings.Cut(v.clients[l.Client], "#")
	if v.flags.client != "" && !strings.EqualFold(name, v.flags.client) {
		return false
	}
	if len(v.flags.domains) == 0 && len(v.flags.methods) == 0 {
		return true
	}
	domain, _, _ := strings.Cut(method, ".")
	for _, d := range v.flags.domains {
		if strings.EqualFold(d, domain) {
			return true
		}
	}
	for _, pattern := range v.flags.methods {
		if ok, _ := path.Match(pattern, method); ok {
			return true
		}
	}
	return false
}

func (v *trafficView) line(l cdplog.Line, method string, answered question, params, result, failed json.RawMessage) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %-14s ", l.Time.Local().Format("15:04:05.000"), v.clients[l.Client])
	body := params
	switch {
	case l.From == cdpClient:
		b.WriteString("→ " + method)
	case method != "":
		b.WriteString("← " + method)
	default:
		b.WriteString("⇐ " + answered.method)
		if !answered.at.IsZero() {
			b.WriteString(" " + strconv.FormatFloat(float64(l.Time.Sub(answered.at).Microseconds())/1000, 'f', 1, 64) + " ms")
		}
		body = result
		if failed != nil {
			b.WriteString(" failed")
			body = failed
		}
	}
	if l.From == "endpoint" {
		b.WriteString(" (endpoint)")
	}
	if l.Text != "" {
		body = json.RawMessage(l.Text)
	}
	if len(body) > 0 && string(body) != "{}" {
		b.WriteString(" " + v.cut(string(body)))
	}
	return b.String()
}

// shownBytes is what is shown of a message without --full.
const shownBytes = 160

func (v *trafficView) cut(s string) string {
	if v.flags.full || len(s) <= shownBytes {
		return s
	}
	head := s[:shownBytes]
	for !utf8.ValidString(head) {
		head = head[:len(head)-1]
	}
	return fmt.Sprintf("%s… (%d bytes)", head, len(s))
}
