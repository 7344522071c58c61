package handlerchain

// stackRoom makes a stack of 16 KiB, the largest that the runtime keeps at hand for
// each processor, of one that is nearly empty.
const stackRoom = 10 << 10

// reserveStack grows the goroutine's stack at once, while there is little on it. A
// stack grows by copying it, frame by frame, to one of twice the size: a new
// goroutine on its way through some thirty filters would do that three times, each
// time with more frames. That costs several times what all probes do. With n = 0 the
// room is reserved and not touched; anything else is never passed.
//
//go:noinline
func reserveStack(n int) byte {
	if n == 0 {
		return 0
	}
	var room [stackRoom]byte
	for i := range n {
		room[i%stackRoom] = byte(i)
	}
	return room[n%stackRoom]
}
