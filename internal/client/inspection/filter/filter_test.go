package filter_test

import (
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/filter"
	"github.com/kapi-dev/kapi/internal/fault"
)

func checks() []kinds.Object {
	check := func(name, server string, state v1alpha1.HealthState, labels map[string]string) kinds.Object {
		return &v1alpha1.HealthCheck{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, ServerID: server,
			Status: v1alpha1.HealthCheckStatus{State: state},
		}
	}
	return []kinds.Object{
		check("ping", "a", v1alpha1.HealthOK, map[string]string{"tier": "front"}),
		check("etcd", "a", v1alpha1.HealthFailed, nil),
		check("检查", "b", v1alpha1.HealthOK, nil),
	}
}

func TestApply(t *testing.T) {
	kind, _ := kinds.ByName("health")
	for name, tc := range map[string]struct {
		query inspection.Query
		want  []string
	}{
		"everything":      {inspection.Query{}, []string{"ping", "etcd", "检查"}},
		"a name":          {inspection.Query{Name: "etcd"}, []string{"etcd"}},
		"a server":        {inspection.Query{ServerID: "a"}, []string{"ping", "etcd"}},
		"a label":         {inspection.Query{LabelSelector: "tier=front"}, []string{"ping"}},
		"not a label":     {inspection.Query{LabelSelector: "tier!=front"}, []string{"etcd", "检查"}},
		"a field":         {inspection.Query{FieldSelector: "status.state=OK"}, []string{"ping", "检查"}},
		"not a field":     {inspection.Query{FieldSelector: "status.state!=OK"}, []string{"etcd"}},
		"the name, field": {inspection.Query{FieldSelector: "metadata.name=检查"}, []string{"检查"}},
		"all at once": {inspection.Query{
			FieldSelector: "status.state=OK", LabelSelector: "!tier", ServerID: "b", Name: "检查",
		}, []string{"检查"}},
		"nothing, but no name": {inspection.Query{ServerID: "c"}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := filter.Apply(kind, tc.query, checks())
			if err != nil {
				t.Fatal(err)
			}
			names := []string{}
			for _, object := range got {
				names = append(names, object.GetName())
			}
			if !slices.Equal(names, tc.want) {
				t.Errorf("got %q, want %q", names, tc.want)
			}
		})
	}
}

func TestApplyOfNothing(t *testing.T) {
	kind, _ := kinds.ByName("health")
	_, err := filter.Apply(kind, inspection.Query{Name: "none"}, checks())
	if !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), `healthchecks.inspect.kapi.dev "none" not found`) {
		t.Errorf("got %v, want NotFound with the name", err)
	}
}

func TestApplyRefusesBadInput(t *testing.T) {
	kind, _ := kinds.ByName("health")
	for name, tc := range map[string]struct {
		query     inspection.Query
		says, way string
	}{
		"unknown field": {inspection.Query{FieldSelector: "status.stat=OK"}, `"status.stat" is not a field that healthchecks`, "metadata.name, status.state"},
		"field syntax":  {inspection.Query{FieldSelector: "status.state"}, `field selector "status.state" can't be read`, "field=value"},
		"label syntax":  {inspection.Query{LabelSelector: "a in"}, `label selector "a in" can't be read`, "name=value"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := filter.Apply(kind, tc.query, checks())
			if fault.Code(err) != fault.CodeUsage || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v (code %d), want bad input that says %q", err, fault.Code(err), tc.says)
			}
			if hint := fault.Hint(err); !strings.Contains(hint, tc.way) {
				t.Errorf("the way out is %q, want it to name %q", hint, tc.way)
			}
		})
	}
}

// Every type has the field that serverID looks for.
func TestEveryKindHasAServer(t *testing.T) {
	for _, kind := range kinds.All() {
		object := kind.New().(kinds.Object)
		got, err := filter.Apply(kind, inspection.Query{ServerID: "x"}, []kinds.Object{object})
		if err != nil || len(got) != 0 {
			t.Errorf("%s: an object without a server was selected (%v)", kind.Resource, err)
		}
		if got, err = filter.Apply(kind, inspection.Query{}, []kinds.Object{object}); err != nil || len(got) != 1 {
			t.Errorf("%s: everything has %d objects (%v)", kind.Resource, len(got), err)
		}
	}
}
