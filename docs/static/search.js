/* How the search ranks pages: Sphinx's own points, less for the pages that only Linklab's developers need. */
var Scorer = {
  score: ([document_name, , , , score]) =>
    score - (/^(docs\/(development|claims|benchmark|speed)|CHANGELOG|CONTRIBUTING|SECURITY)/.test(document_name) ? 30 : 0),
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};

/* Sphinx finds pages that have all words of a question. Behind them stand those that have some: a page's points are
   those of its words together, and a word that few pages have counts more. Sphinx finds a page for its title, for an
   entry of the index and for its text: it stands there once, where it was found best. Results lie in reverse, the best
   one last.
   This stands before Sphinx's own code in one file, and runs when that is read. */
queueMicrotask(() => {
  const having_all = Search._performSearch;
  Search._performSearch = (query, terms, excluded, ...more) => {
    const found = having_all(query, terms, excluded, ...more).filter(([page], n, all) => n === all.findLastIndex((it) => it[0] === page));
    const words = splitQuery(query.toLowerCase()).filter((word) => !stopwords.has(word) && word[0] !== "-");
    if (words.length < 2) return found;
    const points = new Map(), best = new Map();
    for (const word of words) {
      const having = new Map();
      for (const result of having_all(word, new Set([new Stemmer().stemWord(word)]), excluded, new Set(), new Set()))
        having.set(result[0], result);
      const weight = Math.log((1 + Search._index.docnames.length) / (1 + having.size));
      for (const [page, result] of having) {
        points.set(page, (points.get(page) || 0) + weight * Math.max(1, result[4]));
        if (!best.has(page) || best.get(page)[4] < result[4]) best.set(page, result);
      }
    }
    for (const [page] of found) best.delete(page);
    const some = [...best.values()].sort((one, other) => points.get(one[0]) - points.get(other[0]));
    return [...some, ...found];
  };
});
