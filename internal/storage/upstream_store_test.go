package storage

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/features"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/etcd3"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"
	"k8s.io/apiserver/pkg/storage/value"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
)

func TestUpstreamOnStore(t *testing.T) { runRows(t, storeRows()) }

// unfitForStore are upstream's tests that a store without a watch cache does not run.
func unfitForStore() map[string]string {
	return map[string]string{
		"OptionalWatchBookmarksWithCorrectResourceVersion": "only a watch cache sends bookmarks",
	}
}

// storeRows run on a store without a watch cache. Those that compact, or count
// revisions, have an etcd of their own.
func storeRows() []upstreamRow {
	own := setup{own: true, prefix: "/registry"}
	ownAlone := setup{own: true, alone: true}
	unsafeDelete := gates(features.AllowUnsafeMalformedObjectDeletion)
	return []upstreamRow{
		{"Create", setup{}, func(t *testing.T, f *fixture) { storagetesting.RunTestCreate(t.Context(), t, f, f.storedClean) }},
		{"CreateWithTTL", setup{}, onStore(storagetesting.RunTestCreateWithTTL)},
		{"CreateWithKeyExist", setup{}, onStore(storagetesting.RunTestCreateWithKeyExist)},
		{"Get", setup{}, get},
		{"UnconditionalDelete", setup{}, onStore(storagetesting.RunTestUnconditionalDelete)},
		{"ConditionalDelete", setup{}, onStore(storagetesting.RunTestConditionalDelete)},
		{"DeleteWithSuggestion", setup{}, onStore(storagetesting.RunTestDeleteWithSuggestion)},
		{"DeleteWithSuggestionAndConflict", setup{}, onStore(storagetesting.RunTestDeleteWithSuggestionAndConflict)},
		{"DeleteWithConflict", setup{}, onStore(storagetesting.RunTestDeleteWithConflict)},
		{"DeleteWithSuggestionOfDeletedObject", setup{}, onStore(storagetesting.RunTestDeleteWithSuggestionOfDeletedObject)},
		{"ValidateDeletionWithSuggestion", setup{}, onStore(storagetesting.RunTestValidateDeletionWithSuggestion)},
		{"ValidateDeletionWithOnlySuggestionValid", setup{}, onStore(storagetesting.RunTestValidateDeletionWithOnlySuggestionValid)},
		{"PreconditionalDeleteWithSuggestion", setup{}, onStore(storagetesting.RunTestPreconditionalDeleteWithSuggestion)},
		{"PreconditionalDeleteWithOnlySuggestionPass", setup{}, onStore(storagetesting.RunTestPreconditionalDeleteWithOnlySuggestionPass)},

		{"DeleteWithConflictAndMissingExpectedTransformOrDecodeError/transform", setup{gates: unsafeDelete},
			onFailing(transformFails, storagetesting.RunTestDeleteWithConflictAndMissingExpectedTransformOrDecodeError)},
		{"DeleteWithConflictAndMissingExpectedTransformOrDecodeError/decode", setup{gates: unsafeDelete, codec: &failingCodec{Codec: codecs().json}},
			onFailing(decodeFails, storagetesting.RunTestDeleteWithConflictAndMissingExpectedTransformOrDecodeError)},
		{"DeleteExpectedTransformOrDecodeError/transform", setup{gates: unsafeDelete},
			onFailing(transformFails, storagetesting.RunTestDeleteExpectedTransformOrDecodeError)},
		{"DeleteExpectedTransformOrDecodeError/decode", setup{gates: unsafeDelete, codec: &failingCodec{Codec: codecs().json}},
			onFailing(decodeFails, storagetesting.RunTestDeleteExpectedTransformOrDecodeError)},
		{"DeleteWithSuggestionAndMissingExpectedTransformOrDecodeError", setup{gates: unsafeDelete}, func(t *testing.T, f *fixture) {
			storagetesting.RunTestDeleteWithSuggestionAndMissingExpectedTransformOrDecodeError(t.Context(), t, f)
		}},

		{"List", own, func(t *testing.T, f *fixture) {
			storagetesting.RunTestList(t.Context(), t, f, f.compact, false, f.lists)
		}},
		{"ListPaging", setup{}, onStore(storagetesting.RunTestListPaging)},
		{"ListContinuation", own, withCalls(storagetesting.RunTestListContinuation)},
		{"ListContinuationWithFilter", own, withCalls(storagetesting.RunTestListContinuationWithFilter)},
		{"ListPaginationRareObject", own, withCalls(storagetesting.RunTestListPaginationRareObject)},
		{"ListInconsistentContinuation", own, func(t *testing.T, f *fixture) {
			storagetesting.RunTestListInconsistentContinuation(t.Context(), t, f, f.compact)
		}},
		{"ListResourceVersionMatch", setup{}, onPrefixed(storagetesting.RunTestListResourceVersionMatch)},
		{"ConsistentList", own, func(t *testing.T, f *fixture) {
			storagetesting.RunTestConsistentList(t.Context(), t, f, f.increaseRV, false, true, false)
		}},
		{"GetListNonRecursive", own, func(t *testing.T, f *fixture) {
			storagetesting.RunTestGetListNonRecursive(t.Context(), t, f.increaseRV, f)
		}},
		{"GetListRecursivePrefix", setup{}, onStore(storagetesting.RunTestGetListRecursivePrefix)},
		{"NamespaceScopedList", setup{}, onStore(storagetesting.RunTestNamespaceScopedList)},
		// The next two compare keys, and expect none to have a prefix. bare: the
		// first wants to see a failure to transform that is no corruption, and
		// Backend.Store takes them all for that, as upstream's factory does.
		{"GetListWithErrorAggregation", setup{own: true, bare: true, gates: unsafeDelete}, func(t *testing.T, f *fixture) {
			f.Interface = etcd3.NewStoreWithUnsafeCorruptObjectDeletion(f.Interface, podResource)
			storagetesting.RunTestGetListWithErrorAggregation(t.Context(), t, f, corruptError(t))
		}},
		{"GetListWithoutErrorAggregation", setup{own: true, gates: gatesOff(features.AllowUnsafeMalformedObjectDeletion)}, func(t *testing.T, f *fixture) {
			storagetesting.RunTestGetListWithoutErrorAggregation(t.Context(), t, f, corruptError(t))
		}},

		{"GuaranteedUpdate", setup{}, func(t *testing.T, f *fixture) {
			storagetesting.RunTestGuaranteedUpdate(t.Context(), t, f, f.storedClean)
		}},
		{"GuaranteedUpdateWithTTL", setup{}, onStore(storagetesting.RunTestGuaranteedUpdateWithTTL)},
		{"GuaranteedUpdateChecksStoredData", setup{}, onPrefixed(storagetesting.RunTestGuaranteedUpdateChecksStoredData)},
		{"GuaranteedUpdateWithConflict", setup{}, onStore(storagetesting.RunTestGuaranteedUpdateWithConflict)},
		{"GuaranteedUpdateWithSuggestionAndConflict", setup{}, onStore(storagetesting.RunTestGuaranteedUpdateWithSuggestionAndConflict)},
		// With the feature on, the errors are others than the test knows.
		{"TransformationFailure", setup{gates: gatesOff(features.AllowUnsafeMalformedObjectDeletion)}, onPrefixed(storagetesting.RunTestTransformationFailure)},
		{"Stats/count", setup{}, stats(false)},
		{"Stats/size", setup{}, func(t *testing.T, f *fixture) {
			if err := f.EnableResourceSizeEstimation(f.keys); err != nil {
				t.Fatal(err)
			}
			stats(true)(t, f)
		}},
		{"KeySchema", setup{}, onStore(storagetesting.RunTestKeySchema)},
		{"CompactRevision", own, func(t *testing.T, f *fixture) {
			storagetesting.RunTestCompactRevision(t.Context(), t, f, f.increaseRV, f.compact)
		}},

		{"Watch", setup{}, onStore(storagetesting.RunTestWatch)},
		{"WatchFromZero", own, func(t *testing.T, f *fixture) { storagetesting.RunTestWatchFromZero(t.Context(), t, f, f.compact) }},
		{"WatchFromNonZero", setup{}, onStore(storagetesting.RunTestWatchFromNonZero)},
		{"DeleteTriggerWatch", setup{}, onStore(storagetesting.RunTestDeleteTriggerWatch)},
		{"DelayedWatchDelivery", setup{}, onStore(storagetesting.RunTestDelayedWatchDelivery)},
		{"WatchError", setup{}, onPrefixed(storagetesting.RunTestWatchError)},
		{"WatchErrorIsBlockingFurtherEvents", setup{}, onPrefixed(storagetesting.RunWatchErrorIsBlockingFurtherEvents)},
		{"WatchWithUnsafeDelete", setup{gates: unsafeDelete}, func(t *testing.T, f *fixture) {
			storagetesting.RunTestWatchWithUnsafeDelete(t.Context(), t, f, corruptError(t))
		}},
		{"WatchContextCancel", setup{}, onStore(storagetesting.RunTestWatchContextCancel)},
		{"WatcherTimeout", setup{alone: true}, onStore(storagetesting.RunTestWatcherTimeout)},
		{"WatchDeleteEventObjectHaveLatestRV", setup{}, onStore(storagetesting.RunTestWatchDeleteEventObjectHaveLatestRV)},
		{"WatchInitializationSignal", setup{}, onStore(storagetesting.RunTestWatchInitializationSignal)},
		{"OptionalTestProgressNotify", setup{}, func(t *testing.T, f *fixture) {
			storagetesting.RunOptionalTestProgressNotify(t.Context(), t, f, f.increaseRV)
		}},
		{"ClusterScopedWatch", setup{}, onStore(storagetesting.RunTestClusterScopedWatch)},
		{"NamespaceScopedWatch", setup{}, onStore(storagetesting.RunTestNamespaceScopedWatch)},
		{"WatchDispatchBookmarkEvents", setup{}, func(t *testing.T, f *fixture) {
			storagetesting.RunTestWatchDispatchBookmarkEvents(t.Context(), t, f, false)
		}},
		{"SendInitialEventsBackwardCompatibility", setup{}, onStore(storagetesting.RunSendInitialEventsBackwardCompatibility)},
		{"WatchSemantics", ownAlone, onStore(storagetesting.RunWatchSemantics)},
		{"WatchSemanticInitialEventsExtended", ownAlone, onStore(storagetesting.RunWatchSemanticInitialEventsExtended)},
		{"WatchListMatchSingle", ownAlone, onStore(storagetesting.RunWatchListMatchSingle)},
	}
}

