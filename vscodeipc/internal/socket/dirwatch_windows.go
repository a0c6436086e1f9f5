package socket

// watch polls: Go cannot wait for a new name in the pipe namespace.
func (w *DirWatcher) watch([]string) error {
	w.poll()
	return nil
}
