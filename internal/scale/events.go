package main

import (
	"container/heap"
	"time"
)

// events is a queue of what happens next. Events of the same time happen in the order in
// which they were planned.
type events struct {
	now     time.Duration
	planned plan
	count   int
}

type event struct {
	at     time.Duration
	number int
	do     func()
}

// after plans an event.
func (e *events) after(d time.Duration, do func()) {
	e.count++
	heap.Push(&e.planned, event{e.now + d, e.count, do})
}

// next lets the next event happen, and reports whether there was one.
func (e *events) next() bool {
	if len(e.planned) == 0 {
		return false
	}
	first := heap.Pop(&e.planned).(event)
	e.now = first.at
	first.do()
	return true
}

type plan []event

func (p plan) Len() int      { return len(p) }
func (p plan) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p *plan) Push(x any)   { *p = append(*p, x.(event)) }
func (p plan) Less(i, j int) bool {
	return p[i].at < p[j].at || p[i].at == p[j].at && p[i].number < p[j].number
}
func (p *plan) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}
