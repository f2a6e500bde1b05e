/** Texts of JSON documents and of a config's graph. */
export const documentWords = {
  graph: { label: 'Route of the config', taken: 'taken' },
  json: { label: 'JSON document', before: 'Before', after: 'After' },
};
