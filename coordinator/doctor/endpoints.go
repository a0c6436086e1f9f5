package doctor

import (
	"context"
	"errors"
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
	{"endpoints", endpointGroup, "who serves each window's CDP address, and whether its port is free", checkEndpoints},
}

func checkEndpoints(ctx context.Context, x *examination) []Finding {
	known, err := endpoint.List()
	if err != nil {
		return []Finding{unknown("the state of the endpoints cannot be read: %v.", err)}
	}
	open := map[string]string{} // the workspace of each open window, by its hash
	for _, v := range x.windows() {
		if v.Verdict == vscodeipc.Live && v.Hello.Workspace != "" {
			open[vscodeipc.Hash(v.Hello.Workspace)] = v.Hello.Workspace
		}
	}
	each := make([][]Finding, len(known))
	var running sync.WaitGroup
	for i, k := range known {
		running.Go(func() { each[i] = checkEndpoint(ctx, k, open[k.Hash] != "") })
	}
	running.Wait()
	found := slices.Concat(each...)
	for _, k := range known {
		delete(open, k.Hash)
	}
	for _, hash := range slices.Sorted(maps.Keys(open)) { // never served
		found = append(found, ok("%s has the address %s, and no coordinator serves it now.", open[hash],
			endpoint.URL(hash)))
	}
	if len(found) == 0 {
		found = append(found, ok("No open window has an address yet."))
	}
	return found
}

// checkEndpoint examines what is known for one endpoint. There is nothing to report of a
// folder without a window, as long as its port is free.
func checkEndpoint(ctx context.Context, k endpoint.Entry, isOpen bool) []Finding {
	label := k.Workspace
	if label == "" {
		label = "window " + k.Hash
	}
	port := k.Port
	owner, err := endpoint.ReadStatus(ctx, k.Hash)
	switch {
	case err == nil:
		return []Finding{ok("%s has port %d, served by %s (pid %d).", label, owner.Port, owner.Program, owner.PID)}
	case !errors.Is(err, endpoint.ErrNotServed):
		return []Finding{finding(Problem, "end that program and start it again; "+listener(port),
			"%s is served by a coordinator that does not respond at port %d.", label, port)}
	case k.IsOrphan():
		f := finding(Warning, "coordinator doctor --fix; if the folder is on a disk that is not mounted, mount it "+
			"first, or its address changes",
			"The port and the token of a folder that no longer exists are kept: %s.", label)
		f.repair = func(context.Context) (string, error) { return forget(k) }
		return []Finding{f}
	case port != 0 && endpoint.PortInUse(ctx, k.Hash, port):
		return []Finding{finding(Problem,
			fmt.Sprintf("end that program (%s), or give your clients the new address, which `coordinator endpoint "+
				"--workspace %s` prints once a coordinator serves it", listener(port), terminal.Word(k.Workspace)),
			"Port %d of %s is taken by another program: clients of this address reach that program.", port, label)}
	case isOpen:
		return []Finding{ok("%s has port %d, and no coordinator serves it now.", label, port)}
	}
	return nil
}

// forget removes the state of a folder, unless a coordinator has begun to serve it.
func forget(k endpoint.Entry) (string, error) {
	served, err := k.Remove()
	if served || err != nil {
		return "", err
	}
	return fmt.Sprintf("Removed the port and the token of %s, which no longer exists.", k.Workspace), nil
}

// listener is the command that shows which program listens on a port.
func listener(port int) string {
	if strings.HasPrefix(system, "windows/") {
		return fmt.Sprintf("`netstat -ano | findstr :%d` shows its process", port)
	}
	return fmt.Sprintf("`lsof -i :%d` shows it", port)
}
