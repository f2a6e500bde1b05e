/** Starts processes, communicates with them, and stops only them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * Starts a program. `log`: a file descriptor for its output; `ipc`: opens a message channel.
 *
 * @param {string[]} command
 * @param {{ env?: object, cwd?: string, log?: number, ipc?: boolean }} options
 */
export function start(command, { env = process.env, cwd, log, ipc = false } = {}) {
  const [program, ...parameters] = command;
  const output = log ?? 'inherit';
  const stdio = ipc ? ['ignore', output, output, 'ipc'] : ['ignore', output, output];
  const child = spawn(program, parameters, { env, cwd, stdio });
  running.add(child);
  child.on('error', () => running.delete(child));
  child.on('exit', () => running.delete(child));
  return child;
}

export function isRunning(child) {
  return child.exitCode === null && child.signalCode === null;
}

/** Asks the process to end, and kills it after `patienceMs`. */
export async function stop(child, patienceMs = 15_000) {
  if (!isRunning(child)) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const patience = setTimeout(() => child.kill('SIGKILL'), patienceMs);
  await gone;
  clearTimeout(patience);
}

export async function stopAll() {
  await Promise.all([...running].map((child) => stop(child)));
}

/** Sends a message and waits for the response; rejects when the process ends instead. */
export async function ask(child, message) {
  const answer = firstMessage(child);
  child.send(message);
  return answer;
}

export function firstMessage(child) {
  return new Promise((resolve, reject) => {
    const ended = (code, signal) => reject(new Error(`the process ended (${signal ?? code})`));
    child.once('exit', ended);
    child.once('message', (message) => {
      child.off('exit', ended);
      resolve(message);
    });
  });
}

/** Waits until GET of the URL returns a status that `isReady` accepts. */
export async function untilAnswers(
  child,
  url,
  { isReady = (status) => status < 500, seconds = 60, logFile } = {},
) {
  const deadline = Date.now() + seconds * 1000;
  while (Date.now() < deadline) {
    if (!isRunning(child)) throw new Error(`it ended at once.${tailOf(logFile)}`);
    const status = await fetch(url).then(readStatus, () => 0);
    if (status > 0 && isReady(status)) return;
    await sleep(50);
  }
  throw new Error(`it was not ready after ${seconds} s.${tailOf(logFile)}`);
}

async function readStatus(response) {
  await response.arrayBuffer();
  return response.status;
}

function tailOf(file) {
  if (!file) return '';
  return `\n${readFileSync(file, 'utf8').trimEnd().split('\n').slice(-15).join('\n')}`;
}

/** A recently free port on loopback. */
export async function freePort() {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
