// Command findbrowser prints the browser that the tests use: the one that the coordinator
// would launch. Its exit code is 1 if there is none.
package main

import (
	"fmt"
	"os"

	"browser-coordinator/coordinator/chrome"
)

func main() {
	found, err := chrome.Find(chrome.FindOptions{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(found)
}
