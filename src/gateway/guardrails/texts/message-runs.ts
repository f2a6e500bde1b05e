/**
 * Which texts of a body a model, or a reader, takes as one: the text parts of a message, and messages that are one turn. A text is in one
 * run at most. Runs are numbered; the same number below zero is the run of the reasoning beside the text.
 */
type MessageMembers = Readonly<Record<string, unknown>>;

export const NO_RUN = 0;
export const reasoningRun = (run: number): number => -Math.abs(run);
export const isReasoning = (run: number): boolean => run < 0;

/** Instructions beside the messages. Providers put them before the system messages. https://docs.claude.com/en/api/messages */
const INSTRUCTIONS: ReadonlySet<string> = new Set([
  ...['instructions', 'system', 'systemInstruction', 'system_instruction', 'preamble'],
]);
const SYSTEM = 'system';
const ASSISTANT = 'assistant';
const PROMPT = 'prompt';

/**
 * Roles that are one turn. Translations put all system messages before the others, and results of tools into the user's turn:
 * https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use
 */
const TURNS: ReadonlyMap<string, string> = new Map([
  ['developer', SYSTEM],
  ['tool', 'user'],
  ['function', 'user'],
  ['model', ASSISTANT],
]);
/** Items of a response stand between its messages without a role. https://platform.openai.com/docs/api-reference/responses/object */
const RESULT = /_call_output$/;
const CALL = /_call$/;
const REASONING = 'reasoning';
const FUNCTION_RESULT = 'function_result';
/** Steps of an interaction have no role. https://ai.google.dev/api/interactions-api */
const STEP_TURNS: ReadonlyMap<string, string> = new Map([
  ['user_input', 'user'],
  [FUNCTION_RESULT, 'user'],
  ['model_output', ASSISTANT],
]);
const FUNCTION_RESPONSES: ReadonlySet<string> = new Set(['functionResponse', 'function_response']);
/** Names of a function's response that is an object. */
const RESPONSES: ReadonlySet<string> = new Set(['response', 'result']);
/** Its texts stand between those of the message, which clients join without it. */
const BESIDE = /_call$|_tool_result$/;
/** A part of the user's message with parts of its own. */
const TOOL_RESULT = 'tool_result';

/** Members that are texts of a message. */
const TEXT_NAMES: ReadonlySet<string> = new Set(['text', 'content', 'value']);
const THINKING = 'thinking';

/** The runs of one body. */
export class MessageRuns {
  private last = NO_RUN;
  private shared: Map<string, number> | null = null;

  next(): number {
    return ++this.last;
  }

  /** The run of everything with this name in the body. */
  of(name: string): number {
    this.shared ??= new Map();
    const known = this.shared.get(name) ?? this.next();
    this.shared.set(name, known);
    return known;
  }

  /** The run of a member of the body itself. */
  ofBody(name: string, body: MessageMembers): number {
    if (INSTRUCTIONS.has(name)) return this.of(SYSTEM);
    const isCompletion = typeof body.suffix === 'string' && body.suffix !== '';
    return isCompletion && (name === 'prompt' || name === 'suffix') ? this.of(PROMPT) : NO_RUN;
  }
}

/** Members of a body whose texts come first in their run, wherever they are written. */
export const leadsRun = (name: string): boolean => INSTRUCTIONS.has(name) || name === 'prompt';

/** The runs of the items of one list. */
export class ListRuns {
  private turn: string | null = null;
  private run = NO_RUN;
  /** The run of the reasoning items since the last turn of the user. */
  private reasoning: number | null = null;

  constructor(
    private readonly runs: MessageRuns,
    /** The run of the list's items that are no messages. */
    private readonly own: number,
  ) {}

  of(item: unknown): number {
    const members = membersOf(item);
    const type = typeOf(members);
    if (type === REASONING) return reasoningRun((this.reasoning ??= this.runs.next()));
    const turn = turnOf(members);
    if (turn === SYSTEM) return this.runs.of(SYSTEM);
    if (turn !== null && turn !== this.turn) {
      if (isSilent(members)) return this.runs.next();
      this.begin(turn);
    }
    if (BESIDE.test(type)) return this.runs.next();
    return turn === null ? this.own : this.run;
  }

  private begin(turn: string): void {
    this.turn = turn;
    this.run = this.runs.next();
    if (turn !== ASSISTANT) this.reasoning = null;
  }
}

