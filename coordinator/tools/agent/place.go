package agent

import (
	"context"
	"errors"
	"sync"
	"time"

	"browser-coordinator/coordinator/claim"
	"browser-coordinator/coordinator/page"
)

// event is what has happened to the tab that the agent works in, or to its browser, since its last
// answer.
type event int

const (
	nothing event = iota
	browserReplaced
	tabClosed
	openerLeft
	tabTaken
)

// transition is a row of the table.
type transition struct {
	lasts           bool // it holds for each call until something else happens; else it is told once
	read, act, open response
}

// response is what the next call does, and what the agent is told. %[1]d, %[2]q and %[3]s are the
// index, title and URL of the tab that it works in now, %[4]s is all tabs, and %[5]s why the browser is another one, or
// who works in the tab.
type response struct {
	does does
	told string
}

// does is what a call does after an event.
type does int

const (
	proceed does = iota
	tell         // it goes on, and its answer begins with what has happened
	refuse       // it does nothing, and fails with what has happened
	openOwn      // it opens a tab of the agent's own, and its answer begins with what has happened
)

// transitions are what can happen to a place between two answers, and what the next call does, by
// what it needs: to read, to act, or to open an address.
//
// What is not here changes nothing, and the next call proceeds: a connection that ends while its
// browser lives; the end of five minutes without a call, after which the tab must be claimed again; a
// user who takes over (actions wait), allows less or stops the agent (which ends the connection); a
// popup, which the agent may close; a second window on the folder. A window that closes, and a browser
// without a window that ends, are another place: see [Agent.checkHome].
var transitions = map[event]transition{
	// The debug session was restarted, the window shares another browser, or another window fits.
	browserReplaced: {
		read: response{tell, "This is another browser than that of your last answer: %[5]s. You work in tab %[1]d there."},
		act: response{refuse, "this is another browser than that of your last answer: %[5]s. Nothing was done. You work " +
			"in tab %[1]d there, %[2]q, %[3]s: look at it before you act"},
		open: response{tell, "This is another browser than that of your last answer: %[5]s."},
	},
	// The page, the user or another client has closed the tab, or the user has taken it back.
	tabClosed: {lasts: true,
		read: response{refuse, "the tab that you worked in was closed. Select another with browser_tabs, action select, " +
			"or open one with action new. %[4]s"},
		act: response{refuse, "the tab that you worked in was closed, so nothing was done. Select another with " +
			"browser_tabs, action select, or open one with action new. %[4]s"},
		open: response{openOwn, "The tab that you worked in was closed, so this is a new one."},
	},
	// The same, and the tab that opened it is there, in which no other agent works.
	openerLeft: {
		read: response{tell, "The tab that you worked in has closed; you work in tab %[1]d now, which opened it."},
		act: response{refuse, "the tab that you worked in was closed, so nothing was done. You work in tab %[1]d now, " +
			"which opened it: %[2]q, %[3]s"},
		open: response{refuse, "the tab that you worked in was closed, so nothing was done. You work in tab %[1]d now, " +
			"which opened it: %[2]q, %[3]s"},
	},
	// Another agent has the tab: it came first, or while this one was idle.
	tabTaken: {lasts: true,
		read: response{tell, "%[5]s works in the tab that the developer sees. You can read it; to act, open a tab of your " +
			"own with browser_tabs, action new."},
		act: response{refuse, "%[5]s works in the tab %[2]q, so nothing was done. Open a tab of your own with " +
			"browser_tabs, action new, url %[3]s"},
		open: response{openOwn, "%[5]s works in the tab that the developer sees, so this is a tab of your own."},
	},
}

// need is what a call needs a tab for.
type need int

const (
	toRead need = iota // shares a tab that another agent works in
	toAct              // only in the agent's own tab
	toOpen             // opens an address: in the agent's own tab, if need be in a new one
)

func (t *transition) response(n need) response {
	return [...]response{toRead: t.read, toAct: t.act, toOpen: t.open}[n]
}

// origin is how a tab was opened by the agent.
type origin int

const (
	byThePage origin = iota + 1 // an action in the user's page opened it; it stays when the session ends
	forItself                   // it ends with the session
)

// seat identifies the browser of a window, by the window's address, or another one of the agent.
type seat string

