package virtual

import "sync"

// queue holds the messages for a connection in order. Put never blocks, so that the
// other side is always drained.
type queue struct {
	limit int // bytes

	mu       sync.Mutex // guards the fields that follow
	changed  sync.Cond
	waiting  [][]byte
	size     int // bytes in waiting, and of the message that is being written
	finished bool
}

// newQueue returns a queue of at most that many bytes.
func newQueue(limit int) *queue {
	q := &queue{limit: limit}
	q.changed.L = &q.mu
	return q
}

// Put reports whether there was room. An empty queue takes a single message of any
// size: it is in memory already.
func (q *queue) Put(message []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.finished {
		return true // the connection is ending
	}
	if q.size > 0 && q.size+len(message) > q.limit {
		return false
	}
	q.waiting = append(q.waiting, message)
	q.size += len(message)
	q.changed.Signal()
	return true
}

// Drain writes the messages in order, until the queue is finished and empty or a write
// fails.
func (q *queue) Drain(write func(message []byte) error) error {
	var message []byte
	for {
		if message = q.next(len(message)); message == nil {
			return nil
		}
		if err := write(message); err != nil {
			return err
		}
	}
}

// next waits for the next message, after one of that size was written. It returns nil
// once the queue is finished and empty.
func (q *queue) next(written int) []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.size -= written
	for len(q.waiting) == 0 {
		if q.finished {
			return nil
		}
		q.changed.Wait()
	}
	message := q.waiting[0]
	q.waiting[0] = nil
	q.waiting = q.waiting[1:]
	return message
}

// Finish makes Drain end once the queue is empty; drop empties it at once.
func (q *queue) Finish(drop bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.finished = true
	if drop {
		q.waiting = nil
	}
	q.changed.Signal()
}