/** An object of a message: the name of its member, and its run. */
interface HolderAt {
  readonly name: string;
  readonly run: number;
}

/** The run of a member, by that of its object. */
export function runBelow(name: string, holder: MessageMembers, at: HolderAt): number {
  const { run } = at;
  if (run === NO_RUN) return NO_RUN;
  if (name === THINKING) return reasoningRun(run);
  if (!hasText(name, holder, at.name)) return NO_RUN;
  return holder.thought === true ? reasoningRun(run) : run;
}

function hasText(name: string, holder: MessageMembers, holderName: string): boolean {
  if (FUNCTION_RESPONSES.has(name)) return true;
  if (FUNCTION_RESPONSES.has(holderName)) return RESPONSES.has(name);
  const inside = holder[name];
  const isResult = name === resultName(typeOf(holder));
  if (Array.isArray(inside)) return isResult || hasParts(name, holder);
  if (typeof inside !== 'string') return isResult || name === 'text';
  return isResult || TEXT_NAMES.has(name) || (RESPONSES.has(holderName) && isOutput(name, holder));
}

/** The member of an item that is the result of a call. */
function resultName(type: string): string | null {
  if (type === FUNCTION_RESULT) return 'result';
  return RESULT.test(type) ? 'output' : null;
}

/** A response of a function is an object: its output, or its only member. https://ai.google.dev/api/caching#FunctionResponse */
const isOutput = (name: string, response: MessageMembers): boolean =>
  name === 'output' || Object.keys(response).length === 1;

/** Whether a list holds the parts of a message, and not a document within it. */
function hasParts(name: string, holder: MessageMembers): boolean {
  if (name === 'parts') return true;
  return name === 'content' && (turnOf(holder) !== null || typeOf(holder) === TOOL_RESULT);
}

function turnOf(item: MessageMembers): string | null {
  const { role } = item;
  if (typeof role === 'string') return TURNS.get(role) ?? role;
  const type = typeOf(item);
  const step = STEP_TURNS.get(type);
  if (step !== undefined) return step;
  // A content of Gemini's without a role is the user's. https://ai.google.dev/api/caching#Content
  if (RESULT.test(type) || Array.isArray(item.parts)) return 'user';
  return CALL.test(type) || type === REASONING ? ASSISTANT : null;
}

/** Roles of results, which stay without a text. */
const RESULT_ROLES: ReadonlySet<unknown> = new Set(['tool', 'function']);
const CONTENTS = ['content', 'parts', 'content_blocks', 'refusal', 'tool_plan'] as const;

/** Whether translations leave out a message, because it has neither a text nor a call. Its neighbours then become one message. */
function isSilent(item: MessageMembers): boolean {
  const { role, tool_calls, function_call } = item;
  const type = typeOf(item);
  const isMessage = typeof role === 'string' || Array.isArray(item.parts) || STEP_TURNS.has(type);
  if (!isMessage || RESULT_ROLES.has(role) || type === FUNCTION_RESULT) return false;
  const isCall = (Array.isArray(tool_calls) && tool_calls.length > 0) || (function_call ?? null) !== null;
  return !isCall && CONTENTS.every((name) => saysNothing(item[name]));
}

/** Parts that translations leave out, by the type. */
const THOUGHTS: ReadonlySet<string> = new Set([THINKING, 'redacted_thinking', REASONING]);
const PART_TEXTS = ['text', 'refusal'] as const;

function saysNothing(content: unknown): boolean {
  if (Array.isArray(content)) return content.every(saysNothing);
  if (typeof content === 'string') return content.trim() === '';
  if (typeof content !== 'object' || content === null) return true;
  const part = content as MessageMembers;
  if (part.thought === true || THOUGHTS.has(typeOf(part))) return true;
  const texts = PART_TEXTS.filter((name) => name in part);
  const isText = texts.length > 0 || Object.keys(part).length === 0;
  return isText && texts.every((name) => saysNothing(part[name]));
}

const typeOf = ({ type }: MessageMembers): string => (typeof type === 'string' ? type : '');

const NOBODY: MessageMembers = {};
const membersOf = (item: unknown): MessageMembers =>
  typeof item === 'object' && item !== null ? (item as MessageMembers) : NOBODY;
