package profiling

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/profiler"

	"browser-coordinator/coordinator/page/remote"
)

// CPUProfile is a CPU profile of the page's main thread.
type CPUProfile struct {
	JSON   []byte        // in the format that DevTools opens
	Length time.Duration // from start to stop
	Idle   time.Duration
	Top    []ProfiledFunction // by own time
}

// ProfiledFunction is the time spent in a function, without its callees.
type ProfiledFunction struct {
	Name string // for example render at http://localhost/app.js:7, or (garbage collector)
	Self time.Duration
}

const (
	sampling      = 200 * time.Microsecond
	mostFunctions = 10
)

// StartCPUProfile samples the page's scripts, until
// Recordings.StopCPUProfile or the end of the connection.
func (p *Profiler) StartCPUProfile(ctx context.Context) error {
	p.recordings.mu.Lock()
	other := p.recordings.profile
	p.recordings.mu.Unlock()
	if other != nil && other.page.Lifecycle.Ended() == nil {
		return ErrRecording
	}
	return p.page.Run(ctx, "starting a CPU profile", 0, func(ctx context.Context) error {
		for _, c := range []struct {
			method string
			params any
		}{
			{profiler.CommandEnable, nil},
			{profiler.CommandSetSamplingInterval, profiler.SetSamplingIntervalParams{
				Interval: sampling.Microseconds(),
			}},
			{profiler.CommandStart, nil},
		} {
			if err := p.page.Session.Call(ctx, c.method, c.params, nil); err != nil {
				return err
			}
		}
		p.recordings.mu.Lock()
		defer p.recordings.mu.Unlock()
		p.recordings.profile = p
		return nil
	})
}

// StopCPUProfile ends the profile of StartCPUProfile.
func (r *Recordings) StopCPUProfile(ctx context.Context) (CPUProfile, error) {
	var result CPUProfile
	p, err := take(r, &r.profile)
	if err != nil {
		return result, err
	}
	err = p.page.Run(ctx, "stopping the CPU profile", recordTimeout, func(ctx context.Context) error {
		var reply struct {
			Profile jsonv2.Value `json:"profile"`
		}
		if err := p.page.Session.Call(ctx, profiler.CommandStop, nil, &reply); err != nil {
			return err
		}
		if r.profilerUnused() {
			_, _ = p.page.Session.Start(ctx, profiler.CommandDisable, nil)
		}
		result, err = readProfile(reply.Profile)
		return err
	})
	return result, err
}

func readProfile(text []byte) (CPUProfile, error) {
	var p profiler.Profile
	if err := json.Unmarshal(text, &p); err != nil {
		return CPUProfile{}, fmt.Errorf("read the profile: %w", err)
	}
	result := CPUProfile{JSON: text, Length: microseconds(p.EndTime - p.StartTime)}
	names := map[int64]string{}
	for _, n := range p.Nodes {
		if n.CallFrame == nil {
			continue
		}
		name := n.CallFrame.FunctionName
		if name == "" {
			name = "(anonymous)"
		}
		if n.CallFrame.URL != "" {
			position := remote.NewPosition(n.CallFrame.URL, n.CallFrame.LineNumber, n.CallFrame.ColumnNumber)
			name += fmt.Sprintf(" at %s:%d", position.URL, position.Line)
		}
		names[n.ID] = name
	}
	// A delta is the time since the previous sample, whose function ran during it.
	self := map[string]time.Duration{}
	for i, sample := range p.Samples {
		if i+1 < len(p.TimeDeltas) && p.TimeDeltas[i+1] > 0 {
			self[names[sample]] += microseconds(float64(p.TimeDeltas[i+1]))
		}
	}
	result.Idle = self["(idle)"]
	delete(self, "(idle)")
	delete(self, "(root)")
	for name, d := range self {
		result.Top = append(result.Top, ProfiledFunction{name, d})
	}
	slices.SortFunc(result.Top, func(a, b ProfiledFunction) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(a.Name, b.Name))
	})
	result.Top = result.Top[:min(len(result.Top), mostFunctions)]
	return result, nil
}

func microseconds(n float64) time.Duration { return time.Duration(n * float64(time.Microsecond)) }
