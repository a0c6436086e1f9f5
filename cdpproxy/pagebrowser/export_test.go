package pagebrowser

// Undos lists what is sent to take back each command.
func Undos() map[string][2]string {
	all := map[string][2]string{}
	for method, u := range undos {
		if name := apart[method]; name != "" {
			continue // it needs to know of what
		}
		params := string(u.params)
		if params == "" {
			params = "{}"
		}
		all[method] = [2]string{u.method, params}
	}
	return all
}

// UndoOf is what takes back a command.
func UndoOf(method, params string) (undoing, with string) {
	u, _ := undoOf(command{Method: method, Params: []byte(params)})
	if with = string(u.params); with == "" {
		with = "{}"
	}
	return u.method, with
}
