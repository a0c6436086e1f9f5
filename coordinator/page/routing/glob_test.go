package routing

import "testing"

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, url string
		want         bool
	}{
		{"**/api/users", "http://localhost:3000/api/users", true},
		{"**/api/users", "http://localhost:3000/api/users?page=2", false},
		{"**/api/users**", "http://localhost:3000/api/users?page=2", true},
		{"**/*.{png,jpg}", "http://a/b/c.jpg", true},
		{"**/*.{png,jpg}", "http://a/b/c.gif", false},
		{"http://a/*", "http://a/b", true},
		{"http://a/*", "http://a/b/c", false},
		{"/api/*", "https://any.where:8443/api/x", true},
		{"/api/*", "https://any.where/v1/api/x", false},
		{"**/a?b", "http://x/a?b", true},
		{"**/a?b", "http://x/acb", false},
		{`**/\*`, "http://x/*", true},
		{`**/\*`, "http://x/y", false},
		{"**", "data:text/plain,x", true},
		{"**/a.b", "http://x/aXb", false},
	} {
		compiled, err := glob(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if compiled.MatchString(c.url) != c.want {
			t.Errorf("%s and %s: %v", c.pattern, c.url, !c.want)
		}
	}
	if _, err := glob("{a,b"); err == nil {
		t.Error("an open brace is accepted")
	}
}
