package vscodeipc

import (
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// resolve is step 1 of spec 1. The system itself tells the final name of an
// opened file: absolute, without links, in the case that it has on disk.
func resolve(path string) (string, error) {
	if path == "" {
		return "", errEmpty
	}
	if strings.ContainsRune(path, 0) {
		return "", errNUL
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	name, err := windows.UTF16PtrFromString(abs)
	if err != nil {
		return "", err
	}
	// FILE_FLAG_BACKUP_SEMANTICS is what opens a directory; no access right is
	// asked for, so that a locked file has a name too.
	handle, err := windows.CreateFile(name, 0,
		windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE,
		nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return "", fmt.Errorf("open %s: %w", abs, err)
	}
	defer windows.CloseHandle(handle)
	buffer := make([]uint16, 512)
	for {
		n, err := windows.GetFinalPathNameByHandle(handle, &buffer[0], uint32(len(buffer)), 0)
		if err != nil {
			return "", fmt.Errorf("ask for the final name of %s: %w", abs, err)
		}
		if int(n) < len(buffer) {
			return windows.UTF16ToString(buffer[:n]), nil
		}
		buffer = make([]uint16, n+1)
	}
}
