package page

import (
	"embed"
	"strings"
	"sync"
)

//go:embed script
var scripts embed.FS

// library defines our functions in an isolated world, one for each file in
// script. They are defined once for each document, so that the browser compiles
// and optimizes them once and a call is small. It is put together at the first
// use: many coordinators wait for their first call for long, and many in vain.
var library = sync.OnceValue(makeLibrary)

func makeLibrary() string {
	files, err := scripts.ReadDir("script")
	if err != nil {
		panic(err) // they are in the binary
	}
	var b strings.Builder
	b.WriteString("globalThis.library ??= {\n")
	for _, f := range files {
		body, err := scripts.ReadFile("script/" + f.Name())
		if err != nil {
			panic(err)
		}
		b.WriteString(strings.TrimSuffix(f.Name(), ".js") + ": " + strings.TrimSpace(string(body)) + ",\n")
	}
	b.WriteString("}; 0")
	return b.String()
}

// libraryCall is the declaration that calls a function of the library.
func libraryCall(name string) string {
	return "function (argument) { return library." + name + ".call(this, argument) }"
}
