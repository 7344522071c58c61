//go:build !linux

package boot

import "time"

// ProcessStart returns when the process began, and the zero time where the system
// does not say.
func ProcessStart() time.Time { return time.Time{} }
