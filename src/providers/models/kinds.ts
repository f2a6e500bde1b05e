import type { EndpointId } from '../endpoint.js';

/** The endpoints of models with a certain name. */
interface ModelKind {
  readonly name: RegExp;
  readonly endpoints: readonly EndpointId[];
}

const CHAT: readonly EndpointId[] = [
  'chat-completions',
  'responses',
  'compaction',
  'messages',
  'count-tokens',
  'generate-content',
  'interactions',
];

/** Price data does not contain a model's purpose, so its name must determine it. The first match counts; all others are chat models. */
const KINDS: readonly ModelKind[] = [
  { name: /rerank/, endpoints: ['rerank'] },
  { name: /embed|(^|\/)(bge|gte|e5|voyage)-/, endpoints: ['embeddings', 'embed-content'] },
  { name: /moderation/, endpoints: ['moderations'] },
  {
    name: /transcribe|whisper|^scribe_|^(nova|nova-[23]|enhanced|base)(-(general|phonecall))?$/,
    endpoints: ['transcriptions', 'translations', 'realtime'],
  },
  { name: /realtime|-live-/, endpoints: ['realtime'] },
  { name: /(^|[-/])(tts|aura|orpheus)(-|$)|^eleven_/, endpoints: ['speech', 'generate-content'] },
  {
    name: /gpt-image|dall-e|imagen|glm-image|grok-imagine|cogview|^recraft|stable-(diffusion|image)|^(sd3|core$|ultra$)|(^|\/)flux/,
    endpoints: ['image-generations', 'image-edits', 'image-variations'],
  },
  { name: /^(inpaint|erase|search-and-replace|remove-background)$/, endpoints: ['image-edits'] },
  { name: /(^|-)ocr(-|$)/, endpoints: ['ocr'] },
  { name: /^(text-)?(ada|babbage|curie|davinci)(-\d+)?$|turbo-instruct/, endpoints: ['completions'] },
];

/** The endpoints that accept a model of this name; none if it is reached only by pass-through. */
export function endpointsOfModel(model: string): readonly EndpointId[] {
  const name = model.toLowerCase();
  return KINDS.find((kind) => kind.name.test(name))?.endpoints ?? CHAT;
}
