// Package doctor examines what the coordinator needs on this machine: its program, the
// hosts' entries, directories, windows, endpoints and browsers. Each finding has a
// verdict, one sentence and the next step.
//
//	report := doctor.Examine(ctx, doctor.Options{Version: version})
//	for _, check := range report.Checks { … }
//
// A check reports only what it has seen: what it cannot find out is Unknown. A check that
// does not apply to a system does not exist there. The package changes something only if
// Options.Fix is set, and then only files of the coordinator and of windows.
package doctor

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"browser-coordinator/coordinator/setup"
	"browser-coordinator/internal/fspath"
	"browser-coordinator/vscodeipc"
)

// Verdict is the result of a check.
type Verdict string

const (
	OK      Verdict = "ok"
	Unknown Verdict = "unknown" // it could not be found out
	Warning Verdict = "warning" // it works, but not as the user may expect
	Problem Verdict = "problem" // something does not work, or is not safe
)

// Finding is one result of a check.
type Finding struct {
	Verdict Verdict `json:"verdict"`
	Text    string  `json:"text"`
	// Fix is the command or the setting that solves the problem; empty: nothing to do.
	Fix string `json:"fix,omitempty"`

	// masked is Text for others; empty: Text.
	masked string
	// repair does the safe part of Fix, and returns what it did; nil: there is none.
	repair func(context.Context) (string, error)
}

// Check is a check with its findings. ID is stable, and the name of its section in
// docs/troubleshooting.md.
type Check struct {
	ID       string    `json:"id"`
	Group    string    `json:"group"`
	Title    string    `json:"title"`
	Findings []Finding `json:"findings"`
}

// Repair is something that was fixed, or could not be.
type Repair struct {
	Check string `json:"check"`
	Done  string `json:"done,omitempty"`
	Error string `json:"error,omitempty"`
}

// Report is the result of an examination. The names in its JSON are stable.
type Report struct {
	Version  string   `json:"version"`
	System   string   `json:"system"`
	Problems int      `json:"problems"`
	Warnings int      `json:"warnings"`
	Unknown  int      `json:"unknown"`
	Checks   []Check  `json:"checks"`
	Repairs  []Repair `json:"repairs"`
}

// Options of an examination.
type Options struct {
	Version string         // of this program
	Client  vscodeipc.Peer // the name that windows get
	Folder  string         // the workspace whose host files are read: a folder or a .code-workspace file
	Fix     bool           // repair what is safe to repair
	// Config examines the files config.toml that count in a folder: by path, what is wrong in it.
	Config func(folder string) map[string]error
}

const system = runtime.GOOS + "/" + runtime.GOARCH

// check is one check before it runs.
type check struct {
	id, group, title string
	run              func(context.Context, *examination) []Finding
}

// checks are all checks of this system, in the order of the report.
func checks() []check {
	return slices.Concat(programChecks, hostChecks, directoryChecks, windowChecks, endpointChecks, browserChecks)
}

// Examine runs all checks. With Options.Fix it repairs what it can and runs them again, so
// that the report shows what is true then.
func Examine(ctx context.Context, o Options) Report {
	found := examine(ctx, o)
	var repairs []Repair
	if o.Fix {
		if repairs = repair(ctx, found); len(repairs) > 0 {
			found = examine(ctx, o)
		}
	}
	report := Report{
		Version: o.Version, System: system,
		Checks: found, Repairs: append([]Repair{}, repairs...),
	}
	for _, c := range found {
		for _, f := range c.Findings {
			switch f.Verdict {
			case Problem:
				report.Problems++
			case Warning:
				report.Warnings++
			case Unknown:
				report.Unknown++
			}
		}
	}
	return report
}

// examination is what the checks of one run share.
type examination struct {
	Options
	windows func() []vscodeipc.Verdict
	files   func() []setup.File
}

func examine(ctx context.Context, o Options) []Check {
	x := &examination{Options: o}
	x.windows = sync.OnceValue(func() []vscodeipc.Verdict {
		// The check of the directories reports those that cannot be searched.
		verdicts, _ := vscodeipc.Probe(ctx, vscodeipc.ProbeOptions{DryRun: true,
			Dial: vscodeipc.DialOptions{Client: o.Client}})
		return verdicts
	})
	x.files = sync.OnceValue(func() []setup.File { return setup.List(ctx, fspath.FolderOf(o.Folder)) })
	all := checks()
	found := make([]Check, len(all))
	var running sync.WaitGroup
	for i, c := range all {
		running.Go(func() { found[i] = Check{c.id, c.group, c.title, c.run(ctx, x)} })
	}
	running.Wait()
	return slices.DeleteFunc(found, func(c Check) bool { return len(c.Findings) == 0 })
}

func repair(ctx context.Context, found []Check) (repairs []Repair) {
	for _, c := range found {
		for _, f := range c.Findings {
			if f.repair == nil {
				continue
			}
			done, err := f.repair(ctx)
			if done != "" {
				repairs = append(repairs, Repair{Check: c.ID, Done: done})
			}
			if err != nil {
				repairs = append(repairs, Repair{Check: c.ID, Error: err.Error()})
			}
		}
	}
	return repairs
}

// The constructors of findings that need no repair.

func ok(format string, args ...any) Finding { return finding(OK, "", format, args...) }

func unknown(format string, args ...any) Finding {
	return finding(Unknown, "", "Unknown: "+format, args...)
}

func finding(v Verdict, fix, format string, args ...any) Finding {
	return Finding{Verdict: v, Text: fmt.Sprintf(format, args...), Fix: fix}
}
