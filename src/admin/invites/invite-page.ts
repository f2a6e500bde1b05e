import { createHash } from 'node:crypto';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { INVITE_PAGE } from '../../common/contracts/invite-link.js';
import { publicPath } from '../../common/http/body-limits.js';

/** Reads the token after the `#`, which is sent to no server, and removes it from the URL, so that no history keeps it. */
const SCRIPT = `
const token = location.hash.slice(1);
history.replaceState(null, '', location.pathname);
const form = document.querySelector('form');
const said = document.querySelector('output');
const lines = (texts) => said.replaceChildren(...texts.map((text) => {
  const line = document.createElement('p');
  line.textContent = text;
  return line;
}));
if (!token) { form.hidden = true; lines(['This link is not complete. Open it exactly as it stands in the mail.']); }
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const { first_name, last_name, password } = Object.fromEntries(new FormData(form));
  const body = JSON.stringify({ token, first_name, last_name, ...(password && { password }) });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch('${publicPath('admin/invites/accept')}', { method: 'POST', headers, body })
    .then(async (response) => ({ ok: response.ok, ...(await response.json()) }))
    .catch(() => ({ error: { message: 'The server cannot be reached. Try again.' } }));
  if (!answer.ok) return lines([answer.error.message]);
  form.hidden = true;
  const keys = answer.api_keys.map(({ workspace_id, key }) => 'API key for the workspace ' + workspace_id + ': ' + key);
  lines(['Welcome, ' + answer.email + '.', ...keys, ...(keys.length ? ['Copy what is above: it is not shown again.'] : [])]);
  if (password) {
    const link = document.createElement('a');
    link.href = '/ui/sign-in';
    link.textContent = 'Sign in';
    said.append(link);
  }
});
`;

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:4rem auto;padding:0 1rem}label{display:block;margin:.75rem 0}input{display:block;width:100%;box-sizing:border-box;font:inherit;padding:.4rem}button{font:inherit;padding:.4rem 1rem}output{overflow-wrap:anywhere}';

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Accept your invite – Gatehouse</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Accept your invite</h1>
<form>
<label>First name <input name="first_name" required maxlength="120" autocomplete="given-name"></label>
<label>Last name <input name="last_name" required maxlength="120" autocomplete="family-name"></label>
<label>Password, if you will sign in with one <input name="password" type="password" minlength="12" maxlength="200" autocomplete="new-password"></label>
<button>Accept</button>
</form>
<output></output>
<noscript>This page needs JavaScript: the link's secret must not be sent as part of an address.</noscript>
<script>${SCRIPT}</script>
</body>
</html>
`;

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; script-src ${hashOf(SCRIPT)}; style-src ${hashOf(STYLE)}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
} as const;

/** Serves the landing page of invites. It is the same for all users and contains no data. Call it before `init`. */
export function serveInvitePage(app: NestFastifyApplication): void {
  app
    .getHttpAdapter()
    .getInstance()
    .get(`/${INVITE_PAGE}`, (_request, reply) => reply.headers(HEADERS).send(PAGE));
}
