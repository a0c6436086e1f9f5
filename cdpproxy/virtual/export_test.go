package virtual

// Resets lists the command and parameters that reset each setting.
func Resets() map[string][2]string {
	all := map[string][2]string{}
	for method, st := range settings().settings {
		if st.keyParameter == "" { // otherwise it depends on a parameter
			all[method] = [2]string{st.reset, string(orEmpty(st.params()))}
		}
	}
	return all
}

// ResetOf returns what resets the setting that a command changes.
func ResetOf(method, params string) (reset, with string) {
	st, _, _ := settingOf(command{Method: method, Params: []byte(params)})
	return st.reset, string(orEmpty(st.params()))
}

func orEmpty(params []byte) []byte {
	if len(params) == 0 {
		return empty
	}
	return params
}
