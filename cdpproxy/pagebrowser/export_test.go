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
