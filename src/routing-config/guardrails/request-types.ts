/**
 * The compatible API's names of request families, for checks that allow some and block others. Endpoints without a name there are `proxy`.
 */
export const REQUEST_TYPES = {
  'chat-completions': 'chatComplete',
  completions: 'complete',
  responses: 'createModelResponse',
  messages: 'messages',
  embeddings: 'embed',
  rerank: 'rerank',
  moderations: 'moderate',
  'image-generations': 'imageGenerate',
  speech: 'createSpeech',
  transcriptions: 'createTranscription',
  translations: 'createTranslation',
} as const satisfies Readonly<Record<string, string>>;

/** Names of the compatible API that a request can have, and those that it can be compared with. */
export const REQUEST_TYPE_NAMES: readonly string[] = [
  ...Object.values(REQUEST_TYPES),
  'proxy',
  'realtime',
  'uploadFile',
  'listFiles',
  'retrieveFile',
  'deleteFile',
  'retrieveFileContent',
  'createBatch',
  'retrieveBatch',
  'cancelBatch',
  'listBatches',
  'getBatchOutput',
  'listFinetunes',
  'createFinetune',
  'retrieveFinetune',
  'cancelFinetune',
  'getModelResponse',
  'deleteModelResponse',
  'listResponseInputItems',
];
