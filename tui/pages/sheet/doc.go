// Package sheet is what the pages about objects of the server have in common: the
// first lines that say what is wrong and what to do, conditions and their history,
// small tables, and what a server does not show. It is no page and knows none. It
// may import kit, the contract, data, the components and what is joined.
package sheet
