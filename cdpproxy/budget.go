package cdpproxy

import (
	"fmt"

	"browser-coordinator/internal/queue"
)

// memoryLimit bounds what all endpoints of this process buffer for their clients:
// unfinished messages, what a client does not read, and what a tap has not read.
const memoryLimit = 512 << 20

// processMemory is the budget of the whole process. What does not fit is refused at once.
var processMemory = queue.NewBudget(memoryLimit)

// exhausted ends a client whose message gets no memory.
func exhausted(memory *queue.Budget) ending {
	return ending{closeTryLater, fmt.Sprintf("the endpoint's %d MB for messages are used up by its clients; connect "+
		"again later", memory.Limit()>>20)}
}
