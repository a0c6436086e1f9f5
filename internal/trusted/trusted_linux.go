package trusted

import (
	"os"
	"strings"
)

// overflowUID is the id that a user namespace shows for every user that it does not map.
const overflowUID = 65534

// isUnmapped reports whether a user is unknown in this namespace. In a sandbox the folders
// of the system, as /home, belong to such a user, who is root outside.
func isUnmapped(uid int) bool {
	if uid != overflowUID {
		return false
	}
	ranges, err := os.ReadFile("/proc/self/uid_map")
	return err == nil && strings.Join(strings.Fields(string(ranges)), " ") != "0 0 4294967295"
}
