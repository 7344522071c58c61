package globals

import (
	"os"
	"runtime/debug"
	"sync"
)

// startGCPercent lets the heap grow while the server is built: nearly all that
// is allocated then stays, and collecting it again and again took a fifth of
// the time to ready.
const startGCPercent = 800

// EagerStart makes the garbage collector wait while the server starts. The
// returned function ends that, once, and gives the memory that is not used back
// to the system, in the background. GOGC in the environment is respected:
// nothing is changed then.
func EagerStart() (done func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(startGCPercent)
	return sync.OnceFunc(func() {
		debug.SetGCPercent(before)
		go debug.FreeOSMemory()
	})
}
