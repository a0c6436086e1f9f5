package browser

// Filter is Target.TargetFilter: the first entry that matches a type decides. An entry without a type
// matches each; cdproto's has no difference between that and an empty type, which matches none.
type Filter []struct {
	Type    *string `json:"type"`
	Exclude bool    `json:"exclude"`
}

// defaultFilter is Chromium's: all but browsers and tabs.
var defaultFilter = Filter{
	{Type: new("browser"), Exclude: true},
	{Type: new("tab"), Exclude: true},
	{},
}

// Matches reports whether the filter includes targets of a type; an empty one includes none.
func (f Filter) Matches(kind string) bool {
	for _, e := range f {
		if e.Type == nil || *e.Type == kind {
			return !e.Exclude
		}
	}
	return false
}

// OrDefault returns f, or Chromium's if the client gave no filter.
func (f Filter) OrDefault() Filter {
	if f == nil {
		return defaultFilter
	}
	return f
}
