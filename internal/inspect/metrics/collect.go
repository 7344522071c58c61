package metrics

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strconv"
	"time"

	inspect "github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// maxConditions is how many conditions have a series of their own.
const maxConditions = 200

// snapshot is what is read of a histogram.Snapshot.
type snapshot interface {
	Count() int64
	Sum() time.Duration
	Buckets() iter.Seq2[time.Duration, int64]
}

// collected returns the objects of one kind; none if they can't be collected.
func collected[T store.Object](ctx context.Context, collect store.Collect) []T {
	if collect == nil {
		return nil
	}
	objects, err := collect(ctx)
	if err != nil {
		return nil
	}
	typed := make([]T, 0, len(objects))
	for _, object := range objects {
		if t, ok := object.(T); ok {
			typed = append(typed, t)
		}
	}
	return typed
}

func collectFilters(_ context.Context, out *output, sources *Sources) {
	if sources.Filters == nil {
		return
	}
	for _, f := range sources.Filters() {
		out.durations(filterDuration, f.In, f.Name, phaseIn)
		out.durations(filterDuration, f.Back, f.Name, phaseBack)
		out.value(filterRequests, float64(f.Requests), f.Name)
		out.value(filterAbandoned, float64(f.Abandoned), f.Name)
		out.value(filterInFlight, float64(f.InFlight), f.Name)
		for code, count := range f.Terminated {
			out.value(filterTerminations, float64(count), f.Name, strconv.Itoa(code))
		}
	}
}

func collectLayers(ctx context.Context, out *output, sources *Sources) {
	for _, layer := range collected[*inspect.ServerLayer](ctx, sources.Layers) {
		out.value(layerPassedOn, float64(layer.Status.RequestsPassedOn), layer.Name)
		out.value(layerProxied, float64(layer.Status.RequestsProxied), layer.Name)
		out.value(layerInFlight, float64(layer.Status.RequestsInFlight), layer.Name)
		for _, answers := range layer.Status.Answers {
			out.value(layerAnswers, float64(answers.Count), layer.Name, strconv.Itoa(int(answers.Code)))
		}
	}
}

func collectHooks(ctx context.Context, out *output, sources *Sources) {
	type state struct{ layer, state string }
	count := map[state]int{}
	for _, hook := range collected[*inspect.PostStartHook](ctx, sources.Hooks) {
		count[state{hook.Spec.Layer, string(hook.Status.State)}]++
		if hook.Status.StartedAt != nil {
			out.value(hookDuration, hook.Status.Duration.Seconds(), hook.Spec.Layer, hook.Name)
		}
	}
	for of, n := range count {
		out.value(hooksByState, float64(n), of.layer, of.state)
	}
}

func collectBoot(ctx context.Context, out *output, sources *Sources) {
	steps := collected[*inspect.BootStep](ctx, sources.BootSteps)
	var newest int64
	for _, step := range steps {
		newest = max(newest, step.Spec.Boot)
	}
	for _, step := range steps {
		if step.Spec.Boot == newest && step.Status.State == inspect.RunDone {
			out.value(bootDuration, step.Status.Duration.Seconds(), step.Spec.Component)
		}
	}
}

func collectConditions(_ context.Context, out *output, sources *Sources) {
	if sources.Conditions == nil {
		return
	}
	type group struct{ kind, kindOfCondition, status string }
	count := map[group]int{}
	var bad []Condition
	for _, c := range sources.Conditions() {
		count[group{c.Kind, c.Type, c.Status}]++
		if !c.Good {
			bad = append(bad, c)
		}
	}
	for of, n := range count {
		out.value(conditions, float64(n), of.kind, of.kindOfCondition, of.status)
	}
	// The oldest say most, and stay the same from one scrape to the next.
	slices.SortFunc(bad, func(a, b Condition) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Type, b.Type))
	})
	for _, c := range bad[:min(len(bad), maxConditions)] {
		out.value(conditionAge, max(time.Since(c.Since), 0).Seconds(), c.Kind, c.Name, c.Type, c.Status)
	}
}

func collectEtcd(ctx context.Context, out *output, sources *Sources) {
	for _, member := range collected[*inspect.EtcdMember](ctx, sources.EtcdMembers) {
		status := member.Status
		if status.Error != "" {
			continue // nothing is known of it
		}
		out.value(etcdSize, float64(status.DBSize), member.Name)
		out.value(etcdInUse, float64(status.DBSizeInUse), member.Name)
		out.value(etcdGrowth, float64(status.BytesPerHour)/time.Hour.Seconds(), member.Name)
		if status.Quota > 0 {
			out.value(etcdQuota, float64(status.Quota), member.Name)
		}
		if status.NoSpaceAt != nil {
			out.value(etcdNoSpace, max(time.Until(status.NoSpaceAt.Time), 0).Seconds(), member.Name)
		}
		for _, alarm := range status.Alarms {
			out.value(etcdAlarmRaised, 1, member.Name, alarm)
		}
	}
}

func collectControllers(ctx context.Context, out *output, sources *Sources) {
	for _, controller := range collected[*inspect.Controller](ctx, sources.Controllers) {
		out.value(controllerEnabled, oneIf(controller.Spec.Enabled), controller.Name)
		if !controller.Spec.Enabled {
			continue // there is nothing to count
		}
		out.value(controllerLeader, oneIf(controller.Status.Leader), controller.Name)
		out.value(controllerQueue, float64(controller.Status.QueueDepth), controller.Name)
		out.value(controllerRetries, float64(controller.Status.Retries), controller.Name)
		out.value(controllerErrors, float64(controller.Status.Errors), controller.Name)
	}
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func collectTraces(_ context.Context, out *output, sources *Sources) {
	if sources.Traces == nil {
		return
	}
	traces := sources.Traces()
	out.value(tracedRequests, float64(traces.Requests))
	out.value(tracedSlow, float64(traces.Slow))
	out.value(tracedFailed, float64(traces.Failed))
	out.value(tracesKept, float64(traces.Kept))
}
