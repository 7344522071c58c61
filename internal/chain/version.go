package chain

import (
	apimachineryversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/component-base/compatibility"
)

// reported is an effective version that tells clients its GitVersion. Without
// the linker flags of a release, upstream answers v0.0.0-master+$Format, which
// clients that parse it refuse.
type reported struct {
	compatibility.EffectiveVersion

	gitVersion string
}

// Info implements compatibility.EffectiveVersion; /version answers it.
func (r reported) Info() *apimachineryversion.Info {
	info := r.EffectiveVersion.Info()
	if info == nil || r.gitVersion == "" {
		return info
	}
	info.GitVersion = r.gitVersion
	if info.GitCommit == unsetCommit {
		info.GitCommit, info.GitTreeState = "", ""
	}
	return info
}

// unsetCommit is what component-base holds when no linker flag has set it.
const unsetCommit = "$Format:%H$"
