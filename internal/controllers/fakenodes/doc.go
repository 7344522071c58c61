// Package fakenodes makes nodes without machines: they are Ready, and pods that
// are bound to them go through the life that a kubelet would report, by the rules
// below. Nothing is pulled, started or reachable.
//
// It is a client of the API and acts as the nodes do, so that the Node authorizer
// and the NodeRestriction plugin see what they see of a kubelet. It schedules
// nothing. It may import client-go, near and fault.
//
// # Rules
//
// Nodes
//
//	| what                | rule                                                                      |
//	| ------------------- | ------------------------------------------------------------------------- |
//	| names               | kapi-node-1 to kapi-node-N, labelled kapi.dev/fake-node=true              |
//	| room                | 8 CPUs, 32Gi of memory, 100Gi of ephemeral storage, 110 pods              |
//	| alive               | the lease is renewed every 10 s, the status every 5 min                   |
//	| taints              | not-ready, unreachable, and unschedulable of a node that is not cordoned, |
//	|                     | are taken off at once: controller nodelifecycle may be off                |
//	| node deleted        | comes back, as a new one, within 10 s; its pods go on                     |
//	| N is smaller now    | nodes with the label and a higher number go, and the pods on them         |
//	| logs, exec, proxy   | refused: the nodes have no address                                        |
//	| taint NoExecute     | evicts nothing by itself: that is controller taint-eviction               |
//
// Pods
//
//	| what                | rule                                                                      |
//	| ------------------- | ------------------------------------------------------------------------- |
//	| image               | is there at once                                                          |
//	| init containers     | one after another; each runs for 1 s and exits with 0                     |
//	| sidecars            | start in their place and run as long as the pod                           |
//	| restartPolicy Always| containers run until the pod is deleted                                   |
//	| OnFailure, Never    | containers run for 1 s and exit with 0                                    |
//	| ready               | as soon as it runs; probes are not asked, readiness gates are             |
//	| exit and restart    | the first time at once, then after 10 s, doubled to 5 min                 |
//	|                     | (CrashLoopBackOff), and at once again after a run of 10 min               |
//	| another image       | the container is restarted with it                                        |
//	| other resources     | granted at once                                                           |
//	| deadline            | activeDeadlineSeconds after the start: Failed, DeadlineExceeded           |
//	| deletion            | at once; with finalizers containers exit with 143 first, so that whoever  |
//	|                     | holds the pod reads how it ended                                          |
//	| pod IP              | 10.244.N.2 to 10.244.N.254 on node N, one for each pod that has not ended;|
//	|                     | host network: 10.244.N.1; with IPv6 fd00:10:244:N::2 and so on, N in hex  |
//	| ended               | left alone                                                                |
//
// Annotations of a pod, each with the prefix fake-nodes.kapi.dev/
//
//	| annotation          | value             | what it does                                          |
//	| ------------------- | ----------------- | ----------------------------------------------------- |
//	| run-for             | 5s, forever       | how long containers run                               |
//	| exit-code           | 0 to 255          | what they exit with; without run-for, after 1 s       |
//	| ready               | true, false       | false: they never become ready                        |
//	| ready-after         | 3s                | ready only so long after their start                  |
//	| start-after         | 2s                | the image takes so long                               |
//	| stop-after          | 10s               | after a deletion they go on for so long, at most for  |
//	|                     |                   | the grace period                                      |
//
// A value that is not allowed counts as none, and an event of the pod says so.
// Times in a pod's status are whole seconds: everything lasts as long as it says,
// and at most a second more.
//
// All state is in the status of the pods: a restart, or another server that takes
// over, goes on where the last one was.
package fakenodes
