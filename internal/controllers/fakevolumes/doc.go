// Package fakevolumes stands in for a storage driver where there is no storage: it
// makes a StorageClass, and a PersistentVolume for each claim that asks for one of
// its provisioner. There is nothing behind the volumes.
//
// Binding is the business of upstream's controller persistentvolume-binder; this
// package is what that one calls an external provisioner, and the resizer beside it.
// It may import client-go and component-helpers only.
//
// # Rules
//
//	| what                  | rule                                                             |
//	| --------------------- | ---------------------------------------------------------------- |
//	| StorageClass fake     | is made at the start, unless there is one of that name; it is    |
//	|                       | the default class, until another one is                          |
//	| other classes         | whose provisioner is fake-volumes.kapi.dev, work too             |
//	| claim                 | gets volume pvc-UID with what it asks for, at once, or where its |
//	|                       | class waits for a consumer, when a node was selected             |
//	| claim with a selector | gets none, and an event says so                                  |
//	| data source           | of a populator: none, that is the populator's; of a snapshot or  |
//	|                       | another claim: an empty volume, whether they are there or not    |
//	| claim grows           | volume and claim have the new size at once                       |
//	| other attributes      | of a VolumeAttributesClass: likewise, whether it is there or not |
//	| claim is deleted      | the volume goes, or with reclaimPolicy Retain stays Released     |
//	| nodes                 | every node reaches every volume                                  |
package fakevolumes
