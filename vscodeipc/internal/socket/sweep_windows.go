package socket

import "context"

// IsRefused is false: a pipe without a process does not exist.
func IsRefused(error) bool { return false }

// RemoveStale has nothing to delete: pipes leave no files.
func RemoveStale(context.Context, []Address) (map[Address]error, error) { return nil, nil }
