package doctor

import (
	"context"
	"os"
	"runtime"
	"strings"
)

var machineChecks = []check{
	{"machine", "Machine", "on which machine the coordinator and the browser are", checkMachine},
}

// checkMachine describes where the coordinator runs. None of it is a problem.
func checkMachine(context.Context, *examination) []Finding {
	var found []Finding
	note := func(text string) { found = append(found, ok("%s", text)) }
	switch {
	case os.Getenv("CODESPACES") == "true":
		note("This is a GitHub Codespace: the coordinator and private browsers run in it. A debug browser of VS Code runs on your own machine, and agents reach its pages through the debugger.")
	case isWSL():
		note("This is WSL: the coordinator and private browsers run in Linux. A debug browser of VS Code runs in Windows, and agents reach its pages through the debugger.")
	case container() != "":
		note("This is a container (" + container() + "): the coordinator and private browsers run in it. A debug browser of a VS Code window that is attached to the container runs on your own machine, and agents reach its pages through the debugger. Only windows of this container are found.")
	}
	if os.Getenv("SSH_CONNECTION") != "" {
		note("You are connected by SSH: the coordinator and private browsers run on this machine. A debug browser of a VS Code Remote window runs on your own machine, and agents reach its pages through the debugger.")
	}
	if len(found) == 0 {
		note("The coordinator, the windows and their browsers run on this machine.")
	}
	return found
}

func isWSL() bool {
	if runtime.GOOS != "linux" {
		return false
	}
	release, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return strings.Contains(strings.ToLower(string(release)), "microsoft")
}

// container names the kind of container in which this program runs; empty: in none that
// is known.
func container() string {
	if runtime.GOOS != "linux" {
		return ""
	}
	for _, sign := range []struct{ file, kind string }{{"/.dockerenv", "Docker"}, {"/run/.containerenv", "Podman"}, {"/.flatpak-info", "Flatpak"}} {
		if _, err := os.Stat(sign.file); err == nil {
			return sign.kind
		}
	}
	if os.Getenv("KUBERNETES_SERVICE_HOST") != "" {
		return "Kubernetes"
	}
	return os.Getenv("container") // systemd's convention
}
