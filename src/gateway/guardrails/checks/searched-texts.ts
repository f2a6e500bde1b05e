import type { CheckSubject } from '../check.js';

/** The texts to search for something: each one, and neighbouring parts of a message as one. */
export function searchedTexts({ texts, runs }: Pick<CheckSubject, 'texts' | 'runs'>): readonly string[] {
  return runs.length === 0 ? texts : [...texts, ...runs.flatMap(({ joined }) => joined)];
}

/** Each text once, neighbouring parts of a message as one text: for services that read the whole. */
export function joinedTexts({ texts, runs }: Pick<CheckSubject, 'texts' | 'runs'>): readonly string[] {
  if (runs.length === 0) return texts;
  const whole = new Map(runs.map(({ positions, joined }) => [positions[0], joined[0]]));
  const isPart = new Set(runs.flatMap(({ positions }) => positions));
  return texts.flatMap((text, position) => {
    if (!isPart.has(position)) return [text];
    const joined = whole.get(position);
    return joined === undefined ? [] : [joined];
  });
}
