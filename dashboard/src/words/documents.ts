/** JSON documents and the graph of a config. */
export const documentWords = {
  graph: { label: 'Route of the config', taken: 'taken' },
  json: { label: 'JSON document', before: 'Before', after: 'After' },
};