const (
	ownSeat      seat = "own"
	attachedSeat seat = "attached"
)

// places are where an agent works: one for each seat.
type places struct {
	claim func(tab string) (release func(), err error)
	moved func(tab string) // is called when the agent works in another tab; empty: in none
	idled func()           // is called after five minutes without a call, to release all

	// mu guards the fields that follow, and those of each place. Agent.mu is locked after it.
	mu   sync.Mutex
	all  map[seat]*place
	home seat        // that of the last call that named no window; empty: the next one chooses anew
	idle *time.Timer // ends the claims of an idle agent; nil: no tab was claimed
}

// place is where the agent works in one seat's browser, and whose the tabs are there. It outlives the
// connections to the browser. Tabs have their ids. places.mu guards all of it.
type place struct {
	places *places

	window  string // for people; empty: a browser without one
	browser string // its CDP URL; empty: the agent has not been there
	acted   bool   // an action has begun in the browser
	tab     string // the one that the agent works in; empty: it has not chosen, or its tab was closed
	pending event  // what the next call is told
	why     string // the browser is another one, or who works in the tab
	shared  string // another agent's tab, which was read last
	opened  map[string]origin
	openers map[string]string // where to go back to from a tab: the one that opened it
	claims  map[string]func() // ends the claim on a tab
}

// claimIdle is how long an idle agent keeps its tabs: hosts leave unused sessions open.
const claimIdle = 5 * time.Minute

func newPlaces(claim func(string) (func(), error), moved func(string), idled func()) *places {
	return &places{claim: claim, moved: moved, idled: idled, all: map[seat]*place{}}
}

// at is the place of a seat.
func (s *places) at(at seat) *place {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.all[at]
	if p == nil {
		p = &place{places: s}
		p.forget()
		s.all[at] = p
	}
	return p
}

// arrive notes that a call goes to a connection's browser, whether it acts, and whether it goes there
// because it names no window. It returns where the agent works there.
func (s *places) arrive(in *connection, acts, home bool) *place {
	p := s.at(in.seat())
	s.mu.Lock()
	defer s.mu.Unlock()
	former, why := p, in.replaced() // the place of the last answer, for which this call may be meant
	if home && s.home != "" && s.home != in.seat() {
		former, why = s.all[s.home], "the window "+in.window.Label()+" fits now"
	}
	worked := former.tab != "" || former.pending != nothing
	if p.browser != in.url {
		p.forget()
	}
	if worked && (former != p || p.browser == "") {
		p.pending, p.why = browserReplaced, why
	}
	p.browser, p.acted = in.url, p.acted || acts
	if in.owner == ofWindow {
		p.window = in.window.Label()
	}
	if home {
		s.home = in.seat()
	}
	return p
}

// atHome is the seat of the last call that named no window, its window for people, and its browser;
// empty: the next such call chooses anew.
func (s *places) atHome() (home seat, window, browser string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.home == "" {
		return "", "", ""
	}
	p := s.all[s.home]
	return s.home, p.window, p.browser
}

// rename gives the place of a seat, which is home, to another seat.
func (s *places) rename(from, to seat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.home == from {
		s.all[to], s.home = s.all[from], to
		delete(s.all, from)
	}
}

// abandoned notes that this program has ended the browser without a window, and not behind the agent's back.
func (s *places) abandoned() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.all[ownSeat]; p != nil {
		p.browser = ""
	}
}

// leave forgets the place of a seat, whose browser has gone for good. It reports whether calls without a
// window went there: the agent must be told, and only one of several callers gets true.
func (s *places) leave(from seat) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.all[from]; p != nil {
		p.forget()
		delete(s.all, from)
	}
	if s.home != from {
		return false
	}
	s.home = ""
	return true
}

// releaseAll gives all tabs to other agents. The next call still knows in which tab the agent worked.
func (s *places) releaseAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.all {
		p.releaseClaims()
	}
	s.moved("")
}

// end is releaseAll at the end of the session.
func (s *places) end() {
	s.releaseAll()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.idle != nil {
		s.idle.Stop()
	}
}

// forget makes p one in which the agent has never worked. places.mu is held.
func (p *place) forget() {
	p.releaseClaims()
	*p = place{places: p.places, opened: map[string]origin{}, openers: map[string]string{}, claims: map[string]func(){}}
}

