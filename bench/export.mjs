/**
 * Measures how fast an export of the request log is written, after bench/seed-logs.mjs.
 *
 *   node bench/export.mjs http://127.0.0.1:8787 <admin key> <workspace id> [seconds = 30] [format = jsonl]
 *
 * The export is stopped after that time; the result is the number of rows in its file by then.
 */
import { setTimeout as sleep } from 'node:timers/promises';

const [base, key, workspace_id, seconds = '30', format = 'jsonl'] = process.argv.slice(2);
if (!base || !key || !workspace_id) {
  console.error('usage: node bench/export.mjs <base url> <admin key> <workspace id> [seconds] [format]');
  process.exit(1);
}
const FIELDS = {
  few: ['id', 'created_at', 'ai_model', 'total_units', 'cost'],
  usual: [
    'id',
    'created_at',
    'trace_id',
    'ai_org',
    'ai_model',
    'req_units',
    'res_units',
    'cost',
    'response_time',
    'response_status_code',
    'api_key_id',
    'metadata',
  ],
};

async function call(method, path, body) {
  const answer = await fetch(new URL(path, base), {
    method,
    headers: { 'x-gateway-api-key': key, ...(body ? { 'content-type': 'application/json' } : {}) },
    body: body && JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return JSON.parse(text);
}

for (const [name, requested_data] of Object.entries(FIELDS)) {
  const { id } = await call('POST', '/v1/logs/exports', {
    workspace_id,
    filters: {},
    requested_data,
    format,
  });
  await call('POST', `/v1/logs/exports/${id}/start`);
  const deadline = Date.now() + Number(seconds) * 1_000;
  let first = null;
  let now = await call('GET', `/v1/logs/exports/${id}`);
  while (now.status === 'in_progress' && Date.now() < deadline) {
    await sleep(100);
    now = await call('GET', `/v1/logs/exports/${id}`);
    // From the first piece on: the delay of the queue is not measured here.
    if (first === null && now.exported_rows > 0) first = { at: Date.now(), rows: now.exported_rows };
  }
  const took = (Date.now() - (first?.at ?? Date.now())) / 1_000;
  if (now.status === 'in_progress') await call('POST', `/v1/logs/exports/${id}/cancel`);
  console.log(
    `${format}, ${requested_data.length} fields (${name}): ${now.exported_rows} rows, ${Math.round((now.exported_rows - (first?.rows ?? 0)) / took)} rows/s`,
  );
}