// onPrefixed adapts a test that replaces the transformer.
func onPrefixed(test func(context.Context, *testing.T, storagetesting.InterfaceWithPrefixTransformer)) func(*testing.T, *fixture) {
	return func(t *testing.T, f *fixture) { test(t.Context(), t, f) }
}

func stats(sizes bool) func(*testing.T, *fixture) {
	return func(t *testing.T, f *fixture) {
		storagetesting.RunTestStats(t.Context(), t, f, f.codec, f.prefixed(), sizes)
	}
}

// withCalls adapts a test that counts what a list costs: how many objects were
// transformed, and how often etcd was asked. Page sizes double, up to 10,000,
// while a selector leaves pages incomplete.
func withCalls(test func(context.Context, *testing.T, storage.Interface, storagetesting.CallsValidation)) func(*testing.T, *fixture) {
	return func(t *testing.T, f *fixture) {
		test(t.Context(), t, f, func(t *testing.T, page, objects uint64) {
			t.Helper()
			if got := f.prefixed().GetReadsAndReset(); got != objects {
				t.Errorf("%d objects transformed, want %d", got, objects)
			}
			calls := uint64(1)
			if page > 0 {
				for covered := uint64(1); covered < objects; calls++ {
					page = min(2*page, 10_000)
					covered += page
				}
			}
			if got := f.reads.GetReadsAndReset(); got != calls {
				t.Errorf("%d calls of etcd, want %d", got, calls)
			}
		})
	}
}

