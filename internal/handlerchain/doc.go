// Package handlerchain is the chain of filters that every request of the server
// passes before it reaches the layers, as one ordered table, outermost first.
//
// The filters are upstream's, in upstream's order, under the same options and
// feature gates; [Filters] lists all of them, also those that are off, with the
// reason. A test parses the pinned source of upstream's builder and compares, so
// that an upgrade cannot pass unseen.
//
// A [Chain] puts one probe around every filter that is on. The probes measure each
// filter's own time, count what it passed on and what it ended with which status,
// and report every request to one [Observer]. They never change what a client
// gets: no header, no status, no byte.
//
// The package does not keep requests, does not know what is shown of them, and
// registers no metrics beside upstream's. It imports k8s.io/apiserver, the
// standard library and internal/histogram.
//
// # What ended a request
//
// Probe i stands in front of filter i, the last probe in front of the handler
// behind the chain. When a probe is left, it looks at the one behind it. Filter i
// claims the request when it returned although the next probe
//
//   - was not entered (authentication answers 401),
//   - panicked (panic-recovery),
//   - had not returned by then, or only after its writer had been cut off (timeout),
//   - returned without an answer, and there is one now;
//
// or when it panicked, and the answer was begun between the next probe's panic and
// its own: panic-recovery writes 500 and then lets the panic go on to net/http.
// Of several claims the outermost counts, as that filter has the last word. A claim
// further in than where a panic began counts nothing: what was answered there was cut
// off. Without a claim the handler behind the chain answered, or, when a panic left
// the chain, nobody: the connection is aborted. So it is when the time of a request
// is over after its answer was begun.
//
// At rest every filter that is on has Requests = PassedOn + sum(Terminated) +
// Abandoned, exactly. Abandoned are the requests that were here, or further in,
// when a filter further out ended them, or when the connection was aborted.
package handlerchain
