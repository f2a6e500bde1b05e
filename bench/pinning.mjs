/** Assigns processes to cores. */
import { spawnSync } from 'node:child_process';
import { allowedCores } from './proc.mjs';

/**
 * @typedef {object} Pinning
 * @property {boolean} on
 * @property {number[]} gateway cores of the process under test
 * @property {number[]} load
 * @property {number[]} upstream
 * @property {number[]} rest everything else of the product, and the conductor
 */

/**
 * The process under test has the first core (or cores) for itself. With two cores, load generator, upstream and the rest of the product
 * share the second.
 *
 * @returns {Pinning}
 */
export function pinningFor(gatewayProcesses, wanted = true) {
  const cores = allowedCores();
  const gateways = cores.slice(0, gatewayProcesses);
  const others = cores.slice(gatewayProcesses);
  if (!wanted || !hasTaskset() || others.length === 0)
    return { on: false, gateway: cores, load: cores, upstream: cores, rest: cores };
  const [load] = others;
  const upstream = others[1] ?? load;
  const rest = others.length > 2 ? others.slice(2) : others;
  return { on: true, gateway: gateways, load: [load], upstream: [upstream], rest };
}

function hasTaskset() {
  return process.platform === 'linux' && spawnSync('taskset', ['--version']).status === 0;
}

/** Moves a running process, with all its threads, to the given cores. Does nothing for a process that has ended. */
export function moveTo(cores, pid) {
  spawnSync('taskset', ['--all-tasks', '--pid', '--cpu-list', cores.join(','), String(pid)]);
}

/** Command and arguments that start a program on the given cores. */
export function onCores(pinning, cores, command) {
  return pinning.on ? ['taskset', '--cpu-list', cores.join(','), ...command] : command;
}
