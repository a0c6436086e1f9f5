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
func checkMachine(context.Context, *examination) (found []Finding) {
	const through = "runs %s, and agents reach its pages through the debugger."
	switch {
	case os.Getenv("CODESPACES") == "true":
		found = append(found, ok("This is a GitHub Codespace: the coordinator and private browsers run in it. A debug "+
			"browser of VS Code "+through, "on your own machine"))
	case isWSL():
		found = append(found, ok("This is WSL: the coordinator and private browsers run in Linux. A debug browser of "+
			"VS Code "+through, "in Windows"))
	case container() != "":
		found = append(found, ok("This is a container (%s): the coordinator and private browsers run in it, and only "+
			"windows of it are found. A debug browser of a VS Code window that is attached to it "+through, container(),
			"on your own machine"))
	}
	if os.Getenv("SSH_CONNECTION") != "" {
		found = append(found, ok("You are connected by SSH: the coordinator and private browsers run on this machine. "+
			"A debug browser of a VS Code Remote window "+through, "on your own machine"))
	}
	if len(found) == 0 {
		found = append(found, ok("The coordinator, the windows and their browsers run on this machine."))
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
	for _, sign := range []struct{ file, kind string }{
		{"/.dockerenv", "Docker"}, {"/run/.containerenv", "Podman"}, {"/.flatpak-info", "Flatpak"},
	} {
		if _, err := os.Stat(sign.file); err == nil {
			return sign.kind
		}
	}
	if os.Getenv("KUBERNETES_SERVICE_HOST") != "" {
		return "Kubernetes"
	}
	return os.Getenv("container") // systemd's convention
}
