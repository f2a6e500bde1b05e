import { type EchoUpstream, header, type Received, type Script } from '../echo.js';
import { anthropic } from './anthropic.js';
import { bedrock } from './bedrock.js';
import { gemini } from './gemini.js';
import { openAiChat } from './openai-chat.js';
import { openAiResponses } from './openai-responses.js';
import { type Asked, json, judged, type StrictDialect } from './rules.js';
import { callsFirstAndLast, type MoveOf } from './scene.js';

/** What a provider got, and why it refused it; null where it accepted it. */
export interface Checked {
  readonly path: string;
  readonly refused: string | null;
  readonly body: unknown;
}

/** Has an upstream answer as OpenAI, Anthropic, Google and Bedrock do, by the path; returns what it has judged so far. */
export function serveStrictly(upstream: EchoUpstream, moveOf: MoveOf = callsFirstAndLast): Checked[] {
  const checked: Checked[] = [];
  const dialects = [openAiChat, openAiResponses, anthropic, gemini, bedrock].map((dialect) =>
    speaker(dialect as StrictDialect<unknown>, checked),
  );
  upstream.otherwise((received) => {
    const path = decodeURIComponent(received.target.split('?', 1)[0] ?? '');
    const asked = { path, header: (name: string) => header(received, name), moveOf };
    const answer = dialects.find(({ paths }) => paths.test(path))?.answer(received, asked);
    if (answer) return answer;
    checked.push({ path, refused: 'no such path', body: null });
    return json({ error: { message: `Unknown path ${path}` } }, 404);
  });
  return checked;
}

interface Speaker {
  readonly paths: RegExp;
  readonly answer: (received: Received, asked: Asked) => Script;
}

function speaker(dialect: StrictDialect<unknown>, checked: Checked[]): Speaker {
  return {
    paths: dialect.paths,
    answer: (received, asked) => {
      const verdict = judged(dialect, received, asked);
      const refused = 'refused' in verdict ? verdict.refused : null;
      checked.push({ path: asked.path, refused, body: JSON.parse(received.body.toString()) });
      return 'body' in verdict ? dialect.answer(verdict.body, asked) : dialect.refusal(verdict.refused);
    },
  };
}
