package main

// task is something that a user asks of an agent, in an application of its own.
type task struct {
	name string
	// goal is the user's request. Address of the application, files and secrets that the
	// agent is given stand in the play-through.
	goal string
	// serve sets the application up. The check is of the application's state and of the
	// agent's report.
	serve func(s *site) (check func(report string) error)
	// A play-through returns the report. Peers is for both peers, and for the
	// coordinator where it has no better way.
	ours, peers func(p *player) (report string)
}

var tasks = []task{
	grid, form, shadow, payment, feed, board, files, login, seats, broken, projects, popup, editor, slow, trip,
}
