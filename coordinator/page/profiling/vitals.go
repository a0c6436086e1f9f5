package profiling

import _ "embed"

// Vitals are the Web Vitals of the document that a page shows, as its browser has recorded
// them. Times are in milliseconds, and count from the document's navigation; 0: none.
type Vitals struct {
	FCP, LCP, Load float64
	Largest        string  // what LCP is the paint of, for example H1 (text)
	CLS            float64 // of the worst session window
	Shifts         int     // layout shifts without recent input
	Interactions   int
	INP            float64    // 0: no interaction took 104 ms, which is the least that is recorded
	Input          string     // the event of INP, for example click
	Tasks          []LongTask // of the page's main thread, of more than 50 ms, in their order
}

// LongTask is a task that blocked the main thread, in milliseconds.
type LongTask struct{ Start, Duration float64 }

//go:embed vitals.js
var vitalsFunction string
