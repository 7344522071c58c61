package foreign

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
)

// hookPrefix is what the check of a post-start hook is named by.
const hookPrefix = "poststarthook/"

// hooks finds the post-start hooks among the checks of /readyz: there is a check
// for each, which fails until the hook is done. A hook that fails ends the server.
func (s *Server) hooks(ctx context.Context, _ inspection.Query) (*finding, error) {
	checks, err := s.verbose(ctx, "readyz")
	if err != nil {
		return nil, err
	}
	f := &finding{}
	names := uniqueNames{}
	for _, one := range checks {
		name, ok := strings.CutPrefix(one.name, hookPrefix)
		if !ok {
			continue
		}
		object := &v1alpha1.PostStartHook{}
		object.Name = names.of(name)
		object.Status.State = v1alpha1.RunDone
		done := metav1.Condition{Type: v1alpha1.ConditionDone, Status: metav1.ConditionTrue, Reason: string(v1alpha1.RunDone)}
		if one.failed {
			object.Status.State = v1alpha1.RunRunning
			done.Status, done.Reason = metav1.ConditionFalse, string(v1alpha1.RunRunning)
		}
		object.Status.Conditions = []metav1.Condition{done}
		f.add(object)
	}
	f.gap("this server does not say which of its layers runs a hook", "Layer")
	f.gap("this server says only whether a hook is done", "Duration", "Started", "Registered-At")
	f.gap("a hook that fails ends this server", "Error")
	return f, nil
}
