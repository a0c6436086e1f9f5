package devtools

import "sync"

// Queue holds the messages for a connection in order. Put never blocks, so that the
// other side is always drained.
type Queue struct {
	limit int // bytes

	mu       sync.Mutex // guards the fields that follow
	changed  sync.Cond
	waiting  [][]byte
	size     int // bytes in waiting and in the batch that is being written
	batch    int // bytes of that batch
	finished bool
}

// NewQueue returns a queue of at most that many bytes.
func NewQueue(limit int) *Queue {
	q := &Queue{limit: limit}
	q.changed.L = &q.mu
	return q
}

// Put reports whether there was room. An empty queue takes a single message of any
// size: it is in memory already.
func (q *Queue) Put(message []byte) bool {
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
	q.changed.Broadcast()
	return true
}

// Drain writes the messages in order, until the queue is finished and empty or a write
// fails.
func (q *Queue) Drain(write func(message []byte) error) error {
	var batch [][]byte
	for {
		if batch = q.take(batch); batch == nil {
			return nil
		}
		for _, message := range batch {
			if err := write(message); err != nil {
				return err
			}
		}
	}
}

// take waits for messages and takes them all, into the slice of the last batch. It
// returns nil once the queue is finished and empty.
func (q *Queue) take(last [][]byte) [][]byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.size -= q.batch
	q.batch = 0
	q.changed.Broadcast()
	for len(q.waiting) == 0 {
		if q.finished {
			return nil
		}
		q.changed.Wait()
	}
	clear(last)
	taken := q.waiting
	q.waiting, q.batch = last[:0], q.size
	return taken
}

// AwaitRoom waits until fewer bytes wait, or the queue is finished.
func (q *Queue) AwaitRoom(bytes int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.size >= bytes && !q.finished {
		q.changed.Wait()
	}
}

// Finish makes Drain end once the queue is empty; drop empties it at once.
func (q *Queue) Finish(drop bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.finished = true
	if drop {
		q.waiting = nil
	}
	q.changed.Broadcast()
}