// hasActed reports whether an action has begun in the browser at a URL.
func (p *place) hasActed(url string) bool {
	p.places.mu.Lock()
	defer p.places.mu.Unlock()
	return p.acted && p.browser == url
}

// lastBrowser is the CDP URL of the browser in which the agent has worked; empty: none.
func (p *place) lastBrowser() string {
	p.places.mu.Lock()
	defer p.places.mu.Unlock()
	return p.browser
}

// current is the tab that the agent works in; empty: none.
func (p *place) current() string {
	p.places.mu.Lock()
	defer p.places.mu.Unlock()
	return p.tab
}

// isNew reports whether the agent has never worked in this browser.
func (p *place) isNew() bool {
	p.places.mu.Lock()
	defer p.places.mu.Unlock()
	return p.tab == "" && p.pending != tabClosed
}

// begin makes the tab that the user sees the one that the agent works in, if it has none.
func (p *place) begin(tab string) {
	p.places.mu.Lock()
	defer p.places.mu.Unlock()
	if p.tab == "" && p.pending != tabClosed {
		p.tab = tab
	}
}

// tabs are those of a browser.
type tabs interface {
	// InFront is the one that the user sees; empty: there is none.
	InFront(ctx context.Context) (id string, err error)
	Pages(ctx context.Context) ([]page.Info, error)
	// Page attaches to a tab.
	Page(ctx context.Context, id string) (*page.Page, error)
}

// told is what a call does, and what the agent is told, with why: see [response].
type told struct {
	response
	why string
}

// choose chooses the tab in which a call works: at the agent's first call in a browser the one that the
// user sees, and then the same, whichever tab the user selects later. It is claimed if no other agent
// works there. Empty: the call opens one, unless it is refused.
func (p *place) choose(ctx context.Context, in tabs, n need) (tab string, what told, err error) {
	if p.isNew() {
		front, err := in.InFront(ctx)
		switch {
		case err != nil:
			return "", what, err
		case front == "" && n == toOpen:
			return "", what, nil
		case front == "":
			return "", what, errNoTab
		}
		p.begin(front)
	}
	tab, what, err = p.next(n)
	if err != nil || tab == "" {
		return tab, what, err
	}
	if _, err := in.Page(ctx, tab); err != nil {
		pages, listErr := in.Pages(ctx)
		if listErr != nil || find(pages, tab) != nil {
			return "", what, err // it still exists, as far as is known
		}
		p.closed(tab, pages)
		return p.choose(ctx, in, n)
	}
	return tab, what, nil
}

// next is the tab in which the agent works, and what the next call does there.
func (p *place) next(n need) (tab string, what told, err error) {
	p.places.mu.Lock()
	defer p.places.mu.Unlock()
	if p.tab != "" {
		err := p.claimTab(p.tab)
		taken, isTaken := errors.AsType[*claim.TakenError](err)
		switch {
		case isTaken:
			p.pending, p.why = tabTaken, taken.Owner
		case err != nil:
			return "", what, err
		case p.pending == tabTaken:
			p.pending = nothing // the other agent has left
		}
	}
	t := transitions[p.pending]
	what = told{t.response(n), p.why}
	if !t.lasts {
		p.pending = nothing
	}
	if p.pending == tabTaken && what.does == tell {
		if p.shared == p.tab {
			what = told{}
		}
		p.shared = p.tab
	}
	if p.claims[p.tab] != nil {
		p.places.moved(p.tab)
	}
	return p.tab, what, nil
}

// claimTab keeps other agents out of a tab. places.mu is held.
func (p *place) claimTab(tab string) error {
	s := p.places
	if s.idle == nil {
		s.idle = time.AfterFunc(claimIdle, s.idled)
	} else {
		s.idle.Reset(claimIdle)
	}
	if p.claims[tab] != nil {
		return nil
	}
	release, err := s.claim(tab)
	if err == nil {
		p.claims[tab] = release
	}
	return err
}

// release gives a tab to other agents. places.mu is held.
func (p *place) release(tab string) {
	if release := p.claims[tab]; release != nil {
		release()
		delete(p.claims, tab)
	}
}

// releaseClaims gives all tabs to other agents. places.mu is held.
func (p *place) releaseClaims() {
	for tab := range p.claims {
		p.release(tab)
	}
}

