package foreign

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kapi-dev/kapi/internal/apis/inspect/families"
	"github.com/kapi-dev/kapi/internal/fault"
)

// identityLabel is on the lease that each kube-apiserver keeps of itself.
// Source: k8s.io/kubernetes/pkg/controlplane/apiserver/server.go.
const identityLabel = "apiserver.kubernetes.io/identity"

// startMetric is when the process began, in seconds since 1970.
const startMetric = "process_start_time_seconds"

func (s *Server) version(ctx context.Context) (version.Info, error) {
	var info version.Info
	body, err := s.get(ctx, "/version", jsonType)
	if err != nil {
		return info, err
	}
	if err := json.Unmarshal(body, &info); err != nil {
		return info, fmt.Errorf("reading /version: %w: %w", errFormat, err)
	}
	if info.GitVersion == "" {
		return info, fault.WithHint(fmt.Errorf("%s is no Kubernetes API server: its /version names none", s.address), "check the address, in the kubeconfig or of --server")
	}
	return info, nil
}

// startedAt is when the process began; zero where that is not to be had.
func (s *Server) startedAt(ctx context.Context) time.Time {
	metrics, err := s.metrics(ctx, startMetric)
	if err != nil {
		return time.Time{}
	}
	return startOf(metrics)
}

func startOf(metrics families.Families) time.Time {
	if len(metrics[startMetric]) == 0 {
		return time.Time{}
	}
	return time.UnixMicro(int64(families.Value(metrics[startMetric][0]) * 1e6))
}

// serverID is the identity of the server, where it is the only one that keeps a
// lease: of several it can't be told which one answers. It is empty if unknown.
func (s *Server) serverID(ctx context.Context) string {
	leases, err := s.client.CoordinationV1().Leases(metav1.NamespaceSystem).List(ctx, metav1.ListOptions{LabelSelector: identityLabel})
	if err != nil {
		return ""
	}
	id := ""
	for i := range leases.Items {
		spec := leases.Items[i].Spec
		if spec.RenewTime == nil || spec.LeaseDurationSeconds == nil ||
			time.Since(spec.RenewTime.Time) > time.Duration(*spec.LeaseDurationSeconds)*time.Second {
			continue
		}
		if id != "" {
			return ""
		}
		id = leases.Items[i].Name
	}
	return id
}
