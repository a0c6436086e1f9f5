// Command run starts a Selenium Grid with four slots, prints its address, and ends it with
// its standard input. It is for tests in other languages.
package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"browser-coordinator/internal/gridtest"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	grid, err := gridtest.New(gridtest.Options{MaxSessions: 4})
	if err != nil {
		return err
	}
	fmt.Println(grid.URL())
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, grid.Close())
}
