// Package config is kapi's configuration: one struct, its defaults, its
// sources and its validation.
//
// The sources, strongest first: command-line flags, KAPI_* environment
// variables, the configuration file, the defaults. Everything about a key (its
// path, flag, variable, type and what it allows) stands once, in the table of
// Keys; files, environment, flags, help and errors are read off that table.
//
// A Config is loaded and validated once and then handed down by value. The
// package starts nothing, creates nothing and reads no other file than the
// configuration: whether a certificate or a manifest exists is found out by
// who opens it.
//
// It may import viper, pflag, cobra, the YAML parser, the apimachinery and
// component-base helpers for quantities and flags, and internal/fault. It must
// not import k8s.io/kubernetes or k8s.io/apiserver: the flag set of
// kube-apiserver is handed in.
package config
