import { below, EVERYTHING } from './openai-texts.js';
import { type EndpointTexts, streamTree, textTree } from './text-tree.js';

const INTERACTION = [
  ...['outputs[].text', 'outputs[].summary[].text', 'outputs[].arguments.**', 'outputs[].result'],
  ...['steps[].content[].text', 'steps[].summary[].text', 'steps[].arguments.**', 'steps[].result'],
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
  ),
  answer: textTree(...INTERACTION),
  stream: {
    tree: streamTree({
      delta: ['delta.text', 'delta.content.text', 'delta.arguments'],
      repeat: below('interaction', INTERACTION),
    }),
    partOf: ({ index }, place) => `${String(index)}/${place}`,
    runOf: (_event, place) => /^\.delta(?:\.content)?\.text$/.exec(place)?.[0] ?? null,
    endsOf: ({ event_type, index }) => {
      if (event_type === 'step.stop' || event_type === 'content.stop') return [`${String(index)}/`];
      return event_type === 'interaction.completed' || event_type === 'interaction.complete'
        ? EVERYTHING
        : null;
    },
  },
};
