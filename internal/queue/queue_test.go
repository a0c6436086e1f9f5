package queue

import (
	"slices"
	"testing"
)

// TestQueue: what the reader has taken counts until it takes the next values, and an empty
// queue takes a value of any size for which there is memory.
func TestQueue(t *testing.T) {
	memory := NewBudget(100)
	q := New(10, memory, func(n int) int { return n })
	if !q.Fits(100) || q.Fits(101) {
		t.Error("an empty queue goes by its limit, or beyond the memory")
	}
	for _, n := range []int{4, 3, 3} {
		if !q.Fits(n) {
			t.Fatalf("no room for %d", n)
		}
		q.Push(n)
	}
	if got := q.Take(7); !slices.Equal(got, []int{4, 3}) {
		t.Errorf("took %v", got)
	}
	if q.Fits(1) || q.Size() != 10 || memory.Used() != 10 {
		t.Errorf("size %d, memory %d: what is being handled does not count", q.Size(), memory.Used())
	}
	if got := q.Take(1); !slices.Equal(got, []int{3}) || q.Size() != 3 || memory.Used() != 3 {
		t.Errorf("took %v of more than its cost, size %d, memory %d", got, q.Size(), memory.Used())
	}
	q.Push(50)
	q.Clear()
	if got := q.Take(7); got != nil || q.Size() != 0 || memory.Used() != 0 {
		t.Errorf("took %v, size %d, memory %d after Clear", got, q.Size(), memory.Used())
	}
	select {
	case <-q.Ready():
	default:
		t.Error("the reader was not woken")
	}
	select {
	case <-q.Ready():
		t.Error("the reader was woken twice")
	default:
	}
}
