// Reads one request on stdin and answers on stdout: for each query what Neo4j's language package
// says of it, how its formatter lays it out, which types its columns may have, and what it writes.
//
// request: {width, catalog: {procedures, functions}, queries: [{text, parameters, labels,
//           relationshipTypes, propertyKeys, graphSchema}]}
// answer:  [{diagnostics: [{line, message}], formatted, columns: {name: [type]}, writes: [...]}]
import { formatQuery, getDebugTree, lintCypherQuery } from '@neo4j-cypher/language-support';

const LANGUAGE = 'CYPHER 25';
const named = (node, name) => node.children.filter((child) => child.name === name);
const first = (node, name) => named(node, name)[0];

function* below(node, name, stop = () => false) {
  for (const child of node.children) {
    if (stop(child)) continue;
    if (child.name === name) yield child;
    yield* below(child, name, stop);
  }
}

const words = (node) => (node.children.length ? node.children.map(words).join('') : node.name);
const plain = (text) => text.replace(/^`(.*)`$/s, '$1');
const variableOf = (node) => {
  const found = first(node, 'variable');
  return found ? plain(words(found)) : null;
};

// Names of a pattern's label expression; a computed one stands as $(...).
function namesOf(node) {
  const found = [];
  for (const expression of named(node, 'labelExpression')) {
    for (const leaf of below(expression, 'labelExpression1')) {
      const inner = leaf.children[0];
      if (inner.name === 'symbolicNameString') found.push(plain(words(inner)));
      else if (inner.name === 'dynamicLabel' || words(inner).startsWith('$')) found.push(words(leaf));
    }
  }
  return found;
}

// What each variable is, by every pattern that names it together with a label or type.
function declared(tree) {
  const known = {};
  for (const [rule, kind] of [['nodePattern', 'label'], ['relationshipPattern', 'type']]) {
    for (const pattern of below(tree, rule)) {
      const variable = variableOf(pattern);
      if (!variable) continue;
      known[variable] ??= { kind, names: [] };
      known[variable].names.push(...namesOf(pattern));
    }
  }
  return known;
}

const keysOf = (pattern) =>
  named(pattern, 'properties')
    .flatMap((properties) => named(properties, 'map'))
    .flatMap((map) => named(map, 'propertyKeyName'))
    .map((key) => plain(words(key)));

// CREATE and MERGE: a pattern that carries labels makes a node, one with a type a relationship.
function* created(clause) {
  const inside = (child) => child.name === 'mergeAction' || child.name === 'expression';
  for (const node of below(clause, 'nodePattern', inside)) {
    for (const name of namesOf(node)) yield { how: 'create', kind: 'label', name, keys: keysOf(node) };
  }
  for (const link of below(clause, 'relationshipPattern', inside)) {
    for (const name of namesOf(link)) yield { how: 'create', kind: 'type', name, keys: keysOf(link) };
  }
}

function* changed(item, known) {
  const labels = first(item, 'nodeLabels') ?? first(item, 'nodeLabelsIs');
  if (labels) {
    for (const label of labels.children) {
      yield { how: 'change', kind: 'label', name: plain(words(label).replace(/^(:|IS)/i, '')), keys: [] };
    }
    return;
  }
  const access = first(item, 'expression2');
  const variable = variableOf(item) ?? plain(words(access.children[0]).replace(/^\((.*)\)$/s, '$1'));
  const key = access && [...below(access, 'propertyKeyName')][0];
  yield* touched('change', variable, known, key ? [plain(words(key))] : []);
}

function* touched(how, variable, known, keys) {
  const target = known[variable];
  if (!target?.names.length) yield { how, kind: 'unknown', name: variable, keys };
  else for (const name of target.names) yield { how, kind: target.kind, name, keys };
}

function* writes(tree) {
  const known = declared(tree);
  for (const rule of ['createClause', 'mergeClause', 'insertClause']) {
    for (const clause of below(tree, rule)) yield* created(clause);
  }
  for (const rule of ['setItem', 'removeItem']) {
    for (const item of below(tree, rule)) yield* changed(item, known);
  }
  for (const clause of below(tree, 'deleteClause')) {
    for (const expression of named(clause, 'expression')) {
      yield* touched('delete', plain(words(expression)), known, []);
    }
  }
}

// A column's symbol is the last one of its name that the text mentions.
function columns(symbols, names) {
  const found = {};
  for (const name of names) {
    const last = (symbol) => Math.max(symbol.definitionPosition, ...symbol.references);
    const same = symbols.filter((symbol) => symbol.variable === name);
    same.sort((a, b) => last(b) - last(a));
    if (same.length) found[name] = same[0].types;
  }
  return found;
}

function analyse(query, catalog, width) {
  const schema = {
    defaultLanguage: LANGUAGE,
    labels: query.labels,
    relationshipTypes: query.relationshipTypes,
    propertyKeys: query.propertyKeys,
    graphSchema: query.graphSchema,
    parameters: Object.fromEntries(query.parameters.map((name) => [name, ''])),
    procedures: { [LANGUAGE]: catalog.procedures },
    functions: { [LANGUAGE]: catalog.functions },
  };
  const found = lintCypherQuery(query.text, schema, { consoleCommandsEnabled: false });
  return {
    diagnostics: found.diagnostics.map((d) => ({ line: d.range.start.line + 1, message: d.message })),
    formatted: formatQuery(query.text, { maxColumn: width }).formattedQuery,
    columns: columns(found.symbolTables.flat(), query.columns),
    writes: [...writes(getDebugTree(query.text))],
  };
}

let text = '';
for await (const chunk of process.stdin) text += chunk;
const request = JSON.parse(text);
process.stdout.write(
  JSON.stringify(request.queries.map((query) => analyse(query, request.catalog, request.width))),
);