// alsoClaim keeps other agents out of a tab besides the one that the agent works in.
func (p *place) alsoClaim(tab string) error {
	p.places.mu.Lock()
	defer p.places.mu.Unlock()
	return p.claimTab(tab)
}

// moveTo makes a tab the one that the agent works in, and opener the one to go back to; empty: as before.
// With an error, which is ErrTaken if another agent works there, the place stays as it is.
func (p *place) moveTo(tab, opener string) error {
	p.places.mu.Lock()
	defer p.places.mu.Unlock()
	return p.move(tab, opener)
}

// open is moveTo for a tab that the agent has opened for itself.
func (p *place) open(tab string) error {
	p.places.mu.Lock()
	defer p.places.mu.Unlock()
	err := p.move(tab, p.tab)
	if err == nil {
		p.opened[tab] = forItself
	}
	return err
}

// move is moveTo with places.mu held.
func (p *place) move(tab, opener string) error {
	if err := p.claimTab(tab); err != nil {
		return err
	}
	if p.openers[tab] == "" {
		p.openers[tab] = opener
	}
	if p.tab != tab {
		p.release(p.tab)
	}
	p.tab, p.pending = tab, nothing
	p.places.moved(tab)
	return nil
}

// adopt records tabs that an action of the agent has opened in a page.
func (p *place) adopt(tabs []page.Info, opener string) {
	p.places.mu.Lock()
	defer p.places.mu.Unlock()
	for _, tab := range tabs {
		p.opened[tab.ID] = max(byThePage, p.opened[opener])
		p.openers[tab.ID] = opener
	}
}

// hasOpened reports whether the agent has opened a tab.
func (p *place) hasOpened(tab string) bool {
	p.places.mu.Lock()
	defer p.places.mu.Unlock()
	return p.opened[tab] != 0
}

// owns reports whether a tab of the browser at a URL is one that the agent works in or has opened: what it
// sets for its tabs applies there.
func (p *place) owns(browser, tab string) bool {
	p.places.mu.Lock()
	defer p.places.mu.Unlock()
	return p.browser == browser && (p.opened[tab] != 0 || p.claims[tab] != nil)
}

// openedForItself are the tabs that end with the session.
func (p *place) openedForItself() (tabs []string) {
	p.places.mu.Lock()
	defer p.places.mu.Unlock()
	for tab, origin := range p.opened {
		if origin == forItself {
			tabs = append(tabs, tab)
		}
	}
	return tabs
}

// closed records that a tab has closed. If the agent worked there, it works from now on in the opener, if
// that is one of the present tabs and no other agent works there. Else it works in none, and closed
// returns nil.
func (p *place) closed(tab string, present []page.Info) (opener *page.Info) {
	p.places.mu.Lock()
	defer p.places.mu.Unlock()
	former := find(present, p.openers[tab])
	delete(p.opened, tab)
	delete(p.openers, tab)
	p.release(tab)
	if p.tab != tab {
		return nil
	}
	p.tab, p.pending = "", tabClosed
	if former != nil && p.claimTab(former.ID) == nil {
		p.tab, p.pending = former.ID, openerLeft
		opener = former
	}
	p.places.moved(p.tab)
	return opener
}

// tellReplaced is what an agent is told that lists, opens or selects tabs of another browser than that of its
// last answer; empty: it is the same one. It is told once.
func (p *place) tellReplaced() string {
	p.places.mu.Lock()
	defer p.places.mu.Unlock()
	if p.pending != browserReplaced {
		return ""
	}
	what := told{transitions[browserReplaced].open, p.why}
	p.pending = nothing
	return what.text("", nil)
}

// tellLeft is what an agent is told that lists the tabs after its own has closed, and that works in the one that opened
// it; empty: its tab is open. It is told once.
func (p *place) tellLeft() (what told) {
	p.places.mu.Lock()
	defer p.places.mu.Unlock()
	if p.pending == openerLeft {
		what, p.pending = told{transitions[openerLeft].read, p.why}, nothing
	}
	return what
}

// reported drops what is pending: the answer to this call has it already.
func (p *place) reported() {
	p.places.mu.Lock()
	defer p.places.mu.Unlock()
	if !transitions[p.pending].lasts {
		p.pending = nothing
	}
}
