package virtual

// filter is Target.TargetFilter: the first entry that matches a type decides.
type filter []filterEntry

type filterEntry struct {
	Type    *string `json:"type"`
	Exclude bool    `json:"exclude"`
}

// defaultFilter is Chromium's: all but browsers and tabs.
var defaultFilter = filter{
	{Type: new("browser"), Exclude: true},
	{Type: new("tab"), Exclude: true},
	{},
}

func (f filter) matches(kind string) bool {
	for _, e := range f {
		if e.Type == nil || *e.Type == kind {
			return !e.Exclude
		}
	}
	return false
}

// or returns f, or other if the client gave no filter.
func (f filter) or(other filter) filter {
	if f == nil {
		return other
	}
	return f
}
