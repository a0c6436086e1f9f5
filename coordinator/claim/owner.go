package claim

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"browser-coordinator/internal/pagelock"
)

// Owner is an agent, or a client of the endpoint, with what it has claimed and set. A nil one has no
// others: it gets each claim, and is told of nothing.
type Owner struct {
	pages *Pages
	id    string // differs from each other owner's
	name  atomic.Pointer[string]

	mu     sync.Mutex            // guards the fields that follow
	set    map[setting]published // what it has set
	claims map[string]*claimed   // what it has claimed
}

// claimed is what an owner has claimed, and how often: it may reach one browser in two ways.
type claimed struct {
	times  int
	unlock func() error
}

// Browser is the thing on which is set what concerns each tab of a browser, and Holds that for what only
// an answer that is late needs to name.
func Browser(id string) string { return "browser " + id }
func Holds(id string) string   { return "holds " + id }

type setting struct{ thing, kind string }

// published is a setting that the others can read, until end is called.
type published struct {
	text string
	end  func()
}

// Owner is an owner with that name.
func (p *Pages) Owner(id, name string) *Owner {
	o := &Owner{pages: p, id: id, set: map[setting]published{}, claims: map[string]*claimed{}}
	o.Rename(name)
	return o
}

// Rename names the owner in what it claims and sets from now on.
func (o *Owner) Rename(name string) {
	if o != nil {
		o.name.Store(&name)
	}
}

func (o *Owner) alone() bool { return o == nil || o.pages.isFree }

// record is what a locked file says.
type record struct{ ID, Owner, Text string }

func (o *Owner) record(text string) ([]byte, error) {
	return json.Marshal(record{o.id, *o.name.Load(), text})
}

// unknownOwner names the owner of a file that cannot be read: it may have just locked it.
const unknownOwner = "another client of this browser"

func readRecord(text []byte) record {
	var r record
	if json.Unmarshal(text, &r) != nil || r.Owner == "" {
		return record{Owner: unknownOwner}
	}
	return r
}

// Claim locks a thing, such as a page by its id, until release is called, once for each claim. The error is a
// TakenError if another owner has it, or why the lock cannot be had.
func (o *Owner) Claim(thing string) (release func(), err error) {
	if o.alone() {
		return func() {}, nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	has := o.claims[thing]
	if has == nil {
		text, err := o.record("")
		if err != nil {
			return nil, err
		}
		unlock, free, err := pagelock.Agent.TryAs(thing, text)
		switch {
		case err != nil:
			return nil, fmt.Errorf("claim it for this agent: %w", err)
		case !free:
			return nil, &TakenError{readRecord(pagelock.Agent.Holder(thing)).Owner}
		}
		has = &claimed{unlock: unlock}
		o.claims[thing] = has
	}
	has.times++
	return sync.OnceFunc(func() { o.release(thing, has) }), nil
}

// release ends one claim on a thing.
func (o *Owner) release(thing string, has *claimed) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if has.times--; has.times == 0 {
		delete(o.claims, thing)
		o.pages.release(has.unlock)
	}
}

// Set publishes what the owner has set on a thing, of one kind, in words that follow its name, such as
// "answers requests by its routes". An empty text: it has ended that.
func (o *Owner) Set(thing, kind, text string) error {
	if o.alone() {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	key := setting{thing, kind}
	before := o.set[key]
	if before.text == text {
		return nil
	}
	if text != "" {
		end, err := o.publish(thing, text)
		if err != nil {
			return fmt.Errorf("tell the other agents of this user what is set: %w", err)
		}
		o.set[key] = published{text, end}
	} else {
		delete(o.set, key)
	}
	if before.end != nil {
		before.end()
	}
	return nil
}

func (o *Owner) publish(thing, text string) (end func(), err error) {
	line, err := o.record(text)
	if err != nil {
		return nil, err
	}
	unlock, err := pagelock.Setting.Publish(thing, line)
	return func() { o.pages.release(unlock) }, err
}

// Forget ends what the owner has set on a thing, which has gone.
func (o *Owner) Forget(thing string) {
	o.Keep(func(other, _ string) bool { return other != thing })
}

// Keep ends what the owner has set, except what is still so.
func (o *Owner) Keep(still func(thing, kind string) bool) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for key, published := range o.set {
		if !still(key.thing, key.kind) {
			published.end()
			delete(o.set, key)
		}
	}
}

// Others are what the other owners have set on a thing, each a name and a text, in order.
func (o *Owner) Others(thing string) (texts []string) {
	if o.alone() {
		return nil
	}
	for _, text := range pagelock.Setting.Published(thing) {
		if r := readRecord(text); r.ID != o.id && r.Text != "" {
			texts = append(texts, r.Owner+" "+r.Text)
		}
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}
