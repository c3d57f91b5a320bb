// The search puts functions first: C's, then classes, functions and operations of a graph, then the
// rest. Among these, the shortest name that has all words of the query comes first.
const words = (new URLSearchParams(window.location.search).get("q") || "")
  .toLowerCase()
  .split(/[^a-z0-9]+/)
  .filter(Boolean);

const FOLDERS = { "reference/c": 300, "reference/api": 200, "reference/graph": 200 };

var Scorer = {
  score: ([page, title, anchor, , score]) => {
    const [folder, own] = page.split(/\/(?=[^/]*$)/);
    const name = own?.toLowerCase().replaceAll("_", "");
    const described = folder in FOLDERS && title.split(".").pop() === own;
    if (!described || !words.every((word) => name.includes(word))) return score;
    const spare = name.length - words.join("").length;
    return (spare ? FOLDERS[folder] : 1000) - spare - (anchor ? 150 : 0);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
