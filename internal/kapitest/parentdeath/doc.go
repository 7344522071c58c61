// Package parentdeath keeps the processes of a test from outliving it. It is apart
// from kapitest because that links the whole server. It imports the standard
// library only.
package parentdeath
