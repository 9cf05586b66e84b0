/* How the search ranks pages: Sphinx's own points, less for the pages that only Linklab's developers need. */
var Scorer = {
  score: ([document_name, , , , score]) =>
    score - (/^(docs\/(development|claims|benchmark|speed)|CHANGELOG|CONTRIBUTING|SECURITY)/.test(document_name) ? 30 : 0),
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};
