package storage

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/apiserver/pkg/server/options/encryptionconfig"
	"k8s.io/apiserver/pkg/server/options/encryptionconfig/controller"
	"k8s.io/apiserver/pkg/server/options/encryptionconfig/metrics"
)

const reloadHook = "start-encryption-provider-config-automatic-reload"

// ApplyEncryption sets the transformers of c from an EncryptionConfiguration
// file (--encryption-provider-config), with the health checks of its KMS
// plugins; an empty file name means no encryption. With reload the file is read
// again when it changes, by a post-start hook.
// Same behaviour as EtcdOptions in k8s.io/apiserver/pkg/server/options, which
// couples it to the health checks of a dialled etcd.
func ApplyEncryption(c *server.Config, file string, reload bool) (err error) {
	if file == "" {
		return nil
	}
	serverCtx := wait.ContextForChannel(c.DrainedNotify())
	ctx, closeTransformers := context.WithCancel(serverCtx)
	defer func() {
		if err != nil {
			closeTransformers()
		}
	}()
	cfg, err := encryptionconfig.LoadEncryptionConfig(ctx, file, reload, c.APIServerID)
	if err != nil {
		return fmt.Errorf("loading encryption configuration %s: %w", file, err)
	}
	metrics.RecordEncryptionConfigLastConfigInfo(c.APIServerID, cfg.EncryptionFileContentHash)
	if !reload {
		c.ResourceTransformers = encryptionconfig.StaticTransformers(cfg.Transformers)
		addChecks(c, cfg.HealthChecks...)
		return nil
	}
	if len(cfg.HealthChecks) != 1 {
		return fmt.Errorf("loading encryption configuration %s: reloading wants one health check, got %d", file, len(cfg.HealthChecks))
	}
	dynamic := encryptionconfig.NewDynamicTransformers(cfg.Transformers, cfg.HealthChecks[0], closeTransformers, cfg.KMSCloseGracePeriod)
	c.ResourceTransformers = dynamic
	addChecks(c, dynamic)
	hash := cfg.EncryptionFileContentHash
	return c.AddPostStartHook(reloadHook, func(server.PostStartHookContext) error {
		reloader := controller.NewDynamicEncryptionConfiguration("encryption-provider-config-automatic-reload-controller",
			file, dynamic, hash, c.APIServerID)
		go reloader.Run(serverCtx)
		return nil
	})
}

// addChecks leaves /livez out: a KMS plugin that is away is no reason to restart the server.
func addChecks(c *server.Config, checks ...healthz.HealthChecker) {
	c.HealthzChecks = append(c.HealthzChecks, checks...)
	c.ReadyzChecks = append(c.ReadyzChecks, checks...)
}
