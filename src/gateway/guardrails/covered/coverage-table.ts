import { ENDPOINT_IDS, type EndpointId, type EndpointOperation } from '../../../providers/endpoint.js';
import { endpoints } from '../../../providers/endpoints/index.js';
import type { AnswerReading, TextCoverage, RequestReading } from './coverage-row.js';
import { ENDPOINT_COVERAGE } from './endpoint-coverage.js';
import { storedCoverage } from './stored-coverage.js';

/** What a reader of the documentation needs to know of each kind of reading. */
const REQUESTS: Readonly<Record<RequestReading, string>> = {
  read: 'judged',
  file: 'passes unread',
  unread: 'refused (imposed)',
  outside: 'refused',
};

const ANSWERS: Readonly<Record<AnswerReading, string>> = {
  read: 'judged',
  searched: 'searched',
  media: 'passes unread (media)',
  metadata: 'passes unread (no model text)',
  unread: 'refused',
};

/** The table of what guardrails judge in Markdown, for docs/guardrails.md, generated from the rows so that it cannot differ. */
export function coverageTable(): string {
  const named = new Set(storedCoverage.flatMap(({ operations }) => operations.map(keyOf)));
  const ofEndpoints = ENDPOINT_IDS.flatMap((id) => {
    const operations = operationsOf(id).filter((operation) => !named.has(keyOf(operation)));
    return operations.length === 0 ? [] : [line(operations, ENDPOINT_COVERAGE[id])];
  });
  return [
    '| Requests below `/v1` | Body | Response |',
    '|---|---|---|',
    ...ofEndpoints,
    ...storedCoverage.map((row) => line(row.operations, row)),
    `| \`HEAD\` of any path | – | passes (a head only) |`,
    `| any other path or method | ${REQUESTS.unread} | ${ANSWERS.unread} |`,
  ].join('\n');
}

const keyOf = ({ method, path }: EndpointOperation): string => `${method} ${path}`;

const operationsOf = (id: EndpointId): readonly EndpointOperation[] =>
  endpoints.filter((endpoint) => endpoint.id === id).flatMap(({ operations }) => operations);

function line(operations: readonly EndpointOperation[], { request, answer }: TextCoverage): string {
  const hasBody = operations.some(({ method }) => method === 'POST');
  return `| ${requestsOf(operations)} | ${hasBody ? REQUESTS[request] : '–'} | ${ANSWERS[answer]} |`;
}

/** One path with all its methods: `GET POST /threads/{id}`. */
function requestsOf(operations: readonly EndpointOperation[]): string {
  const methods = new Map<string, string[]>();
  for (const { method, path } of operations) methods.set(path, [...(methods.get(path) ?? []), method]);
  return [...methods].map(([path, names]) => `\`${names.join(' ')} ${path}\``).join(' ');
}
