package virtual

import (
	"context"
	"errors"
	"sync"

	"browser-coordinator/internal/notify"
)

var errFull = errors.New("the reader is too slow")

// queue holds the messages for a socket in order. put never blocks, so that the
// reader of the other side can always continue.
type queue struct {
	limit int // bytes

	mu       sync.Mutex // guards the fields that follow
	waiting  [][]byte
	size     int              // bytes in waiting and in the batch that was taken
	taken    int              // bytes in the batch that was taken
	came     notify.Broadcast // of waiting and finished
	left     notify.Broadcast // signals that there is more room
	finished bool             // take ends once the queue is empty
}

func newQueue(limit int) *queue {
	return &queue{limit: limit}
}

func (q *queue) put(message []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	// An empty queue takes a single message of any size: it is in memory already.
	if q.size > 0 && q.size+len(message) > q.limit {
		return errFull
	}
	q.waiting = append(q.waiting, message)
	q.size += len(message)
	q.came.Notify()
	return nil
}

// take waits for messages and takes them all; nil after finish or the end of ctx.
func (q *queue) take(ctx context.Context) [][]byte {
	for {
		q.mu.Lock()
		if q.taken > 0 {
			q.size -= q.taken
			q.taken = 0
			q.left.Notify()
		}
		batch, came, finished := q.waiting, q.came.Next(), q.finished
		q.waiting = nil
		if len(batch) > 0 {
			q.taken = q.size
		}
		q.mu.Unlock()
		if len(batch) > 0 || finished {
			return batch
		}
		select {
		case <-came:
		case <-ctx.Done():
			return nil
		}
	}
}

// finish makes take end when the queue is empty.
func (q *queue) finish() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.finished = true
	q.came.Notify()
}

// room waits until fewer than the given bytes wait.
func (q *queue) room(ctx context.Context, bytes int) error {
	for {
		q.mu.Lock()
		size, left := q.size, q.left.Next()
		q.mu.Unlock()
		if size < bytes {
			return nil
		}
		select {
		case <-left:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
