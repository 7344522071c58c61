// Package tui is the terminal UI: pages over the inspect API, drawn with Bubble
// Tea. It is a Kubernetes client and nothing else; which server it talks to, and
// with what credentials, is handed in. It may import the client and API packages,
// and no server package.
//
//	run.go       from options to a program on a terminal, and back
//	app.go       the model: messages in, one screen out
//	session.go   a server: its feeds, its client, connecting and connecting again
//	nav.go       where one is: the stack of pages and the history
//	screen.go    head, body, panel, foot
//	actions.go   the registry of everything that a key can do
//	commands.go  everything that can be typed after a colon
//	panel*.go    what opens at the bottom: prompt, palette, help, copy-as, confirm
//
// Nothing in Update or View does I/O: work that may wait is a command with a
// deadline, and its answer is dropped if what asked for it has gone.
package tui
