package storage

import (
	"context"
	"testing"

	"k8s.io/apiserver/pkg/features"
	"k8s.io/apiserver/pkg/storage"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"
)

func TestUpstreamOnCache(t *testing.T) { runRows(t, cacheRows()) }

// unfitForCache are upstream's tests that a store with a watch cache does not run.
func unfitForCache() map[string]string {
	return map[string]string{
		"ListInconsistentContinuation":      "it pages at resource version 0, where a cache answers with everything",
		"GetListWithErrorAggregation":       "a cache lists objects that it has decoded before",
		"GetListWithoutErrorAggregation":    "a cache lists objects that it has decoded before",
		"TransformationFailure":             "a cache answers with objects that it has transformed before",
		"WatchError":                        "a watcher of a cache does not decode: when the cache can't, it starts over",
		"WatchErrorIsBlockingFurtherEvents": "a watcher of a cache does not decode: when the cache can't, it starts over",
		"WatchWithUnsafeDelete":             "a watcher of a cache does not decode: when the cache can't, it starts over",
		"OptionalTestProgressNotify":        "a cache asks for notifications and passes none on: it sends bookmarks",
	}
}

// cacheRows run on a store with a watch cache.
func cacheRows() []upstreamRow {
	cached := setup{cached: true}
	own := setup{cached: true, own: true, prefix: "/registry"}
	ownAlone := setup{cached: true, own: true, alone: true}
	noSnapshots := setup{cached: true, own: true, prefix: "/registry", gates: gatesOff(features.ListFromCacheSnapshot)}
	indexed := setup{cached: true, indexed: true}
	unsafeDelete := setup{cached: true, gates: gates(features.AllowUnsafeMalformedObjectDeletion)}
	unsafeDecode := setup{cached: true, gates: unsafeDelete.gates, codec: &failingCodec{Codec: codecs().protobuf}}
	return []upstreamRow{
		{"Create", cached, func(t *testing.T, f *fixture) { storagetesting.RunTestCreate(t.Context(), t, f, f.storedClean) }},
		{"CreateWithTTL", cached, onStore(storagetesting.RunTestCreateWithTTL)},
		{"CreateWithKeyExist", cached, onStore(storagetesting.RunTestCreateWithKeyExist)},
		{"Get", cached, get},
		{"UnconditionalDelete", cached, onStore(storagetesting.RunTestUnconditionalDelete)},
		{"ConditionalDelete", cached, onStore(storagetesting.RunTestConditionalDelete)},
		{"DeleteWithSuggestion", cached, onStore(storagetesting.RunTestDeleteWithSuggestion)},
		{"DeleteWithSuggestionAndConflict", cached, onStore(storagetesting.RunTestDeleteWithSuggestionAndConflict)},
		{"DeleteWithConflict", cached, onStore(storagetesting.RunTestDeleteWithConflict)},
		{"DeleteWithSuggestionOfDeletedObject", cached, onStore(storagetesting.RunTestDeleteWithSuggestionOfDeletedObject)},
		{"ValidateDeletionWithSuggestion", cached, onStore(storagetesting.RunTestValidateDeletionWithSuggestion)},
		{"ValidateDeletionWithOnlySuggestionValid", cached, onStore(storagetesting.RunTestValidateDeletionWithOnlySuggestionValid)},
		{"PreconditionalDeleteWithSuggestion", cached, onStore(storagetesting.RunTestPreconditionalDeleteWithSuggestion)},
		{"PreconditionalDeleteWithOnlySuggestionPass", cached, onStore(storagetesting.RunTestPreconditionalDeleteWithOnlySuggestionPass)},

		{"DeleteWithConflictAndMissingExpectedTransformOrDecodeError/transform", unsafeDelete,
			onFailing(transformFails, storagetesting.RunTestDeleteWithConflictAndMissingExpectedTransformOrDecodeError)},
		{"DeleteWithConflictAndMissingExpectedTransformOrDecodeError/decode", unsafeDecode,
			onFailing(decodeFails, storagetesting.RunTestDeleteWithConflictAndMissingExpectedTransformOrDecodeError)},
		{"DeleteExpectedTransformOrDecodeError/transform", unsafeDelete,
			onFailing(transformFails, storagetesting.RunTestDeleteExpectedTransformOrDecodeError)},
		{"DeleteExpectedTransformOrDecodeError/decode", setup{cached: true, gates: unsafeDelete.gates, codec: &failingCodec{Codec: codecs().protobuf}},
			onFailing(decodeFails, storagetesting.RunTestDeleteExpectedTransformOrDecodeError)},
		{"DeleteWithSuggestionAndMissingExpectedTransformOrDecodeError", unsafeDelete, func(t *testing.T, f *fixture) {
			storagetesting.RunTestDeleteWithSuggestionAndMissingExpectedTransformOrDecodeError(t.Context(), t, f)
		}},

		{"List", own, cachedList},
		{"List/without snapshots", noSnapshots, cachedList},
		{"ListPaging", cached, onStore(storagetesting.RunTestListPaging)},
		{"ListContinuation", own, uncounted(storagetesting.RunTestListContinuation)},
		{"ListContinuationWithFilter", own, uncounted(storagetesting.RunTestListContinuationWithFilter)},
		{"ListPaginationRareObject", own, uncounted(storagetesting.RunTestListPaginationRareObject)},
		{"ListResourceVersionMatch", cached, onPrefixed(storagetesting.RunTestListResourceVersionMatch)},
		{"ConsistentList", own, func(t *testing.T, f *fixture) {
			storagetesting.RunTestConsistentList(t.Context(), t, f, f.increaseRV, true, true, true)
		}},
		{"ConsistentList/without snapshots", noSnapshots, func(t *testing.T, f *fixture) {
			storagetesting.RunTestConsistentList(t.Context(), t, f, f.increaseRV, true, true, false)
		}},
		{"GetListNonRecursive", own, cachedNonRecursive},
		{"GetListNonRecursive/without snapshots", noSnapshots, cachedNonRecursive},
		{"GetListRecursivePrefix", cached, onStore(storagetesting.RunTestGetListRecursivePrefix)},
		{"NamespaceScopedList", indexed, onStore(storagetesting.RunTestNamespaceScopedList)},

		{"GuaranteedUpdate", cached, func(t *testing.T, f *fixture) {
			storagetesting.RunTestGuaranteedUpdate(t.Context(), t, f, f.storedClean)
		}},
		{"GuaranteedUpdateWithTTL", cached, onStore(storagetesting.RunTestGuaranteedUpdateWithTTL)},
		// It puts white space into what is stored, which only JSON ignores.
		{"GuaranteedUpdateChecksStoredData", setup{cached: true, codec: codecs().json}, onPrefixed(storagetesting.RunTestGuaranteedUpdateChecksStoredData)},
		{"GuaranteedUpdateWithConflict", cached, onStore(storagetesting.RunTestGuaranteedUpdateWithConflict)},
		{"GuaranteedUpdateWithSuggestionAndConflict", cached, onStore(storagetesting.RunTestGuaranteedUpdateWithSuggestionAndConflict)},
		{"Stats/size", cached, stats(true)},
		{"Stats/count", setup{cached: true, gates: gatesOff(features.SizeBasedListCostEstimate)}, stats(false)},
		{"KeySchema", cached, onStore(storagetesting.RunTestKeySchema)},
		{"CompactRevision", own, func(t *testing.T, f *fixture) {
			storagetesting.RunTestCompactRevision(t.Context(), t, f, f.increaseRV, f.compact)
		}},

		{"Watch", cached, onStore(storagetesting.RunTestWatch)},
		// Without a compaction, as the test asks for of a cache, it skips its last
		// part: a cache answers from its own history, which does not end at one.
		{"WatchFromZero", cached, func(t *testing.T, f *fixture) { storagetesting.RunTestWatchFromZero(t.Context(), t, f, nil) }},
		{"WatchFromNonZero", cached, onStore(storagetesting.RunTestWatchFromNonZero)},
		{"DeleteTriggerWatch", cached, onStore(storagetesting.RunTestDeleteTriggerWatch)},
		{"DelayedWatchDelivery", cached, onStore(storagetesting.RunTestDelayedWatchDelivery)},
		{"WatchContextCancel", cached, onStore(storagetesting.RunTestWatchContextCancel)},
		{"WatcherTimeout", setup{cached: true, alone: true}, onStore(storagetesting.RunTestWatcherTimeout)},
		{"WatchDeleteEventObjectHaveLatestRV", cached, onStore(storagetesting.RunTestWatchDeleteEventObjectHaveLatestRV)},
		{"WatchInitializationSignal", cached, onStore(storagetesting.RunTestWatchInitializationSignal)},
		{"ClusterScopedWatch", setup{cached: true, indexed: true, clusterScoped: true}, onStore(storagetesting.RunTestClusterScopedWatch)},
		{"NamespaceScopedWatch", indexed, onStore(storagetesting.RunTestNamespaceScopedWatch)},
		{"WatchDispatchBookmarkEvents", cached, func(t *testing.T, f *fixture) {
			storagetesting.RunTestWatchDispatchBookmarkEvents(t.Context(), t, f, true)
		}},
		{"OptionalWatchBookmarksWithCorrectResourceVersion", cached, onStore(storagetesting.RunTestOptionalWatchBookmarksWithCorrectResourceVersion)},
		{"SendInitialEventsBackwardCompatibility", cached, onStore(storagetesting.RunSendInitialEventsBackwardCompatibility)},
		{"WatchSemantics", ownAlone, onVisible(storagetesting.RunWatchSemantics)},
		{"WatchSemanticInitialEventsExtended", ownAlone, onVisible(storagetesting.RunWatchSemanticInitialEventsExtended)},
		{"WatchListMatchSingle", ownAlone, onVisible(storagetesting.RunWatchListMatchSingle)},
	}
}

func cachedList(t *testing.T, f *fixture) {
	storagetesting.RunTestList(t.Context(), t, f, f.compact, true, f.lists)
}

func cachedNonRecursive(t *testing.T, f *fixture) {
	storagetesting.RunTestGetListNonRecursive(t.Context(), t, f.increaseRV, f)
}

// uncounted adapts a test that counts calls of etcd: the cache decides how many
// there are.
func uncounted(test func(context.Context, *testing.T, storage.Interface, storagetesting.CallsValidation)) func(*testing.T, *fixture) {
	return func(t *testing.T, f *fixture) { test(t.Context(), t, f, func(*testing.T, uint64, uint64) {}) }
}
