// Package queue has the bounded queue of a reader that may be slow. Whoever fills it never
// waits for the reader.
package queue

import "slices"

// Queue holds what waits for its one reader. The mutex of the state that it belongs to
// guards it; only Ready needs none.
type Queue[T any] struct {
	limit    int
	memory   *Budget // nil: only the limit counts
	cost     func(T) int
	ready    chan struct{}
	waiting  []T
	size     int // of waiting, and of what was taken last
	reserved int // of the latter
}

// New returns an empty queue. Limit bounds its size, the sum of its values' costs, which
// also counts toward memory; nil: it does not.
func New[T any](limit int, memory *Budget, cost func(T) int) Queue[T] {
	return Queue[T]{limit: limit, memory: memory, cost: cost, ready: make(chan struct{}, 1)}
}

// Ready receives a value when the reader has something to do: Push or Wake was called.
func (q *Queue[T]) Ready() <-chan struct{} { return q.ready }

// Wake makes Ready receive a value.
func (q *Queue[T]) Wake() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// Size is the cost of what waits, and of what the reader has taken last.
func (q *Queue[T]) Size() int { return q.size }

// Fits reports whether there is room for n more. An empty queue takes a value of any size
// for which there is memory.
func (q *Queue[T]) Fits(n int) bool {
	return (q.size == 0 || q.size+n <= q.limit) && (q.memory == nil || q.memory.Has(n))
}

// Push appends a value, whether or not it fits.
func (q *Queue[T]) Push(v T) {
	q.waiting = append(q.waiting, v)
	q.count(q.cost(v))
	q.Wake()
}

// Take returns the next values: at least one, and more of them up to the given cost. None:
// the queue is empty. The reader has finished with those that it took before.
func (q *Queue[T]) Take(limit int) []T {
	q.count(-q.reserved)
	q.reserved = 0
	n := 0
	for ; n < len(q.waiting); n++ {
		cost := q.cost(q.waiting[n])
		if n > 0 && q.reserved+cost > limit {
			break
		}
		q.reserved += cost
	}
	batch := q.waiting[:n:n]
	if n == len(q.waiting) {
		q.waiting = nil
		return batch
	}
	batch = slices.Clone(batch)
	clear(q.waiting[:n]) // so that what the reader has finished with is freed
	q.waiting = q.waiting[n:]
	return batch
}

// Clear empties the queue. What was taken no longer counts.
func (q *Queue[T]) Clear() {
	q.count(-q.size)
	q.waiting, q.reserved = nil, 0
}

func (q *Queue[T]) count(n int) {
	q.size += n
	if q.memory != nil {
		q.memory.Add(n)
	}
}
