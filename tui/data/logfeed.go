package data

import "context"

// runLogs is run for the lines of the log.
func (f *feed) runLogs(ctx context.Context, from LogSource) {
	var next uint64
	for {
		lines, last, changed := from.Read(next)
		next = last
		f.lines(ctx, lines)
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func (f *feed) lines(ctx context.Context, lines []LogLine) {
	f.hub.lock.Lock()
	defer f.hub.lock.Unlock()
	if ctx.Err() != nil {
		return
	}
	f.at = f.hub.now()
	if f.state != Live {
		f.state = Live
		f.hub.changed()
	}
	for i := range lines {
		f.store.set(&lines[i])
		f.hub.options.Recorder.event(f.at, f.key, "ADDED", &lines[i])
		f.hub.changed()
	}
}
