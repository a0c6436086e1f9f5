//go:build !linux

package chrome

import "os"

func enlarge(*os.File) {}
