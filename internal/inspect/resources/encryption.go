package resources

import (
	"fmt"
	"os"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	apiserverv1 "k8s.io/apiserver/pkg/apis/apiserver/v1"
	"sigs.k8s.io/yaml"
)

// EncryptionProviders returns a function for Config.EncryptedBy that reads an
// EncryptionConfiguration file (--encryption-provider-config): "aescbc", "kms:NAME",
// or empty for objects that are stored as they are. With reload the file is read
// again when it has changed, as the server does. Keys are not kept.
func EncryptionProviders(file string, reload bool) (func(schema.GroupResource) string, error) {
	e := &encryption{file: file}
	if err := e.read(); err != nil {
		return nil, err
	}
	return func(resource schema.GroupResource) string {
		e.lock.Lock()
		defer e.lock.Unlock()
		if reload {
			_ = e.read() // a damaged file is refused by the server too: it goes on with the one before
		}
		return e.provider(resource)
	}, nil
}

type encryption struct {
	file string

	lock     sync.Mutex
	changed  time.Time
	size     int64
	provided map[schema.GroupResource]string
}

func (e *encryption) read() error {
	info, err := os.Stat(e.file)
	if err != nil {
		return fmt.Errorf("looking at the encryption configuration: %w", err)
	}
	if info.ModTime().Equal(e.changed) && info.Size() == e.size {
		return nil
	}
	content, err := os.ReadFile(e.file)
	if err != nil {
		return fmt.Errorf("reading the encryption configuration: %w", err)
	}
	var config apiserverv1.EncryptionConfiguration
	if err := yaml.Unmarshal(content, &config); err != nil {
		// The parser's error may quote the file, which holds keys.
		return fmt.Errorf("reading the encryption configuration %s: it is not valid YAML", e.file)
	}
	e.changed, e.size, e.provided = info.ModTime(), info.Size(), map[schema.GroupResource]string{}
	for _, one := range config.Resources {
		for _, name := range one.Resources {
			resource := schema.ParseGroupResource(name)
			if _, taken := e.provided[resource]; !taken && len(one.Providers) > 0 {
				e.provided[resource] = providerName(&one.Providers[0]) // the first one writes
			}
		}
	}
	return nil
}

// provider looks for the resource, then for its group, then for all.
// Source: k8s.io/apiserver/pkg/server/options/encryptionconfig.
func (e *encryption) provider(resource schema.GroupResource) string {
	for _, entry := range []schema.GroupResource{resource, {Group: resource.Group, Resource: "*"}, {Group: "*", Resource: "*"}} {
		if name, ok := e.provided[entry]; ok {
			return name
		}
	}
	return ""
}

func providerName(p *apiserverv1.ProviderConfiguration) string {
	switch {
	case p.AESGCM != nil:
		return "aesgcm"
	case p.AESCBC != nil:
		return "aescbc"
	case p.Secretbox != nil:
		return "secretbox"
	case p.KMS != nil:
		return "kms:" + p.KMS.Name
	}
	return "" // identity
}
