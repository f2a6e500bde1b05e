/** The messages of a request. */
export const messageWords = {
  roles: {
    system: 'System',
    developer: 'Developer',
    user: 'User',
    assistant: 'Assistant',
    tool: 'Tool result',
    function: 'Function result',
  } as Readonly<Record<string, string>>,
  reasoning: 'Reasoning',
  toolCall: (name: string) => `Calls ${name}`,
  image: 'Image',
  audio: 'Audio',
  other: (type: string) => `Part of type ${type}`,
  showAll: (characters: string) => `Show all ${characters} characters`,
  showLess: 'Show less',
  none: 'This request has no messages to show. Open Raw to see its body.',
};
