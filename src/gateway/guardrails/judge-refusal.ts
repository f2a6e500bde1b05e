import { editedJson } from '../../common/json/edited-json.js';
import { wholeResponse } from '../framing/index.js';
import { nothingRead } from '../recording/reading.js';
import type { TranslatedBody } from '../translation/encode-body.js';
import { translatedAnswer, translatedError } from '../translation/translated-answer.js';
import type { PendingAnswer } from './answering.js';
import { searching } from './applicable.js';
import { gathered } from './gathered-answer.js';
import { type GuardedRequest, judged } from './guard-request.js';
import { type JudgedAnswer, withheld } from './judged-answer.js';
import { type Matter, needsReading } from './run-hooks.js';
import type { ReadTexts } from './texts/body-texts.js';
import { textTree } from './texts/text-tree.js';
import { textsOfWholeBody } from './whole-texts.js';

const REDIRECT_MIN = 300;
const ERROR_MIN = 400;
const NOT_MODIFIED = 304;
const PLAIN_TYPE = 'text/plain; charset=utf-8';
/** An error has no place for model text, so every string of it is one beside. */
const ANYWHERE = textTree();

/** Whether a response is a refusal, or a redirect, whose texts a guardrail may withhold or change. */
export function isJudgedRefusal(
  { guards }: GuardedRequest,
  { attempt, exchangeFacts }: PendingAnswer,
): boolean {
  const { status } = attempt;
  if (status < REDIRECT_MIN || status === NOT_MODIFIED || exchangeFacts.method === 'HEAD') return false;
  return searching(guards.output).some(needsReading);
}

/**
 * Judges a refusal or a redirect of the provider, which may quote the model: Groq puts the text of a failed call into `failed_generation`.
 * Only checks for forbidden content apply, because nothing can be required of an error. https://console.groq.com/docs/tool-use
 */
export async function judgeRefusal(guarded: GuardedRequest, answering: PendingAnswer): Promise<JudgedAnswer> {
  return judgedRefusal(inClientsWords(await gathered(answering), answering), guarded, answering);
}

/** The same for a whole one in the client's dialect. */
export async function judgedRefusal(
  { contentType, bytes }: TranslatedBody,
  guarded: GuardedRequest,
  answering: PendingAnswer,
): Promise<JudgedAnswer> {
  const { attempt, head } = answering;
  const read = readRefusal({ contentType, bytes });
  const matter: Matter = { side: 'output', facts: guarded.facts, tree: ANYWHERE, ...read };
  const judgement = await judged(
    searching(guarded.guards.output),
    matter,
    guarded.results.after_request_hooks,
  );
  const answer: JudgedAnswer = {
    status: attempt.status,
    contentType,
    body: bodyOf(bytes, read, judgement.matter),
    reading: nothingRead(),
    isDenied: judgement.isDenied,
    refusal: judgement.refusal,
    head,
  };
  return judgement.isDenied ? withheld(answer, guarded, answering) : answer;
}

function inClientsWords(whole: Buffer, { attempt, translated, head }: PendingAnswer): TranslatedBody {
  if (!translated) return { contentType: head.contentType ?? PLAIN_TYPE, bytes: whole };
  if (attempt.status >= ERROR_MIN) return translatedError(attempt, whole, translated);
  return translatedAnswer(attempt, whole, translated, nothingRead());
}

/** The texts of a refusal: those of an object, or a page as one text. */
function readRefusal({ contentType, bytes }: TranslatedBody): Pick<Matter, 'json' | 'texts'> {
  const read = wholeResponse(bytes);
  const json = read.kind === 'json' ? read.json : null;
  const text = read.kind === 'json' || read.kind === 'text' ? read.text : null;
  return { json, texts: textsOfWholeBody({ json, text, bytes, contentType }, true) };
}

function bodyOf(bytes: Buffer, { json, texts }: Pick<Matter, 'json' | 'texts'>, after: Matter): Buffer {
  if (json && after.json && after.json !== json) return editedJson(bytes, json, after.json);
  const changed = pageOf(after.texts);
  return changed === undefined || changed === pageOf(texts) ? bytes : Buffer.from(changed);
}

const pageOf = (texts: ReadTexts | null): string | undefined => (texts?.unread ? undefined : texts?.every[0]);
