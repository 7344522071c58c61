// Package view prints what commands show on more than a table's line: requests
// and starts as waterfalls, explanations as trees, everything about one
// definition, the overview. A view is a pure function from objects of the inspect
// API (or joined ones) to text for a text.Screen: it asks no server and no clock,
// so what it prints is tested as golden files. It may import the API types, the
// packages under client/inspection, and text.
package view
