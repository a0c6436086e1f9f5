package sourcemap_test

import (
	"fmt"

	"browser-coordinator/coordinator/sourcemap"
)

// A bundle's first two lines were built from two files.
func Example() {
	const script = "const send=()=>1;\nsend();\n//# sourceMappingURL=app.js.map\n"
	const data = `{"version": 3, "sources": ["send.ts", "app.ts"], "mappings": "AAAA;ACEA"}`

	address := sourcemap.Reference(script, "http://localhost:3000/dist/app.js")
	m, err := sourcemap.Parse([]byte(data), address)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(address)
	for line := range 3 {
		position, found := m.Find(line+1, 1)
		fmt.Println(position.Source.URL, position.Line, position.Column, found)
	}
	// Output:
	// http://localhost:3000/dist/app.js.map
	// http://localhost:3000/dist/send.ts 1 1 true
	// http://localhost:3000/dist/app.ts 3 1 true
	//  0 0 false
}
