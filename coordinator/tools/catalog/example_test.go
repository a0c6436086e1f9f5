package catalog_test

import (
	"encoding/json"
	"fmt"
	"reflect"

	"browser-coordinator/coordinator/tools/catalog"
)

// The parameters of a tool are derived from a struct, and arguments that models write are
// brought into its form.
func Example() {
	type clickIn struct {
		Target string `json:"target" about:"ref or selector"`
		Count  int    `json:"count,omitempty"`
		Button string `json:"button,omitempty" oneof:"left right"`
	}
	parameters := catalog.Describe(reflect.TypeFor[clickIn]())
	schema, err := json.MarshalIndent(parameters.Member("target"), "", " ")
	fmt.Println(string(schema), err)

	argument, descriptions, err := parameters.Fit("click", json.RawMessage(
		`{"ref": "e3", "element": "the order button", "count": "2"}`))
	fmt.Println(string(argument), descriptions, err)
	for _, arguments := range []string{`{"target": "e3", "button": "middle"}`, `{"count": 2}`, `{"targets": "e3"}`} {
		_, _, err := parameters.Fit("click", json.RawMessage(arguments))
		fmt.Println(err)
	}
	// Output:
	// {
	//  "description": "ref or selector",
	//  "type": "string"
	// } <nil>
	// {"count":2,"target":"e3"} [the order button] <nil>
	// button "middle": want one of left, right
	// click needs target (ref or selector)
	// click has no parameter "targets"; give target. It has button, count, target
}