// keys lists the keys of all pods, for the estimation of sizes.
func (f *fixture) keys(ctx context.Context) ([]string, error) {
	r, err := f.etcd.Get(ctx, f.prefix+"/pods/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, kv := range r.Kvs {
		keys = append(keys, string(kv.Key))
	}
	return keys, nil
}

var errSynthetic = errors.New("synthetic error")

// corruptError is what a store sees of a value that can't be transformed.
func corruptError(t *testing.T) error {
	t.Helper()
	_, _, err := etcd3.WithCorruptObjErrorHandlingTransformer(failingTransformer{}).TransformFromStorage(t.Context(), nil, value.DefaultContext{})
	return err
}

type failingTransformer struct{ value.Transformer }

func (failingTransformer) TransformFromStorage(context.Context, []byte, value.Context) ([]byte, bool, error) {
	return nil, false, errSynthetic
}

// failingCodec can be made to fail to decode.
type failingCodec struct {
	runtime.Codec
	fail atomic.Bool
}

func (c *failingCodec) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if c.fail.Load() {
		return nil, nil, errSynthetic
	}
	return c.Codec.Decode(data, defaults, into)
}

func decodeFails(f *fixture) func(bool) { return f.codec.(*failingCodec).fail.Store }

func transformFails(f *fixture) func(bool) {
	good := f.transformer.get()
	return func(fail bool) {
		if fail {
			f.transformer.set(failingTransformer{good})
		} else {
			f.transformer.set(good)
		}
	}
}

// onFailing adapts a test that makes reading fail.
func onFailing(how func(*fixture) func(bool), test func(context.Context, testing.TB, storage.Interface, func(bool))) func(*testing.T, *fixture) {
	return func(t *testing.T, f *fixture) {
		// Upstream panics at it in tests, to find those that did not mean to.
		etcd3.TestOnlySetFatalOnDecodeError(t, false)
		test(t.Context(), t, f, how(f))
	}
}

// compactRevisionIsWatched: without the feature a store does not hear of the
// compactions of others.
func compactRevisionIsWatched() bool {
	return utilfeature.DefaultFeatureGate.Enabled(features.ListFromCacheSnapshot)
}
