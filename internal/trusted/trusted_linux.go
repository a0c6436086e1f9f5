package trusted

import (
	"os"
	"strings"
)

// nobody is the user without rights, and the number that a user namespace shows for every user
// that it does not map.
const nobody = 65534

// isUnmapped reports whether a user is unknown in this namespace. In a sandbox the folders
// of the system, as /home, belong to such a user, who is root outside.
func isUnmapped(uid int) bool {
	if uid != nobody {
		return false
	}
	ranges, err := os.ReadFile("/proc/self/uid_map")
	return err == nil && strings.Join(strings.Fields(string(ranges)), " ") != "0 0 4294967295"
}
