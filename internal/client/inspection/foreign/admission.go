package foreign

import (
	"context"
	"slices"

	dto "github.com/prometheus/client_model/go"

	"github.com/kapi-dev/kapi/internal/apis/inspect/families"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
)

// The metrics of calls of plugins, and of the webhooks that two of them call.
// Source: k8s.io/apiserver/pkg/admission/metrics.
const (
	admissionTime = "apiserver_admission_controller_admission_duration_seconds"
	webhookTime   = "apiserver_admission_webhook_admission_duration_seconds"
)

// plugin is what is known of an admission plugin.
type plugin struct {
	object  *v1alpha1.AdmissionPlugin
	latency families.Distribution
}

// admissionPlugins finds the plugins that were called, and those that flags name.
// Webhooks that were called are among them: who waits for one wants to know which.
func (s *Server) admissionPlugins(ctx context.Context, _ inspection.Query) (*finding, error) {
	metrics, noMetrics := s.metrics(ctx, admissionTime, webhookTime)
	flags, noFlags := s.flags(ctx)
	if noMetrics != nil && noFlags != nil {
		return nil, noMetrics
	}
	plugins := readCalls(metrics[admissionTime])
	webhooks := readCalls(metrics[webhookTime])
	configureWebhooks(webhooks)
	f := &finding{}
	if noFlags != nil {
		f.gap(why(noFlags, flagsPath), "Configured-By")
	} else {
		configurePlugins(plugins, flags)
	}
	for _, group := range []map[string]*plugin{plugins, webhooks} {
		for _, name := range sortedKeys(group) {
			group[name].object.Status.Latency = group[name].latency.Latency()
			f.add(group[name].object)
		}
	}
	if noMetrics != nil {
		f.gap(why(noMetrics, metricsPath)+"; what is shown is what flags name", "Phase", "Admitted", "Rejected", "P99")
	} else if len(metrics[admissionTime]) == 0 {
		f.gap("nothing has been changed yet: a plugin is known from its first call on", "")
	}
	f.emptyFor("no plugin was called yet", "Phase")
	f.gap("this server does not say in which order it calls its plugins", "Order")
	f.gap("this server does not say when a plugin last refused a change", "Last-Rejection")
	return f, nil
}

// readCalls adds up the calls by plugin or webhook.
func readCalls(metrics []*dto.Metric) map[string]*plugin {
	plugins := map[string]*plugin{}
	for _, metric := range metrics {
		one := pluginOf(plugins, families.Label(metric, "name"))
		switch families.Label(metric, "type") {
		case "admit":
			one.object.Spec.Mutating = true
		case "validate", "validating":
			one.object.Spec.Validating = true
		}
		calls := int64(metric.GetHistogram().GetSampleCount())
		if families.Label(metric, "rejected") == "true" {
			one.object.Status.Rejected += calls
		} else {
			one.object.Status.Admitted += calls
		}
		one.latency.Add(metric.GetHistogram())
	}
	return plugins
}

func pluginOf(plugins map[string]*plugin, name string) *plugin {
	if plugins[name] == nil {
		object := &v1alpha1.AdmissionPlugin{ObjectMeta: named(name), Spec: v1alpha1.AdmissionPluginSpec{Enabled: true}}
		plugins[name] = &plugin{object: object}
	}
	return plugins[name]
}

// configureWebhooks notes the kind of objects that webhooks stand in.
func configureWebhooks(webhooks map[string]*plugin) {
	for _, one := range webhooks {
		one.object.Spec.ConfiguredBy = "ValidatingWebhookConfiguration"
		if one.object.Spec.Mutating {
			one.object.Spec.ConfiguredBy = "MutatingWebhookConfiguration"
		}
	}
}

// configurePlugins notes by which flag a plugin is on or off.
func configurePlugins(plugins map[string]*plugin, flags map[string]string) {
	on, off := listed(flags["enable-admission-plugins"]), listed(flags["disable-admission-plugins"])
	for _, name := range slices.Concat(on, off) {
		pluginOf(plugins, name)
	}
	for name, one := range plugins {
		one.object.Spec.ConfiguredBy = "default"
		if slices.Contains(on, name) {
			one.object.Spec.ConfiguredBy = "--enable-admission-plugins"
		}
		if slices.Contains(off, name) {
			one.object.Spec.ConfiguredBy, one.object.Spec.Enabled = "--disable-admission-plugins", false
		}
	}
}
