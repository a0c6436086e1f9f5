package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"browser-coordinator/coordinator/endpoint"
	"browser-coordinator/coordinator/terminal"
	"browser-coordinator/vscodeipc"
)

const endpointGroup = "Endpoints"

var endpointChecks = []check{
	{"endpoints", endpointGroup, "who serves each window's CDP address", checkEndpoints},
	{"ports", endpointGroup, "the ports of these addresses", checkPorts},
	{"folders", endpointGroup, "the state of folders that no longer exist", checkFolders},
}

// keptEndpoint is what is kept for one endpoint, and its state.
type keptEndpoint struct {
	endpoint.Kept
	endpoint.Condition
	owner string // who serves it, for the user; empty: nobody does
	err   error
}

func (e keptEndpoint) label() string {
	if e.Workspace == "" {
		return "window " + e.Hash
	}
	return e.Workspace
}

// examineEndpoints examines every endpoint that is kept.
func examineEndpoints(ctx context.Context) ([]keptEndpoint, error) {
	kept, err := endpoint.List()
	if err != nil {
		return nil, err
	}
	all := make([]keptEndpoint, len(kept))
	var running sync.WaitGroup
	for i, k := range kept {
		running.Go(func() {
			all[i].Kept = k
			all[i].Condition, all[i].err = k.Condition(ctx)
			if all[i].Served {
				all[i].owner = ownerOf(all[i])
			}
		})
	}
	running.Wait()
	return all, nil
}

// ownerOf names the program that serves an endpoint: as it reports itself, or as the
// system knows it.
func ownerOf(e keptEndpoint) string {
	if s := e.Owner; s != nil {
		return fmt.Sprintf("%s (pid %d)%s", s.Program, s.PID, startedBy(s.PID))
	}
	return holderOf(e.Lock)
}

func checkEndpoints(_ context.Context, x *examination) []Finding {
	kept, err := x.endpoints()
	if err != nil {
		return []Finding{unknown("the state of the endpoints cannot be read: %v.", err)}
	}
	var found []Finding
	open := map[string]string{} // the label of each open window, by its hash
	for _, v := range x.windows() {
		if v.Verdict == vscodeipc.Live && v.Hello.Workspace != nil {
			open[vscodeipc.Hash(*v.Hello.Workspace)] = *v.Hello.Workspace
		}
	}
	idle := 0
	for _, e := range kept {
		_, isOpen := open[e.Hash]
		delete(open, e.Hash)
		switch {
		case e.err != nil:
			found = append(found, unknown("the endpoint of %s: %v.", e.label(), e.err))
		case e.Owner != nil:
			found = append(found, ok("%s has port %d, served by %s.", e.label(), e.Port, e.owner))
		case e.Served:
			found = append(found, finding(Problem, "end that program and start it again",
				"%s is served by %s, but that does not respond at port %d.", e.label(), e.owner, e.Port))
		case isOpen:
			found = append(found, ok("%s has port %d, and no coordinator serves it now.", e.label(), e.Port))
		default:
			idle++
		}
	}
	for _, hash := range slices.Sorted(maps.Keys(open)) { // never served
		found = append(found, ok("%s has the address %s, and no coordinator serves it now.", open[hash], endpoint.URL(hash)))
	}
	if idle > 0 {
		found = append(found, ok("%s an address without a window, and no coordinator serves it now.", terminal.Count(idle, "folder has", "folders have")))
	}
	if len(found) == 0 {
		found = append(found, ok("No folder has an address yet."))
	}
	return found
}

func checkPorts(_ context.Context, x *examination) []Finding {
	kept, err := x.endpoints()
	if err != nil {
		return []Finding{unknown("the state of the endpoints cannot be read: %v.", err)}
	}
	var found []Finding
	owners := map[int]string{}
	for _, e := range kept {
		if e.err != nil || e.Port == 0 {
			continue
		}
		if other := owners[e.Port]; other != "" {
			found = append(found, finding(Problem, "coordinator endpoint --workspace "+terminal.Word(e.Workspace)+" prints the address that clients must use while both are served",
				"Port %d is kept for both %s and %s, and only one of them can have it.", e.Port, other, e.label()))
		}
		owners[e.Port] = e.label()
		if e.Taken {
			found = append(found, finding(Problem,
				fmt.Sprintf("end that program, or give your clients the new address, which `coordinator endpoint --workspace %s` prints once a coordinator serves it", terminal.Word(e.Workspace)),
				"Port %d of %s is taken by %s: clients of this address reach that program.", e.Port, e.label(), listenerAt(e.Port)))
		}
	}
	if len(found) == 0 {
		found = append(found, ok("No other program listens on a port that is kept for a folder."))
	}
	return found
}

func checkFolders(_ context.Context, x *examination) []Finding {
	kept, err := x.endpoints()
	if err != nil {
		return []Finding{unknown("the state of the endpoints cannot be read: %v.", err)}
	}
	var names []string
	for _, e := range kept {
		if e.Gone() && !e.Served {
			names = append(names, e.Workspace)
		}
	}
	if len(names) == 0 {
		return []Finding{ok("No state is kept for a folder that no longer exists.")}
	}
	// No repair: the disk of a folder may not be mounted, and its address would change.
	return []Finding{finding(Warning, "coordinator clean", "The port and the token of %s are kept: %s.",
		terminal.Count(len(names), "folder that no longer exists", "folders that no longer exist"), strings.Join(names, ", "))}
}
