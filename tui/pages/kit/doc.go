// Package kit is what pages have in common: a page that is a table, a page that is
// a document, a page of several parts, and how all of them look while there is
// nothing to show. It may import the contract, data and the components; pages
// import it, and it imports no page.
package kit
