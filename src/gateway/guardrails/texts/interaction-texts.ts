import type { Json } from '../../../providers/endpoint.js';
import { below, WHOLE_EVENT } from './openai-texts.js';
import { type EndpointTexts, streamTree, textTree } from './text-tree.js';

const INTERACTION = [
  ...[
    'outputs[].text',
    'outputs[].summary[].text',
    'outputs[].arguments.**',
    'outputs[].result',
    'outputs[].result.*.**',
  ],
  ...[
    'steps[].content[].text',
    'steps[].summary[].text',
    'steps[].arguments.**',
    'steps[].result',
    'steps[].result.*.**',
  ],
];

/** https://ai.google.dev/api/interactions-api and https://ai.google.dev/gemini-api/docs/interactions/streaming */
export const interactions: EndpointTexts = {
  request: textTree(
    ...[
      'system_instruction',
      'input',
      'input.text',
      'input[].text',
      'input[].content',
      'input[].content[].text',
    ],
    ...['input[].summary[].text', 'input[].arguments.**', 'input[].result', 'input[].result[].text'],
    'input[].result.*.**',
  ),
  answer: textTree(...INTERACTION),
  stream: {
    tree: streamTree({
      delta: [
        ...['delta.text', 'delta.content.text', 'delta.arguments'],
        ...['step.content[].text', 'content.text'],
      ],
      repeat: below('interaction', INTERACTION),
    }),
    partOf: ({ index }, place) => `${String(index)}/${asDelta(place)}`,
    runOf: (_event, place) => /^\.delta(?:\.content)?\.text$/.exec(asDelta(place))?.[0] ?? null,
    endsOf: ({ event_type, index }) => {
      if (event_type === 'step.stop' || event_type === 'content.stop') return [`${String(index)}/`];
      return event_type === 'interaction.completed' || event_type === 'interaction.complete'
        ? WHOLE_EVENT
        : null;
    },
    carrierOf: (event) => (START.test(String(event.event_type)) ? deltaOfStart(event) : event),
  },
};

/** A start may have the beginning of the text that its deltas continue. */
const STARTED = /^\.(?:step\.content\[\d+\]|content)\.text$/;
const asDelta = (place: string): string => place.replace(STARTED, '.delta.text');
const START = /\.start$/;

/** A step must not start twice: the rest of its text is sent as its first piece. */
function deltaOfStart({ event_type, index, step, content }: Json): Json {
  const inside = ((step as Json | undefined)?.content ?? content) as Json | readonly (Json | null)[];
  const parts = Array.isArray(inside) ? (inside as readonly (Json | null)[]) : [inside as Json];
  const text = parts.map((part) => part?.text).find((one) => typeof one === 'string' && one !== '');
  return { event_type: String(event_type).replace(START, '.delta'), index, delta: { type: 'text', text } };
}
