import { Counter } from 'prom-client';
import type { Settings } from '../common/settings/settings.js';
import { type LogOutcome, startLogExport } from './log-export.js';

const lines = new Counter({
  name: 'gatehouse_otel_log_lines_total',
  help: 'Log lines for the OpenTelemetry collector: sent, dropped because too many waited, or failed.',
  labelNames: ['outcome'],
});

/** Starts `startLogExport`, and counts its lines in a metric. */
export function startCountedLogExport(settings: Pick<Settings, 'telemetry'>): void {
  startLogExport(settings, (outcome: LogOutcome, count) => lines.inc({ outcome }, count));
}
