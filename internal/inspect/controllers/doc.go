// Package controllers adds to the controllers of the process what only the metrics
// of their work queues tell: how many keys wait, how often keys were put back, and
// whether a queue does not get shorter.
//
// It runs no controller and decides nothing about them. It keeps a sample of each
// queue, taken when somebody looks. It may import the inspect API, inspect/store and
// component-base's metrics.
package controllers
