// Package requests watches what happens to requests: it is the observer of the
// handler chain and of the hops between layers, counts who answered, and keeps the
// traces of the last requests, and those of slow and failed ones for longer.
//
// One [Observer] serves a chain. It is told of a request by the handler chain
// ([Observer.Begin], [Observer.End]), by the delegates in front of each layer
// ([Observer.Hop]), by priority and fairness ([Observer.FlowControl]), by admission
// ([Observer.Rejected]) and by the proxy to aggregated servers
// ([Observer.ObserveProxy]). Requests inside the process that did not come through
// the chain are not counted.
//
// At rest every layer has received = answered + passed on + abandoned, and all
// answers of layers, all ends by filters and the connections that were given up
// make up all requests. Both hold exactly.
//
// A trace is made of copies: it holds on to no request, context, header or TLS
// state, and to no memory of the URL that it came with. It never has a header but
// User-Agent and Audit-ID, no body, and of the query only parameters that are no
// secret. The package decides nothing and answers no request. It imports
// k8s.io/apiserver, internal/handlerchain, the store and the types.
package requests
